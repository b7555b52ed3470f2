/**
 * A state store in memory, for specs: rows in a sorted array, with binary search.
 *
 * It keeps the contract of StateStore, including atomic batches and unsigned byte order. It has no disk: every `sync`
 * is complete at once, and the data is lost with the object.
 */

import { compareBytes } from "../src/bytes/index.ts";
import type { Change, KeyRange, Row, StateStore } from "../src/state/index.ts";

export class MemoryStateStore implements StateStore {
  #rows: Row[] = [];
  rowsRead = 0;

  get(key: Uint8Array): Uint8Array | undefined {
    const row = this.#rows[this.#position(key)];
    this.rowsRead++;
    return row !== undefined && compareBytes(row.key, key) === 0 ? row.value : undefined;
  }

  scan(from: Uint8Array, to: Uint8Array, visit: (row: Row) => boolean): void {
    for (let at = this.#position(from); at < this.#rows.length; at++) {
      const row = this.#rows[at] as Row;
      this.rowsRead++;
      if (compareBytes(row.key, to) >= 0 || !visit(row)) {
        return;
      }
    }
  }

  write(changes: readonly Change[], dropped: readonly KeyRange[] = []): void {
    for (const { key, value } of changes) {
      const at = this.#position(key);
      const present = this.#rows[at];
      const found = present !== undefined && compareBytes(present.key, key) === 0;
      if (value === null) {
        this.#rows.splice(at, found ? 1 : 0);
      } else {
        // Copies, like a store on disk: the caller may reuse its buffers. (`slice` of a Buffer is a view.)
        this.#rows.splice(at, found ? 1 : 0, { key: new Uint8Array(key), value: new Uint8Array(value) });
      }
    }
    for (const { from, to } of dropped) {
      const at = this.#position(from);
      this.#rows.splice(at, Math.max(0, this.#position(to) - at));
    }
  }

  sync(done: () => void): void {
    done();
  }

  /** All rows as they are now, ascending by key. */
  protected copy(): Row[] {
    return [...this.#rows];
  }

  /** Replaces the content with that of the other store. */
  protected become(other: MemoryStateStore): void {
    this.#rows = other.copy();
  }

  /** Index of the first row whose key is not below the given one. */
  #position(key: Uint8Array): number {
    let low = 0;
    let high = this.#rows.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareBytes((this.#rows[middle] as Row).key, key) < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
}
