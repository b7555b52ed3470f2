/**
 * A problem with a backup, or with a request for one. The message names the object if it is known, and the next step.
 * It never contains a key, nor any data of the cluster.
 *
 * Failures of the store itself are another class, StoreFailure: they say nothing about the backup.
 */

export type BackupErrorCode =
  /** The bytes are not a backup, or a backup of another kind. */
  | "not-a-backup"
  /** A newer release wrote it. */
  | "newer-format"
  /** A byte was changed, or the bytes never were a valid object. */
  | "damaged"
  /** The end is missing. */
  | "cut-off"
  /** Bytes follow the end. */
  | "trailing-bytes"
  /** Rows or entries are out of order. */
  | "out-of-order"
  /** Entries, or a whole object, are missing between two others. */
  | "gap"
  /** The trailer has other counts of rows, entries or bytes. */
  | "wrong-counts"
  /** The object is encrypted, and no key was given. */
  | "key-missing"
  /** The object is encrypted with a key that was not given. */
  | "key-unknown"
  /** The key has the right id, but other bytes. */
  | "key-wrong"
  /** The object is not encrypted, but must be. */
  | "not-sealed"
  /** The key file, or a key, is not usable. */
  | "bad-key"
  /** The object belongs to another cluster than its name. */
  | "foreign-cluster"
  /** The object is not the one that its name identifies. */
  | "misplaced"
  /** The object does not follow the one before it in the chain. */
  | "broken-chain"
  /** The store has no backup, or not the named one. */
  | "no-backup"
  /** No chain reaches the requested point. */
  | "no-such-point"
  /** The only whole chain must not be deleted. */
  | "last-chain"
  /** An argument is not valid. */
  | "bad-argument"
  /** This Node lacks a feature that reading or writing needs. It says nothing about the backup. */
  | "unsupported-node";

export class BackupError extends Error {
  override readonly name = "BackupError";
  readonly code: BackupErrorCode;
  /** The problem, without the object. */
  readonly problem: string;
  /** The object with the problem; undefined if there is none, or the reader does not know its name. */
  readonly object: string | undefined;

  constructor(code: BackupErrorCode, problem: string, options: ErrorOptions & { readonly object?: string } = {}) {
    super(options.object === undefined ? problem : `${options.object}: ${problem}`, options);
    this.code = code;
    this.problem = problem;
    this.object = options.object;
  }

  /** The same error with the name of an object; unchanged if it already has one, or is not about an object. */
  of(object: string | undefined): BackupError {
    if (this.object !== undefined || object === undefined || this.code === "unsupported-node") {
      return this;
    }
    return new BackupError(this.code, this.problem, { object, cause: this });
  }
}

/** @returns the error, with the name of the object if it is a BackupError without one */
export function namedError(error: unknown, object: string | undefined): unknown {
  return error instanceof BackupError ? error.of(object) : error;
}
