/**
 * Files that must be complete or absent: written under another name, synced, and renamed at the end. An existing file
 * is never replaced.
 */

import { createWriteStream } from "node:fs";
import { link, open, rename, rm } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { CommandError, EXIT_CODES, UsageError } from "../errors/index.ts";
import { isOfFileSystem, statusOf } from "./file-error.ts";

/** Only the owner may read it. */
const PRIVATE_MODE = 0o600;

/** The errors of file systems without hard links. */
const NO_LINK_CODES: ReadonlySet<unknown> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

/** @throws UsageError if something exists under this name, or if its directory does not exist. */
export async function assertNewFile(file: string): Promise<void> {
  if (await exists(file)) {
    throw alreadyExists(file);
  }
  const directory = path.dirname(file);
  if (!(await exists(directory))) {
    throw new UsageError(`there is no directory ${directory}`, "create it, or name another");
  }
}

/**
 * Writes a new file, which only its owner can read.
 *
 * @throws UsageError if the file exists by then; CommandError if it cannot be written; or the error of the stream. In
 * all cases no file is left.
 */
export async function writeNewFile(file: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  // The name shows that it is incomplete, in case this process is killed.
  const draft = `${file}.${process.pid}.unfinished`;
  try {
    await pipeline(bytes, createWriteStream(draft, { flags: "wx", mode: PRIVATE_MODE, flush: true }));
    await placeDraft(draft, file);
    await syncDirectory(path.dirname(file));
  } catch (error) {
    throw isOfFileSystem(error) ? cannotWrite(file, error) : error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Unlike a rename, a link never replaces a file. */
async function placeDraft(draft: string, file: string): Promise<void> {
  try {
    await link(draft, file);
  } catch (error) {
    if (!isOfFileSystem(error)) {
      throw error;
    }
    if (error.code === "EEXIST" || (await exists(file))) {
      throw alreadyExists(file);
    }
    if (!NO_LINK_CODES.has(error.code)) {
      throw error;
    }
    await rename(draft, file);
  }
}

async function exists(file: string): Promise<boolean> {
  return (await statusOf(file)) !== undefined;
}

async function syncDirectory(directory: string): Promise<void> {
  await using handle = await open(directory, "r");
  await handle.sync();
}

function alreadyExists(file: string): UsageError {
  return new UsageError(`${file} exists already, and is not replaced`, "name another file, or remove it first");
}

function cannotWrite(file: string, error: NodeJS.ErrnoException): CommandError {
  const isFull = error.code === "ENOSPC" || error.code === "EDQUOT" || error.code === "EFBIG";
  const hint = isFull ? "free space there, or name another place" : "name another place, or see who may write there";
  return new CommandError(`${file} cannot be written: ${error.message}`, EXIT_CODES.refused, hint, { cause: error });
}
