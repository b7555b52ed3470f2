/**
 * A cache of rows that nearly every request reads: the caller's and the namespace's.
 *
 * Reading a row from RocksDB costs microseconds, and a request reads these rows several times: when it is
 * authenticated, when it is authorised, and again in apply. The cache always equals the store, including absent rows:
 * each write removes its rows from the cache in the same turn.
 */

import { latin1Of } from "../../bytes/index.ts";

/** More users, keys and namespaces than are usually in use. When it is full, the cache is cleared. */
const ROWS_MAX = 10_000;

export class RowCache {
  readonly #rows = new Map<string, Uint8Array | undefined>();

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
    if (this.#rows.size >= ROWS_MAX) {
      this.#rows.clear();
    }
    this.#rows.set(name, value);
    return value;
  }

  /** Removes the row from the cache, because it is written or deleted. */
  forget(key: Uint8Array, name?: string): void {
    if (this.#rows.size > 0) {
      this.#rows.delete(name ?? latin1Of(key));
    }
  }
}
