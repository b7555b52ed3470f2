/**
 * A state store that counts the deleted rows that scans step over. A store on disk keeps a mark of each deleted row for
 * a while. It needs about as long for a mark as for a row, so a scan over many marks stalls the event loop (S44).
 */

import { isWithin } from "../src/bytes/index.ts";
import type { Change, KeyRange, Row } from "../src/state/index.ts";
import { MemoryStateStore } from "./memory-state-store.ts";

export class StoreWithTombstones extends MemoryStateStore {
  /** Deleted rows that scans have stepped over so far. */
  steppedOver = 0;
  readonly #tables: string;
  readonly #tombstones = new Map<string, Uint8Array>();

  /** @param tables letters of the tables whose deleted rows count. */
  constructor(tables: string) {
    super();
    this.#tables = tables;
  }

  override scan(from: Uint8Array, to: Uint8Array, visit: (row: Row) => boolean): void {
    let end = to;
    super.scan(from, to, (row) => {
      const goesOn = visit(row);
      end = goesOn ? to : row.key;
      return goesOn;
    });
    for (const key of this.#tombstones.values()) {
      this.steppedOver += Number(isWithin(key, from, end));
    }
  }

  override write(changes: readonly Change[], dropped: readonly KeyRange[] = []): void {
    super.write(changes, dropped);
    for (const { key, value } of changes) {
      if (value !== null) {
        this.#tombstones.delete(key.toHex());
      } else if (this.#tables.includes(String.fromCharCode(key[0] ?? 0))) {
        this.#tombstones.set(key.toHex(), key);
      }
    }
  }
}
