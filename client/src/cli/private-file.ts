/** Files with secrets. They are refused if other users of the machine could read them. */

import { open } from "node:fs/promises";
import { UsageError } from "./usage-error.ts";

/** Bits of a file mode that give the group or others any access. */
const othersMask = 0o077;

/** Far more than any such file has. */
const maxBytes = 1_024 * 1_024;

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
    if (size > maxBytes) throw new UsageError(`${file} is too large`);
    return {
      content: await handle.readFile("utf8"),
      isPrivate: process.platform === "win32" || (mode & othersMask) === 0,
    };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if (isMissing(error)) return undefined;
    throw new UsageError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The error for a secret that others can read. */
export function notPrivate(file: string): UsageError {
  return new UsageError(`${file} holds secrets, and other users may use it`, `chmod 600 ${file}`);
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
}
