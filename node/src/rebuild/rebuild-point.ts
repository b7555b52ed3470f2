/** How far a state is rebuilt, and whether an entry lies beyond it. */

import type { RestorePoint } from "@quoin/backup";
import { entryIndex, entryWallMs } from "../raft/index.ts";

/** A point that a restore can name, or an index of the log. */
export type RebuildPoint = RestorePoint | { readonly kind: "index"; readonly index: number };

/**
 * Whether the entry must not be applied any more. A time ends before the first entry with a later wall clock; a revision ends
 * behind the entry that made it.
 *
 * @param revision of the state before the entry
 */
export function isBeyond(point: RebuildPoint, row: Uint8Array, revision: number): boolean {
  switch (point.kind) {
    case "latest":
      return false;
    case "index":
      return entryIndex(row) > point.index;
    case "revision":
      return revision >= point.revision;
    case "time":
      return entryWallMs(row) > point.wallMs;
  }
}
