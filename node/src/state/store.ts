/**
 * What the state machine needs of a store: an ordered map of byte strings, written in atomic batches.
 *
 * Reads are synchronous and see every batch written before. Keys order by unsigned bytes.
 */

/** One row. */
export interface Row {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** One change of a batch: the value to put, or null to delete the row. */
export interface Change {
  readonly key: Uint8Array;
  readonly value: Uint8Array | null;
}

export interface StateReader {
  /** The value of the row, or undefined. Callers may keep it and must not change it. */
  get(key: Uint8Array): Uint8Array | undefined;
  /** Calls `visit` for the rows with from ≤ key < to in ascending order until it returns false or none is left. */
  scan(from: Uint8Array, to: Uint8Array, visit: (row: Row) => boolean): void;
}

export interface StateStore extends StateReader {
  /** Writes all changes or none. Survives a crash of the process at once, a power cut once a later `sync` is done. */
  write(changes: readonly Change[]): void;
  /** Makes every earlier batch durable; no `write` may be called until `done` was. */
  sync(done: () => void): void;
}
