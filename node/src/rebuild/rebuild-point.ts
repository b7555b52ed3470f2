/** The point up to which a rebuild applies entries, and whether an entry lies beyond it. */

import type { RestorePoint } from "@quoin/backup";
import { entryIndex, entryWallMs } from "../raft/index.ts";

/** A point that a restore can name, or a log index. */
export type RebuildPoint = RestorePoint | { readonly kind: "index"; readonly index: number };

/**
 * Whether the entry lies beyond the point, so that the rebuild must not apply it. A time excludes the first entry with
 * a later wall clock; a revision includes the entry that made it.
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
