/** What watchers requested, and what they got: changes of keys by default, or of locks. */

import type { KeyContent } from "./history.ts";
import type { LockMode } from "./lock-history.ts";

/** A change of a key as a watcher gets it. */
export interface WatchedChange {
  readonly kind: "put" | "delete" | "expire";
  readonly key: string;
  /** The key after the change; at its end, its last value with the revision of the end. */
  readonly content: KeyContent;
  /** The key before the change; null = it did not exist, undefined = the watcher did not request it. */
  readonly previous: KeyContent | null | undefined;
}

/** The beginning or the end of a hold as a watcher gets it. A change of mode is also a beginning. */
export interface WatchedLockChange {
  readonly kind: "acquired" | "released";
  /** The name in histories of locks. */
  readonly lock: string;
  readonly owner: string;
  readonly mode: LockMode;
  readonly token: number;
  readonly reason: "normal" | "expired" | "forced" | "downgraded" | "upgraded" | "updated";
  readonly revision: number;
}

/** A message of a stream. */
export interface WatchMessage<Change = WatchedChange> {
  readonly kind: "created" | "changes" | "progress";
  /** The stream has sent everything up to this revision. */
  readonly revision: number;
  readonly changes: readonly Change[];
  readonly atMs: number;
}

/** One stream, from the call to its end. */
export interface WatchedStream<Change = WatchedChange> {
  /** The first requested revision; 0 = only changes from now on. */
  readonly startRevision: number;
  readonly startMs: number;
  readonly messages: readonly WatchMessage<Change>[];
  /** The first revision that is still kept, if the stream was refused because its start is not. */
  readonly compactRevision?: number;
}

/** A watcher: one stream after the other, each resuming where the one before ended. */
export interface Watching<Change = WatchedChange> {
  readonly client: string;
  /** Prefix of the names that it watches. */
  readonly prefix: string;
  readonly streams: readonly WatchedStream<Change>[];
}
