/**
 * A cache of rows that are read all the time: the caller's and the namespace's by nearly every request, those of a session
 * by each of its renewals.
 *
 * Reading a row from RocksDB costs tens of microseconds. The cache always equals the store, including absent rows: each
 * write replaces its rows in the cache in the same turn.
 */

import { ByteTable, hashOf, type Keyed } from "../../bytes/index.ts";

export interface CachedRow extends Keyed {
  /** Undefined = there is no such row. */
  readonly value: Uint8Array | undefined;
}

export class RowCache {
  readonly #rowsMax: number;
  readonly #rows = new ByteTable<CachedRow>();

  /** @param rowsMax with more rows, the cache is cleared. */
  constructor(rowsMax: number) {
    this.#rowsMax = rowsMax;
  }

  /**
   * The row, from memory or from `read`.
   *
   * @param hash `hashOf(key)`, if the caller knows it
   */
  get(
    key: Uint8Array,
    read: (key: Uint8Array) => Uint8Array | undefined,
    hash: number = hashOf(key),
  ): Uint8Array | undefined {
    const known = this.#rows.get(key, hash);
    if (known !== undefined) {
      return known.value;
    }
    const value = read(key);
    if (this.#rows.size >= this.#rowsMax) {
      this.#rows.take();
    }
    // A copy of the key: it may be a part of a larger array, which would stay in memory.
    this.#rows.set({ key: new Uint8Array(key), hash, value });
    return value;
  }

  /** Replaces the row, if it is in the cache; null = it is deleted. */
  update(key: Uint8Array, value: Uint8Array | null, hash: number = hashOf(key)): void {
    const known = this.#rows.get(key, hash);
    if (known !== undefined) {
      // A copy, because the bytes of a change are a part of larger ones.
      this.#rows.set({ key: known.key, hash, value: value === null ? undefined : new Uint8Array(value) });
    }
  }
}
