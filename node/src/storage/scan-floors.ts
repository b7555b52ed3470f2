/**
 * Where the first row of each table lies, so that a scan of a table's beginning need not go over what was deleted there.
 *
 * Some tables are queues: rows are added at the end and removed at the front, by time. In RocksDB a removed row stays as
 * a tombstone until it is compacted away, and a scan from the front of the table has to step over every one: hundreds of
 * milliseconds after a million of them, in the event loop. So the first row that such a scan finds is remembered, and
 * the next one begins there; a row that is written before it moves the mark back. What a scan sees does not change.
 */

import { compareBytes } from "../bytes/index.ts";
import type { Change, KeyRange, Row } from "../state/index.ts";

type Scan = (from: Uint8Array, to: Uint8Array, visit: (row: Row) => boolean) => void;

export class ScanFloors {
  /** By the table's letter: no row of the table lies before this key. */
  readonly #floors = new Map<number, Uint8Array>();

  /**
   * Scans with `scan`, from the first row on if the scan is of one table and `from` is its beginning, its letter alone.
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

  /** The ranges, ascending, that hold all rows with from ≤ key < to: what is left without the known gaps. */
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

  /** The changes are being written. */
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
