/**
 * Small files that are replaced atomically: a reader finds the old content or the new one, also after a power cut.
 */

import { closeSync, fsyncSync, linkSync, openSync, renameSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { crashPoint } from "./crash-point.ts";

/** Only the owner may read and enter: the data directory holds signing keys and password hashes. */
export const FILE_MODE = 0o600;
export const DIRECTORY_MODE = 0o700;

/** Replaces the file: temporary file, fsync, rename, fsync of the directory. Returns when it is durable. */
export function replaceFile(path: string, content: string | Uint8Array): void {
  const temporary = `${path}.new`;
  writeDurably(temporary, content);
  crashPoint("file.rename.before");
  renameSync(temporary, path);
  crashPoint("file.rename.after");
  syncDirectory(dirname(path));
  crashPoint("file.directory-sync.after");
}

/**
 * Creates the file if it does not exist: temporary file of this process, fsync, link, fsync of the directory. Returns
 * when the file is durable. If several processes try at the same time, one of them creates it.
 */
export function createFile(path: string, content: string | Uint8Array): void {
  const temporary = `${path}.${process.pid}.new`;
  writeDurably(temporary, content);
  crashPoint("file.link.before");
  try {
    linkSync(temporary, path);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) {
      throw error;
    }
  }
  crashPoint("file.link.after");
  rmSync(temporary);
  syncDirectory(dirname(path));
}

/** Writes all bytes at this position of the open file, not durably yet. Blocks the calling thread. */
export function writeAll(file: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(file, bytes, done, bytes.length - done, position + done);
  }
}

function writeDurably(path: string, content: string | Uint8Array): void {
  crashPoint("file.write.before");
  const file = openSync(path, "w", FILE_MODE);
  try {
    // Unlike a single write, this continues after a partial write, or fails.
    writeFileSync(file, content);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
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
