/** The two sides of a watch: what is watched, and who is told. */

import type { CoordinationError, WatchedChange } from "../state/index.ts";
import type { SharedChange } from "./shared-change.ts";

export interface WatchRequest {
  /** What kind of thing is watched. */
  readonly about: WatchedChange["about"];
  readonly namespace: string;
  /** What keys, or names of locks in UTF-8, begin with; empty = all of the namespace. */
  readonly prefix: Uint8Array;
  /** The first revision whose changes are told; 0 = the next one. */
  readonly startRevision: number;
  /** Milliseconds without a message after which progress is told. */
  readonly progressIntervalMs: number;
}

/**
 * A message of a watch. `created` comes first and once; `changes` has at least one, all of each revision that it
 * touches, in order; `progress` has none.
 */
export interface WatchMessage {
  readonly kind: "created" | "changes" | "progress";
  readonly changes: readonly SharedChange[];
  /** Everything that was asked for up to this revision has been told. */
  readonly revision: number;
}

export interface Subscriber {
  /** Takes the message; calls `taken` once it does not hold it in memory any more, which asks for the next one. */
  send(message: WatchMessage, taken: () => void): void;
  /** Raises the refusal, a CoordinationError, unless it may still be told what it watches. */
  recheck(): void;
  /** The watch is over for this reason; called at most once, and nothing is sent after it. */
  end(error: CoordinationError): void;
}
