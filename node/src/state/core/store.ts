/**
 * What the state machine needs of a store: an ordered map of byte strings, written in atomic batches.
 *
 * Reads are synchronous and see every batch written before. Keys order by unsigned bytes.
 */

import type { Keyed } from "../../bytes/index.ts";

/** One row. */
export interface Row {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** One change of a batch: the value to put, or null to delete the row. */
export interface Change {
  readonly key: Uint8Array;
  readonly value: Uint8Array | null;
  /** `hashOf(key)`, if known: a store that finds rows by hash need not compute it again. */
  readonly hash?: number;
}

/** The keys with from ≤ key < to. */
export interface KeyRange {
  readonly from: Uint8Array;
  readonly to: Uint8Array;
}

export interface StateReader {
  /**
   * The value of the row, or undefined. Callers may keep it and must not change it.
   *
   * @param hash `hashOf(key)`, if the caller knows it
   */
  get(key: Uint8Array, hash?: number): Uint8Array | undefined;
  /**
   * Reads these rows together, because each is read on its own next: that takes less time. It changes no result. A
   * second call forgets the rows of the first. Absent = it makes no difference.
   */
  readAhead?(rows: readonly Keyed[]): void;
  /** Calls `visit` for the rows with from ≤ key < to in ascending order until it returns false or none is left. */
  scan(from: Uint8Array, to: Uint8Array, visit: (row: Row) => boolean): void;
}

export interface CountedReader extends StateReader {
  /**
   * What readers were given so far: each row counts as one, and as one more for each whole 4 KiB of its value. Rows in
   * memory do not count. Two values of the same turn tell what a read between them has cost.
   */
  readonly rowsRead: number;
}

export interface StateStore extends CountedReader {
  /**
   * Writes all changes or none, and then deletes all rows of the ranges, each range at once. After a crash the store
   * has the state after some batch, at least the last one that a `sync` has made durable. It may still have the rows of
   * ranges that this batch dropped.
   */
  write(changes: readonly Change[], dropped?: readonly KeyRange[]): void;
  /** Makes every earlier batch durable. The caller must not call `write` before `done` was called. */
  sync(done: () => void): void;
}
