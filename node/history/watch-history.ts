/** What watchers of keys asked for, and what they were told. */

import type { KeyContent } from "./history.ts";

/** A change as a watcher is told it. */
export interface WatchedChange {
  readonly kind: "put" | "delete" | "expire";
  readonly key: string;
  /** The key as it is now; after its end with its last value and the revision of the end. */
  readonly content: KeyContent;
  /** What it was before; null = it did not exist, undefined = that was not asked for. */
  readonly previous: KeyContent | null | undefined;
}

/** A message of a stream. */
export interface WatchMessage {
  readonly kind: "created" | "changes" | "progress";
  /** Everything up to this revision has been told. */
  readonly revision: number;
  readonly changes: readonly WatchedChange[];
  readonly atMs: number;
}

/** One stream, from the call to its end. */
export interface WatchedStream {
  /** The first revision that was asked for; 0 = what comes from now on. */
  readonly startRevision: number;
  readonly startMs: number;
  readonly messages: readonly WatchMessage[];
  /** If it was refused because what it asked for is not kept any more: the first revision that is. */
  readonly compactRevision?: number;
}

/** A watcher: streams one after the other, each of which goes on where the one before has ended. */
export interface Watching {
  readonly client: string;
  readonly prefix: string;
  readonly streams: readonly WatchedStream[];
}
