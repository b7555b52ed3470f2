/** Ends the benchmark before the disk is full: members refuse writes then, and every figure would be wrong. */

import { statfsSync } from "node:fs";
import { bytesBelow } from "../measuring/index.ts";

/** The benchmark cannot continue; the message gives the reason in one line. */
export class ScaleError extends Error {}

/** The space at a moment, in bytes. */
export interface Space {
  readonly used: number;
  readonly free: number;
}

const BYTES_PER_GIB = 1_024 ** 3;
/** Members refuse to grow below 1 GiB, and compactions need some space for a while. */
const RESERVED_BYTES = 3 * BYTES_PER_GIB;

export class DiskGuard {
  readonly #usedMax: number;
  readonly #spaceOf: () => Space;

  /** @param gibMax the most that the folder may take. */
  constructor(folder: string, gibMax: number, spaceOf: () => Space = () => readSpace(folder)) {
    this.#usedMax = gibMax * BYTES_PER_GIB;
    this.#spaceOf = spaceOf;
  }

  /** Raises a ScaleError unless there is space for so many more bytes, and for what members need besides. */
  requireSpace(moreBytes: number, next: string): void {
    const { used, free } = this.#spaceOf();
    if (used + moreBytes > this.#usedMax) {
      throw new ScaleError(
        `stopped before ${next}: it would take ${gib(used + moreBytes)} in all, and --disk-gib allows ${gib(this.#usedMax)}`,
      );
    }
    if (free - moreBytes < RESERVED_BYTES) {
      throw new ScaleError(
        `stopped before ${next}: the disk has ${gib(free)} left, and that needs ${gib(moreBytes + RESERVED_BYTES)}; ` +
          "set TMPDIR to a folder on a larger disk",
      );
    }
  }
}

function readSpace(folder: string): Space {
  const { bavail, bsize } = statfsSync(folder);
  return { used: bytesBelow(folder), free: bavail * bsize };
}

function gib(bytes: number): string {
  return `${(bytes / BYTES_PER_GIB).toFixed(1)} GiB`;
}
