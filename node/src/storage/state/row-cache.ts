/**
 * A cache of rows that are read all the time: the caller's and the namespace's by nearly every request, those of a session
 * by each of its renewals.
 *
 * Reading a row from RocksDB costs tens of microseconds. The cache always equals the store, including absent rows: each
 * write replaces its rows in the cache in the same turn.
 */

import { latin1Of } from "../../bytes/index.ts";

export class RowCache {
  readonly #rowsMax: number;
  readonly #rows = new Map<string, Uint8Array | undefined>();

  /** @param rowsMax with more rows, the cache is cleared. */
  constructor(rowsMax: number) {
    this.#rowsMax = rowsMax;
  }

  /**
   * The row, from memory or from `read`.
   *
   * @param name `latin1Of(key)`, if the caller knows it
   */
  get(
    key: Uint8Array,
    read: (key: Uint8Array) => Uint8Array | undefined,
    name: string = latin1Of(key),
  ): Uint8Array | undefined {
    const known = this.#rows.get(name);
    if (known !== undefined || this.#rows.has(name)) {
      return known;
    }
    const value = read(key);
    if (this.#rows.size >= this.#rowsMax) {
      this.#rows.clear();
    }
    this.#rows.set(name, value);
    return value;
  }

  /** Replaces the row, if it is in the cache; null = it is deleted. */
  update(key: Uint8Array, value: Uint8Array | null, name: string = latin1Of(key)): void {
    if (this.#rows.has(name)) {
      // A copy, because the bytes of a change are a part of larger ones.
      this.#rows.set(name, value === null ? undefined : new Uint8Array(value));
    }
  }
}
