/**
 * What is wrong with a backup, or with the wish for one. The message names the object where it is known, and says what to do
 * next. It never holds a key, nor anything that is stored in the cluster.
 *
 * Failures of the store itself are another class, StoreFailure: they say nothing about the backup.
 */

export type BackupErrorCode =
  /** The bytes are no backup at all, or a backup of another kind. */
  | "not-a-backup"
  /** A newer release wrote it. */
  | "newer-format"
  /** A byte is not what was written, or the bytes never were a valid object. */
  | "damaged"
  /** The end is missing. */
  | "cut-off"
  /** Bytes follow the end. */
  | "trailing-bytes"
  /** Rows or entries are not in their order. */
  | "out-of-order"
  /** Entries, or a whole object, are missing between two others. */
  | "gap"
  /** The trailer counts other rows, entries or bytes than there are. */
  | "wrong-counts"
  /** The object is encrypted, and no key was given. */
  | "key-missing"
  /** The object is encrypted with a key that was not given. */
  | "key-unknown"
  /** The key has the right id, but other bytes. */
  | "key-wrong"
  /** The object is not encrypted, but has to be. */
  | "not-sealed"
  /** The file with keys, or a key, cannot be used. */
  | "bad-key"
  /** The object belongs to another cluster than its place says. */
  | "foreign-cluster"
  /** The object is not the one that its name says. */
  | "misplaced"
  /** The object does not follow the one before it in the chain. */
  | "broken-chain"
  /** The store has no backup, or no such one. */
  | "no-backup"
  /** No chain reaches the point that was asked for. */
  | "no-such-point"
  /** The only whole chain must not be deleted. */
  | "last-chain"
  /** An argument is not valid. */
  | "bad-argument";

export class BackupError extends Error {
  override readonly name = "BackupError";
  readonly code: BackupErrorCode;
  /** What is wrong, without the object. */
  readonly problem: string;
  /** The object that it is about; undefined if it is about none, or the reader was not given its name. */
  readonly object: string | undefined;

  constructor(code: BackupErrorCode, problem: string, options: ErrorOptions & { readonly object?: string } = {}) {
    super(options.object === undefined ? problem : `${options.object}: ${problem}`, options);
    this.code = code;
    this.problem = problem;
    this.object = options.object;
  }

  /** The same error about a named object; itself if it already names one. */
  of(object: string | undefined): BackupError {
    if (this.object !== undefined || object === undefined) {
      return this;
    }
    return new BackupError(this.code, this.problem, { object, cause: this });
  }
}

/** @returns the error, which names the object if it is a BackupError that names none */
export function namedError(error: unknown, object: string | undefined): unknown {
  return error instanceof BackupError ? error.of(object) : error;
}
