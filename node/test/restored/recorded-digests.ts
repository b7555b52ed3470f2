/** Counts the digests of the cluster that an archive records, from the headers of its objects. */

import { type BackupStore, type ChainObjects, type DecryptOptions, openSegment } from "@quoin/backup";

/** A rebuild that ended, as far as the number of its comparisons depends on it. */
export interface RebuiltUpTo {
  readonly store: BackupStore;
  readonly objects: ChainObjects;
  readonly decryptOptions: DecryptOptions;
  /** The index of the last entry that the rebuild must apply. */
  readonly index: number;
}

/**
 * How many digests the rebuild must compare: that of the snapshot, and those of all segments that it applies
 * completely. A segment may record none.
 */
export async function countRecordedDigests({ store, objects, decryptOptions, index }: RebuiltUpTo): Promise<number> {
  let count = 1;
  for (const segment of objects.segments) {
    const { header, close } = await openSegment(store, segment, decryptOptions);
    await close();
    if (header.stateDigest !== undefined && header.lastIndex <= index) {
      count++;
    }
  }
  return count;
}
