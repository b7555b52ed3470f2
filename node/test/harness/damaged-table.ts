/** Flips bits under a store, and makes a store that RocksDB finds damaged by itself, in the background. */

import { closeSync, openSync, readdirSync, readSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Change } from "../../src/state/index.ts";
import { until } from "./until.ts";

/** The parts of a store that are needed to damage it. */
interface OpenStore {
  property(name: string): number | null;
  write(changes: readonly Change[], sync: boolean): void;
  close(): Promise<void>;
}

/**
 * Flips a bit in place, as a disk does: the file is neither truncated nor replaced, so processes that have it open see
 * the change.
 */
export function flipInPlace(path: string, bit: number): void {
  const file = openSync(path, "r+");
  try {
    const byte = Buffer.alloc(1);
    readSync(file, byte, 0, 1, bit >> 3);
    byte.writeUInt8(byte.readUInt8(0) ^ (1 << (bit & 7)));
    writeSync(file, byte, 0, 1, bit >> 3);
  } finally {
    closeSync(file);
  }
}

/** Paths of the tables of the store in this directory, the oldest first. */
export function tablesOf(directory: string): string[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith(".sst"))
    .sort()
    .map((name) => join(directory, name));
}

/**
 * Gives the closed store in this directory two large rows, under this key and the one right behind it, in a damaged
 * table of their own. The next opening makes a second table of them, merges the two in the background, and fails.
 */
export async function damageTable(directory: string, key: Uint8Array, open: () => Promise<OpenStore>): Promise<void> {
  for (let opening = 0; ; opening++) {
    const rocks = await open();
    await until("no merging", () => {
      return (
        rocks.property("rocksdb.compaction-pending") === 0 && rocks.property("rocksdb.num-running-compactions") === 0
      );
    });
    // Each opening writes the log to a table, and a second table makes RocksDB merge both.
    const isAlone = opening > 0 && rocks.property("rocksdb.num-files-at-level0") === 1;
    // RocksDB would move tables of a single key instead of merging them.
    const value = Buffer.alloc(64_000, opening);
    rocks.write(
      [key, Buffer.concat([key, Buffer.of(0)])].map((row) => ({ key: row, value })),
      true,
    );
    if (isAlone) {
      const table = tablesOf(directory).at(-1) as string;
      flipInPlace(table, statSync(table).size * 4);
    }
    await rocks.close();
    if (isAlone) {
      return;
    }
  }
}

/** Waits until RocksDB has failed in the background. */
export async function untilDamageIsFound(property: (name: string) => number | null): Promise<void> {
  await until("RocksDB to find the damage", () => (property("rocksdb.background-errors") ?? 0) > 0);
}
