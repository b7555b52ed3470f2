/**
 * Keeps the files of a store as they were before it was opened.
 *
 * When RocksDB opens a store, it truncates a damaged write-ahead log at the damage, treats files that a damaged
 * manifest does not name as garbage, and deletes the rest. So each start first links the files into a folder beside the
 * store. If the store is undamaged, the folder is deleted. If it has lost data, a person can still examine the folder.
 * Links need neither space nor copying.
 */

import { existsSync, linkSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DIRECTORY_MODE } from "./durable-file.ts";
import { damagedLogs } from "./wal-framing.ts";

/** Write-ahead logs, tables, manifests, and the file that names the manifest in use. */
const DATA_PATTERN = /\.log$|\.sst$|^MANIFEST-\d+$|^CURRENT$/;
const EVIDENCE_SUFFIX = "-before-recovery";

/** The folder for the kept files of the store in this directory. */
export function evidenceDirectory(store: string): string {
  return `${store}${EVIDENCE_SUFFIX}`;
}

/**
 * Keeps the files, unless an earlier failed start has left some: those are older evidence. Returns whether it kept
 * them.
 */
export function preserveEvidence(store: string): boolean {
  const evidence = evidenceDirectory(store);
  if (!existsSync(store) || existsSync(evidence)) {
    return false;
  }
  // All or nothing: a half-filled folder after a crash would look like evidence.
  const unfinished = `${evidence}.${process.pid}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { mode: DIRECTORY_MODE });
  for (const name of readdirSync(store).filter((file) => DATA_PATTERN.test(file))) {
    linkIfPresent(join(store, name), join(unfinished, name));
  }
  renameSync(unfinished, evidence);
  return true;
}

/** Descriptions of the damaged or truncated records in all kept logs and manifests of the data directory. */
export function damagedFiles(directory: string): string[] {
  const stores = readdirSync(directory).filter((name) => name.endsWith(EVIDENCE_SUFFIX));
  return stores.flatMap((evidence) => {
    return damagedLogs(join(directory, evidence)).map(
      (file) => `a record of ${join(evidence, file)} is damaged or cut off`,
    );
  });
}

/** Deletes the kept files, including leftovers of a start that crashed. */
export function dropEvidence(store: string): void {
  const parent = dirname(store);
  const evidence = basename(evidenceDirectory(store));
  for (const name of readdirSync(parent).filter((file) => file === evidence || file.startsWith(`${evidence}.`))) {
    rmSync(join(parent, name), { recursive: true, force: true });
  }
}

/** A process that has the store open may delete files at any moment. Opening the store then fails anyway. */
function linkIfPresent(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) {
      throw error;
    }
  }
}
