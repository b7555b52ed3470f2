/** A place for objects: a directory or a bucket. */

import type { ByteStream } from "../format/index.ts";

export interface StoredObject {
  readonly name: string;
  /** In bytes, as stored. */
  readonly size: number;
  /** When it was put, by the clock of the store, in milliseconds since 1970. */
  readonly modifiedMs: number;
}

/** Bytes of an object from `start` up to, but not including, `end`; without `end`, to the end of the object. */
export interface ByteRange {
  readonly start: number;
  readonly end?: number | undefined;
}

/** Every method raises a StoreFailure; invalid names raise a BackupError (bad-argument). */
export interface BackupStore {
  /** The address, without secrets. */
  describe(): string;
  /**
   * Puts an object, replacing one with the same name. It is visible only when it is complete and durable. If the stream
   * raises an error, nothing is put, and the error is raised.
   */
  put(name: string, stream: ByteStream): Promise<void>;
  /** Opens an object. The stream raises later errors. */
  get(name: string, range?: ByteRange): Promise<ByteStream>;
  /**
   * All objects whose names begin with the prefix, in the order of their names. The prefix is empty or ends with a
   * slash.
   */
  list(prefix: string): AsyncIterable<StoredObject>;
  /** Deletes an object. A missing object is not an error. */
  delete(name: string): Promise<void>;
  /** Removes leftovers of crashed writers that are more than a day old. @returns how many it removed */
  sweep(nowMs: number): Promise<number>;
  /** Closes connections. */
  close(): Promise<void>;
}

/** Leftovers are removed after this time; until then, another writer may still be active. */
export const LEFTOVER_AGE_MS = 24 * 3_600_000;
