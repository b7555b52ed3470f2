/** Errors of the file system. */

import type { Stats } from "node:fs";
import { stat } from "node:fs/promises";
import { UsageError } from "../errors/index.ts";

/** Whether the system refused work on a file. */
export function isOfFileSystem(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error;
}

/** Whether there is no such file. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
}

/** The state of a file; undefined = there is no such file. */
export async function statusOf(file: string): Promise<Stats | undefined> {
  try {
    return await stat(file);
  } catch (error) {
    if (isMissing(error)) {
      return undefined;
    }
    throw error;
  }
}

/** The error for a file that the user has named. */
export function unusable(file: string, use: "read" | "written", error: unknown): UsageError {
  return new UsageError(`${file} cannot be ${use}: ${error instanceof Error ? error.message : String(error)}`);
}
