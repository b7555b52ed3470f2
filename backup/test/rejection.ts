/** The errors that promises are rejected with. */

import { BackupError, type BackupErrorCode } from "../src/format/index.ts";

/** The BackupError that a promise is rejected with. Raises an error if it is not rejected with one. */
export async function backupErrorOf(promise: Promise<unknown>): Promise<BackupError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof BackupError) {
      return error;
    }
    throw error;
  }
  throw new Error("nothing was refused");
}

export async function codeOf(promise: Promise<unknown>): Promise<BackupErrorCode> {
  return (await backupErrorOf(promise)).code;
}
