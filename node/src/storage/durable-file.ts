/**
 * Small files that are replaced whole: a reader finds the old content or the new, also after a power cut.
 */

import { closeSync, fsyncSync, openSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { crashPoint } from "./crash-point.ts";

/** Only the owner may read: the data directory holds signing keys. */
const FILE_MODE = 0o600;

/** Replaces the file: temporary file, fsync, rename, fsync of the directory. Returns when it is durable. */
export function replaceFile(path: string, content: string | Uint8Array): void {
  const temporary = `${path}.new`;
  crashPoint("file.write.before");
  const file = openSync(temporary, "w", FILE_MODE);
  try {
    writeSync(file, typeof content === "string" ? Buffer.from(content) : content);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  crashPoint("file.rename.before");
  renameSync(temporary, path);
  crashPoint("file.rename.after");
  syncDirectory(dirname(path));
  crashPoint("file.directory-sync.after");
}

/** Makes the entries of a directory durable. */
export function syncDirectory(path: string): void {
  const directory = openSync(path, "r");
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
