/** How long this disk takes to make a small write durable: the lower bound of every reported latency. */

import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { percentile } from "./percentile.ts";

const ROUNDS = 200;
const BLOCK = new Uint8Array(4096);

/** Median time of a 4 KiB append with fdatasync in the directory, in milliseconds. */
export function syncMsMedian(directory: string): number {
  const path = join(directory, "sync-probe");
  const file = openSync(path, "w");
  const times = new Float64Array(ROUNDS);
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const startedMs = performance.now();
      writeSync(file, BLOCK);
      fdatasyncSync(file);
      times[round] = performance.now() - startedMs;
    }
  } finally {
    closeSync(file);
    rmSync(path);
  }
  return percentile(times.sort(), 50);
}
