/** Classifies errors of the file system for a store. */

import { StoreFailure, type StoreFailureKind } from "./store-failure.ts";

const KINDS: Readonly<Record<string, StoreFailureKind>> = {
  EACCES: "denied",
  EPERM: "denied",
  EROFS: "denied",
  ENOENT: "not-found",
  ENOSPC: "full",
  EDQUOT: "full",
  EFBIG: "full",
  EHOSTDOWN: "unreachable",
  ENOTCONN: "unreachable",
  ESTALE: "unreachable",
  ETIMEDOUT: "unreachable",
};

/** Runs an action on the disk. Raises a StoreFailure for errors of the file system, and other errors unchanged. */
export async function guardDisk<T>(store: string, operation: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) {
      throw error;
    }
    const kind = KINDS[String(error.code)] ?? "other";
    throw new StoreFailure({ kind, store, operation, reason: error.message, cause: error });
  }
}
