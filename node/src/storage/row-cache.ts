/**
 * Rows that nearly every request reads, kept in memory: who asks, and the namespace that is meant.
 *
 * Reading a row from RocksDB costs microseconds, and a request reads these several times over: when it is
 * authenticated, when it is authorised, and again in apply. The cache holds exactly what the store holds, absence
 * included: whatever writes a row removes it from here in the same turn.
 */

import { latin1Of } from "../bytes/index.ts";

/** More users, keys and namespaces than are in use at a time; beyond, the cache starts anew. */
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

  /** The row is written or deleted. */
  forget(key: Uint8Array, name?: string): void {
    if (this.#rows.size > 0) {
      this.#rows.delete(name ?? latin1Of(key));
    }
  }
}
