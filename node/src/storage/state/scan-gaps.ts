/**
 * Remembers ranges without rows that took long to scan, so that the next scan leaves them out.
 *
 * In RocksDB a deleted row stays as a tombstone until compaction, and a scan has to step over every one, which takes a
 * tenth of a microsecond. Where rows are added at the end and removed at the front, as the waits of a lock, expiries, or
 * the jobs in a client's queue, there may be a hundred thousand of them before the first row. A row that is written into
 * a gap divides it. The result of a scan does not change.
 */

import { compareBytes, withNul } from "../../bytes/index.ts";
import type { Change, KeyRange, Row } from "../../state/index.ts";

/** The store that is scanned. */
export interface ScannedStore {
  /**
   * Calls `visit` for the rows with from ≤ key < to, ascending, until it returns false.
   *
   * @param onGap called, before the row behind it is visited, with a range without rows that took long.
   */
  scan(from: Uint8Array, to: Uint8Array, visit: (row: Row) => boolean, onGap: (gap: KeyRange) => void): void;
}

/** More than a member meets. Above it, the gap that was found first is forgotten. */
const GAPS_MAX = 256;

interface Gap extends KeyRange {
  /** Grows from one found gap to the next. */
  readonly found: number;
}

export class ScanGaps {
  /** Ascending; there is a row between two of them, or was when they were found. */
  #gaps: Gap[] = [];
  #found = 0;
  readonly #onGap = (gap: KeyRange): void => this.#add(gap);

  /** Scans the store without the known gaps. */
  scan(store: ScannedStore, from: Uint8Array, to: Uint8Array, visit: (row: Row) => boolean): void {
    if (this.#gaps.length === 0) {
      store.scan(from, to, visit, this.#onGap);
      return;
    }
    let goesOn = true;
    const visitOn = (row: Row): boolean => {
      goesOn = visit(row);
      return goesOn;
    };
    for (const range of this.rangesWithin(from, to)) {
      store.scan(range.from, range.to, visitOn, this.#onGap);
      if (!goesOn) {
        return;
      }
    }
  }

  /** Ascending ranges that contain all rows with from ≤ key < to, without the known gaps. */
  rangesWithin(from: Uint8Array, to: Uint8Array): KeyRange[] {
    const ranges: KeyRange[] = [];
    let start = from;
    for (let at = this.#firstAfter(from); at < this.#gaps.length; at++) {
      const gap = this.#gaps[at] as Gap;
      if (compareBytes(gap.from, to) >= 0) {
        break;
      }
      if (compareBytes(start, gap.from) < 0) {
        ranges.push({ from: start, to: gap.from });
      }
      start = gap.to;
    }
    if (compareBytes(start, to) < 0) {
      ranges.push({ from: start, to });
    }
    return ranges;
  }

  /** To be called when the changes are written: divides gaps. */
  onWrite(changes: readonly Change[]): void {
    if (this.#gaps.length === 0) {
      return;
    }
    for (let at = 0; at < changes.length; at++) {
      const { key, value } = changes[at] as Change;
      if (value !== null) {
        this.#divide(key);
      }
    }
  }

  #divide(key: Uint8Array): void {
    const at = this.#firstAfter(key);
    const gap = this.#gaps[at];
    if (gap === undefined || compareBytes(gap.from, key) > 0) {
      return;
    }
    const parts = [
      { from: gap.from, to: key, found: gap.found },
      { from: withNul(key), to: gap.to, found: gap.found },
    ];
    this.#gaps.splice(at, 1, ...parts.filter((part) => compareBytes(part.from, part.to) < 0));
    this.#forgetOldest();
  }

  #add({ from, to }: KeyRange): void {
    if (compareBytes(from, to) >= 0) {
      return;
    }
    const first = this.#gaps.findIndex((gap) => compareBytes(gap.to, from) >= 0);
    const at = first === -1 ? this.#gaps.length : first;
    let end = at;
    let [start, stop] = [from, to];
    for (let gap = this.#gaps[end]; gap !== undefined && compareBytes(gap.from, to) <= 0; gap = this.#gaps[end]) {
      start = compareBytes(gap.from, start) < 0 ? gap.from : start;
      stop = compareBytes(gap.to, stop) > 0 ? gap.to : stop;
      end++;
    }
    this.#gaps.splice(at, end - at, { from: start, to: stop, found: this.#found++ });
    this.#forgetOldest();
  }

  #forgetOldest(): void {
    while (this.#gaps.length > GAPS_MAX) {
      const oldest = Math.min(...this.#gaps.map(({ found }) => found));
      this.#gaps = this.#gaps.filter(({ found }) => found !== oldest);
    }
  }

  /** The index of the first gap that ends after the key. */
  #firstAfter(key: Uint8Array): number {
    let [low, high] = [0, this.#gaps.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareBytes((this.#gaps[middle] as Gap).to, key) > 0) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }
}
