/** The disk: how long it takes to make a small write durable, and how much of it a folder occupies. */

import { closeSync, fdatasyncSync, lstatSync, openSync, readdirSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { percentile } from "./percentile.ts";

const ROUNDS = 200;
const BLOCK = new Uint8Array(4096);
/** The unit of the blocks of a file, whatever the file system. */
const BYTES_PER_BLOCK = 512;

/** Median time of a 4 KiB append with fdatasync in the directory, in milliseconds: the lower bound of latencies. */
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

/** Bytes of the disk that a file, or a folder with everything in it, occupies; 0 for what is not there any more. */
export function bytesBelow(path: string): number {
  try {
    const stat = lstatSync(path);
    const entries = stat.isDirectory() ? readdirSync(path) : [];
    return entries.reduce((sum, name) => sum + bytesBelow(join(path, name)), stat.blocks * BYTES_PER_BLOCK);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") {
      return 0;
    }
    throw error;
  }
}
