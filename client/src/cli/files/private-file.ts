/**
 * Files with secrets. They are refused if other users of the machine could read them, and are written so that no other
 * user can: under another name at first, because a program that has opened the old file keeps its access to it.
 */

import { open, realpath, rename, rm } from "node:fs/promises";
import { UsageError } from "../errors/index.ts";
import { isMissing, statusOf, unusable } from "./file-error.ts";

/** Bits of a file mode that give the group or others any access. */
const OTHERS_MASK = 0o077;

/** Only the owner may read the file. */
const PRIVATE_FILE_MODE = 0o600;

/** Far more than any such file has. */
const BYTES_MAX = 1_024 * 1_024;

/** A file, and whether only its owner can use it. */
export interface PossiblyPrivateFile {
  readonly content: string;
  /** Whether only its owner can use it. Always true on systems without such modes. */
  readonly isPrivate: boolean;
}

/**
 * Reads a file together with its mode.
 *
 * @returns undefined if the file does not exist.
 * @throws UsageError if it cannot be read.
 */
export async function readPossiblyPrivateFile(file: string): Promise<PossiblyPrivateFile | undefined> {
  try {
    await using handle = await open(file, "r");
    const { mode, size } = await handle.stat();
    if (size > BYTES_MAX) {
      throw new UsageError(`${file} is too large`);
    }
    return {
      content: await handle.readFile("utf8"),
      isPrivate: process.platform === "win32" || (mode & OTHERS_MASK) === 0,
    };
  } catch (error) {
    if (error instanceof UsageError) {
      throw error;
    }
    if (isMissing(error)) {
      return undefined;
    }
    throw unusable(file, "read", error);
  }
}

/**
 * Writes a file, or replaces it, so that only its owner can use it. A crash leaves the old content or the new one.
 *
 * @param file not a link: the file takes its place.
 * @param beforeReplacing may throw, and then the old file stays.
 * @throws Error of the file system.
 */
export async function replacePrivateFile(
  file: string,
  content: string,
  beforeReplacing: () => Promise<void> = async () => undefined,
): Promise<void> {
  const draft = `${file}.${process.pid}.new`;
  try {
    // From a killed process that had the same number.
    await rm(draft, { force: true });
    const handle = await open(draft, "wx", PRIVATE_FILE_MODE);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await beforeReplacing();
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/**
 * Writes a file that the user names, like `replacePrivateFile`. A link stays, and leads to the new content. A pipe or a
 * device gets the content as it is.
 *
 * @throws UsageError if it cannot be written.
 */
export async function writePrivateFile(file: string, content: string): Promise<void> {
  try {
    const status = await statusOf(file);
    if (status === undefined || status.isFile()) {
      await replacePrivateFile(status === undefined ? file : await realpath(file), content);
      return;
    }
    await using handle = await open(file, "w");
    await handle.writeFile(content);
  } catch (error) {
    throw unusable(file, "written", error);
  }
}

/** The error for a secret that others can read. */
export function notPrivate(file: string): UsageError {
  return new UsageError(`${file} holds secrets, and other users may use it`, `chmod 600 ${file}`);
}
