/**
 * An exclusive lock of a directory, among all processes. It is a RocksDB store without rows, because the operating system
 * releases such a lock when the process ends, however it ends.
 */

import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { StoreError } from "../files/index.ts";
import { Rocks } from "./rocks.ts";

const OPTIONS = { createIfMissing: true, memtableBytes: 1024 * 1024, cacheBytes: 1024 * 1024 };
/** The file that processes lock. */
const LOCK_FILE = "LOCK";

/**
 * Takes the lock in this directory, which it creates if it is missing; closing the store releases it. Damage to the
 * store does not matter, because it has no rows. Raises a StoreError, of kind "locked" if another process has the lock.
 */
export async function takeLock(directory: string): Promise<Rocks> {
  try {
    return await Rocks.open(directory, OPTIONS);
  } catch (error) {
    const isDamaged = error instanceof StoreError && (error.kind === "corruption" || error.kind === "missing");
    if (!isDamaged || !existsSync(directory)) {
      throw error;
    }
    // The file that is locked stays: another process may do the same at this moment.
    for (const name of readdirSync(directory).filter((file) => file !== LOCK_FILE)) {
      rmSync(join(directory, name), { recursive: true, force: true });
    }
    return Rocks.open(directory, OPTIONS);
  }
}
