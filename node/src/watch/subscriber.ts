/** The two sides of a watch: the request and the subscriber. */

import type { CoordinationError, Principal, WatchedChange } from "../state/index.ts";
import type { SharedChange } from "./shared-change.ts";

export interface WatchRequest {
  /** The kind of the watched objects. */
  readonly about: WatchedChange["about"];
  readonly namespace: string;
  /** The prefix of keys, or of lock names in UTF-8; empty = all of the namespace. */
  readonly prefix: Uint8Array;
  /** Whether the name must be equal to the prefix; absent = false. */
  readonly isExact?: boolean;
  /** The first revision to send; 0 = the next one. */
  readonly startRevision: number;
  /** Who opens it. */
  readonly principal: Principal;
  /** Milliseconds without a message after which the hub sends progress. */
  readonly progressIntervalMs: number;
}

/**
 * A message of a watch. `created` comes first, once. `changes` has at least one change, in order, and `part` too, but it
 * ends within a revision, whose other changes come next. `progress` has none.
 */
export interface WatchMessage {
  readonly kind: "created" | "changes" | "part" | "progress";
  readonly changes: readonly SharedChange[];
  /** The hub has sent all requested changes up to this revision. */
  readonly revision: number;
}

export interface Subscriber {
  /** Takes the message. Calls `taken` when the message is no longer in memory; this requests the next one. */
  send(message: WatchMessage, taken: () => void): void;
  /** Raises the refusal, a CoordinationError, if the subscriber may no longer see what it watches. */
  recheck(): void;
  /** The watch has ended for this reason. Called at most once, and nothing is sent afterwards. */
  end(error: CoordinationError): void;
}
