/** A place for objects: a directory or a bucket. */

import type { ByteStream } from "../format/index.ts";

export interface StoredObject {
  readonly name: string;
  /** In bytes, as stored. */
  readonly size: number;
  /** When it was put there, by the clock of the store, in milliseconds since 1970. */
  readonly modifiedMs: number;
}

/** Bytes of an object from `start` up to, but without, `end`; to its end without it. */
export interface ByteRange {
  readonly start: number;
  readonly end?: number | undefined;
}

/** Every method raises a StoreFailure; names that are not allowed raise a BackupError (bad-argument). */
export interface BackupStore {
  /** The address, without secrets. */
  describe(): string;
  /**
   * Puts an object there, in place of one with the same name. It is visible only when all of it is there and durable. If the
   * stream raises an error, nothing is put, and the error is raised.
   */
  put(name: string, stream: ByteStream): Promise<void>;
  /** Opens an object. Errors that come later are raised by the stream. */
  get(name: string, range?: ByteRange): Promise<ByteStream>;
  /** All objects whose names begin with the prefix, which is empty or ends with a slash; in the order of their names. */
  list(prefix: string): AsyncIterable<StoredObject>;
  /** Deletes an object. It is no error if it does not exist. */
  delete(name: string): Promise<void>;
  /** Removes what crashed writers left behind more than a day ago. @returns how many leftovers it removed */
  sweep(nowMs: number): Promise<number>;
  /** Ends connections. */
  close(): Promise<void>;
}

/** What a crashed writer has left is removed after this time; until then, another writer may be at work. */
export const LEFTOVER_AGE_MS = 24 * 3_600_000;
