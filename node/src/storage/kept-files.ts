/**
 * The files of a store as they were before it was opened.
 *
 * RocksDB cuts a damaged write-ahead log off at the damage when it opens it, takes what is behind a damaged manifest
 * for rubbish, and deletes the rest. So each start first links the files into a folder beside the store. If the store
 * turns out to be whole the folder goes; if it has lost data, the folder is what a person can still look at. Links cost
 * no space and no copying.
 */

import { existsSync, linkSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { damagedLogs } from "./wal-framing.ts";

/** Write-ahead logs, tables, manifests, and the file that names the manifest in use. */
const DATA_PATTERN = /\.log$|\.sst$|^MANIFEST-\d+$|^CURRENT$/;
const DIRECTORY_MODE = 0o700;
const KEPT_SUFFIX = "-before-recovery";

/** Where the files of the store in this directory are kept. */
export function keptDirectory(store: string): string {
  return `${store}${KEPT_SUFFIX}`;
}

/**
 * Keeps the files, unless an earlier start that failed has left some: those are the older evidence. Returns whether it
 * kept them.
 */
export function keepFiles(store: string): boolean {
  const kept = keptDirectory(store);
  if (!existsSync(store) || existsSync(kept)) {
    return false;
  }
  // All or nothing: a folder that a crash left half-filled would pass for evidence.
  const unfinished = `${kept}.${process.pid}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { mode: DIRECTORY_MODE });
  for (const name of readdirSync(store).filter((file) => DATA_PATTERN.test(file))) {
    linkIfPresent(join(store, name), join(unfinished, name));
  }
  renameSync(unfinished, kept);
  return true;
}

/** Which logs and manifests that were kept of the stores in the data directory hold a record that is damaged or cut off, in words. */
export function damagedFiles(directory: string): string[] {
  const stores = readdirSync(directory).filter((name) => name.endsWith(KEPT_SUFFIX));
  return stores.flatMap((kept) => {
    return damagedLogs(join(directory, kept)).map((file) => `a record of ${join(kept, file)} is damaged or cut off`);
  });
}

/** Nothing has to be kept, also not what a start that was cut short has left. */
export function dropKeptFiles(store: string): void {
  const parent = dirname(store);
  const kept = basename(keptDirectory(store));
  for (const name of readdirSync(parent).filter((file) => file === kept || file.startsWith(`${kept}.`))) {
    rmSync(join(parent, name), { recursive: true, force: true });
  }
}

/** A process that has the store open may delete files at any moment; then opening it fails for another reason. */
function linkIfPresent(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) {
      throw error;
    }
  }
}
