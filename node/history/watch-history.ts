/** What watchers asked for, and what they were told: of keys if nothing else is said, or of locks. */

import type { KeyContent } from "./history.ts";
import type { LockMode } from "./lock-history.ts";

/** A change of a key as a watcher is told it. */
export interface WatchedChange {
  readonly kind: "put" | "delete" | "expire";
  readonly key: string;
  /** The key as it is now; after its end with its last value and the revision of the end. */
  readonly content: KeyContent;
  /** What it was before; null = it did not exist, undefined = that was not asked for. */
  readonly previous: KeyContent | null | undefined;
}

/** The beginning or the end of a hold as a watcher is told it; also its beginning in another mode than before. */
export interface WatchedLockChange {
  readonly kind: "acquired" | "released";
  /** As histories of locks name it. */
  readonly lock: string;
  readonly owner: string;
  readonly mode: LockMode;
  readonly token: number;
  readonly reason: "normal" | "expired" | "forced" | "downgraded" | "upgraded";
  readonly revision: number;
}

/** A message of a stream. */
export interface WatchMessage<Change = WatchedChange> {
  readonly kind: "created" | "changes" | "progress";
  /** Everything up to this revision has been told. */
  readonly revision: number;
  readonly changes: readonly Change[];
  readonly atMs: number;
}

/** One stream, from the call to its end. */
export interface WatchedStream<Change = WatchedChange> {
  /** The first revision that was asked for; 0 = what comes from now on. */
  readonly startRevision: number;
  readonly startMs: number;
  readonly messages: readonly WatchMessage<Change>[];
  /** If it was refused because what it asked for is not kept any more: the first revision that is. */
  readonly compactRevision?: number;
}

/** A watcher: streams one after the other, each of which goes on where the one before has ended. */
export interface Watching<Change = WatchedChange> {
  readonly client: string;
  /** Of the names that it watches. */
  readonly prefix: string;
  readonly streams: readonly WatchedStream<Change>[];
}
