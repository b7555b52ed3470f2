/**
 * The write-ahead logs of a store as they were before it was opened.
 *
 * RocksDB cuts a damaged write-ahead log off at the damage when it opens it, and deletes the rest. So each start first
 * links the files into a folder beside the store. If the store turns out to be whole the folder goes; if it has lost
 * data, the folder is what a person can still look at. Links cost no space and no copying.
 */

import { existsSync, linkSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

const WAL_PATTERN = /\.log$/;
const DIRECTORY_MODE = 0o700;

/** Where the files of the store in this directory are kept. */
export function keptDirectory(store: string): string {
  return `${store}-before-recovery`;
}

/** Keeps the write-ahead logs, unless an earlier start that failed has left some: those are the older evidence. */
export function keepFiles(store: string): void {
  const kept = keptDirectory(store);
  if (!existsSync(store) || existsSync(kept)) {
    return;
  }
  mkdirSync(kept, { mode: DIRECTORY_MODE });
  for (const name of readdirSync(store).filter((file) => WAL_PATTERN.test(file))) {
    linkSync(join(store, name), join(kept, name));
  }
}

/** The store was found whole: nothing has to be kept. */
export function dropKeptFiles(store: string): void {
  rmSync(keptDirectory(store), { recursive: true, force: true });
}
