/** Whether two runs of a seed were the same: nothing but the seed may decide what happens in one. */

import { CHECKPOINT_LINES } from "./trace.ts";

/** What two runs are compared by. */
export interface Hashes {
  readonly traceHash: string;
  /** The hash after every so many lines of the trace. */
  readonly checkpoints: readonly string[];
}

/** Where they part, in words; null if they are the same. */
export function partingOf(one: Hashes, other: Hashes): string | null {
  if (one.traceHash === other.traceHash) {
    return null;
  }
  const parted = one.checkpoints.findIndex((hash, at) => hash !== other.checkpoints[at]);
  const same = parted === -1 ? one.checkpoints.length : parted;
  return `trace ${one.traceHash}, then ${other.traceHash}: they part after line ${same * CHECKPOINT_LINES}`;
}
