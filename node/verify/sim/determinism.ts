/** Whether two runs of a seed were the same: only the seed may decide what happens in a run. */

import { CHECKPOINT_LINES } from "./trace.ts";

/** The hashes by which two runs are compared. */
export interface Hashes {
  readonly traceHash: string;
  /** The hash after every `CHECKPOINT_LINES` lines of the trace. */
  readonly checkpoints: readonly string[];
}

/** Where they differ first, in words; null if they are the same. */
export function firstDifferenceOf(one: Hashes, other: Hashes): string | null {
  if (one.traceHash === other.traceHash) {
    return null;
  }
  const parted = one.checkpoints.findIndex((hash, at) => hash !== other.checkpoints[at]);
  const same = parted === -1 ? one.checkpoints.length : parted;
  return `trace ${one.traceHash}, then ${other.traceHash}: they part after line ${same * CHECKPOINT_LINES}`;
}
