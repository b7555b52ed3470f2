/**
 * Remembers the first row of each table, so that a scan from the beginning of a table need not step over deleted rows.
 *
 * Some tables are queues: rows are added at the end and removed at the front, by time. In RocksDB a removed row stays
 * as a tombstone until compaction, and a scan from the front of the table has to step over every one. After a million
 * of them that takes hundreds of milliseconds in the event loop. So this class remembers the first row that such a scan
 * finds, and the next scan begins there. A row that is written before it moves the mark back. The result of a scan does
 * not change.
 */

import { compareBytes } from "../bytes/index.ts";
import type { Change, KeyRange, Row } from "../state/index.ts";

type Scan = (from: Uint8Array, to: Uint8Array, visit: (row: Row) => boolean) => void;

export class ScanFloors {
  /** By the table's letter: no row of the table lies before this key. */
  readonly #floors = new Map<number, Uint8Array>();

  /**
   * Scans with `scan`. Skips to the first row if the range is within one table and `from` is only the table's letter.
   */
  scan(scan: Scan, from: Uint8Array, to: Uint8Array, visit: (row: Row) => boolean): void {
    const table = from[0];
    if (from.length !== 1 || table === undefined || compareBytes(to, Uint8Array.of(table + 1)) > 0) {
      scan(from, to, visit);
      return;
    }
    const floor = this.#floors.get(table) ?? from;
    if (compareBytes(floor, to) >= 0) {
      return;
    }
    let isEmpty = true;
    scan(floor, to, (row) => {
      if (isEmpty) {
        isEmpty = false;
        this.#floors.set(table, row.key);
      }
      return visit(row);
    });
    if (isEmpty) {
      this.#floors.set(table, to);
    }
  }

  /** Ascending ranges that contain all rows with from ≤ key < to, without the known gaps. */
  rangesWithin(from: Uint8Array, to: Uint8Array): KeyRange[] {
    const ranges: KeyRange[] = [];
    let start = from;
    for (const [table, floor] of [...this.#floors].sort(([a], [b]) => a - b)) {
      const gapStart = Uint8Array.of(table);
      if (compareBytes(gapStart, start) >= 0 && compareBytes(floor, to) <= 0) {
        ranges.push({ from: start, to: gapStart });
        start = floor;
      }
    }
    ranges.push({ from: start, to });
    return ranges.filter((range) => compareBytes(range.from, range.to) < 0);
  }

  /** To be called when the changes are written: moves marks back. */
  onWrite(changes: readonly Change[]): void {
    if (this.#floors.size === 0) {
      return;
    }
    for (let at = 0; at < changes.length; at++) {
      const { key, value } = changes[at] as Change;
      const floor = this.#floors.get(key[0] ?? 0);
      if (value !== null && floor !== undefined && compareBytes(key, floor) < 0) {
        this.#floors.set(key[0] ?? 0, key);
      }
    }
  }
}
