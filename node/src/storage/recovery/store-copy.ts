/**
 * Copies a closed store, sharing its tables with the original. RocksDB never changes a written table, so a hard link is
 * as good as a copy, and needs neither time nor space. The other files are small and are copied.
 */

import { closeSync, constants, copyFileSync, fsyncSync, linkSync, mkdirSync, openSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DIRECTORY_MODE, syncDirectory } from "../files/index.ts";

const TABLE = /\.sst$/;
/**
 * Tables, write-ahead logs, manifests, and the file that names the manifest. Other files matter only to a running
 * process.
 */
const COPIED = /\.sst$|\.log$|^MANIFEST-\d+$|^CURRENT$/;
/** Errors of a file system without hard links, or without links between these two places. */
const NO_LINK: ReadonlySet<unknown> = new Set(["EXDEV", "EPERM", "EMLINK", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

/**
 * Creates the directory `to` with the same rows as the closed store in `from`. Durable on return. Raises what the file
 * system raises.
 */
export function copyStore(from: string, to: string): void {
  mkdirSync(to, { mode: DIRECTORY_MODE });
  for (const name of readdirSync(from).filter((file) => COPIED.test(file))) {
    if (!TABLE.test(name) || !isLinked(join(from, name), join(to, name))) {
      copyFileSync(join(from, name), join(to, name), constants.COPYFILE_FICLONE);
      syncFile(join(to, name));
    }
  }
  syncDirectory(to);
}

function isLinked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && NO_LINK.has(error.code)) {
      return false;
    }
    throw error;
  }
}

function syncFile(path: string): void {
  const file = openSync(path, "r+");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
