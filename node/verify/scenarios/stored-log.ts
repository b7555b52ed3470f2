/** A Raft log as it is on a disk, in memory: dense, with a movable beginning. For specs of the consensus core. */

import { crc32 } from "node:zlib";
import {
  type EntryType,
  encodeEntry,
  entryTerm,
  type LogBounds,
  type LogReader,
  NO_ENVELOPE,
  sealEntry,
} from "../../src/raft/index.ts";

export class StoredLog implements LogReader {
  first = 1;
  prevTerm = 0;
  /** The rows: the first is entry `first`. */
  rows: Uint8Array[] = [];

  get last(): number {
    return this.first + this.rows.length - 1;
  }

  get bounds(): LogBounds {
    return { first: this.first, prevTerm: this.prevTerm, last: this.last, lastTerm: this.term(this.last) };
  }

  /** Adds an entry at the end. */
  add(type: EntryType, term: number, payload = new Uint8Array(0)): this {
    const row = encodeEntry(type, NO_ENVELOPE, payload);
    sealEntry(row, term, this.last + 1, crc32);
    this.rows.push(row);
    return this;
  }

  /** Replaces everything from the index on by these rows. */
  replace(from: number, rows: readonly Uint8Array[]): void {
    if (from < this.first || from > this.last + 1) {
      throw new Error(`a write from ${from} on leaves a gap in ${this.first}..${this.last}`);
    }
    this.rows = [...this.rows.slice(0, from - this.first), ...rows];
  }

  /** Drops the entries below the index. */
  compact(first: number): void {
    this.prevTerm = this.term(first - 1);
    this.rows = this.rows.slice(first - this.first);
    this.first = first;
  }

  /** Restarts after the entry. */
  reset(index: number, term: number): void {
    this.first = index + 1;
    this.prevTerm = term;
    this.rows = [];
  }

  copy(): StoredLog {
    const copy = new StoredLog();
    copy.first = this.first;
    copy.prevTerm = this.prevTerm;
    copy.rows = [...this.rows];
    return copy;
  }

  term(index: number): number {
    return index === this.first - 1 ? this.prevTerm : entryTerm(this.#row(index));
  }

  entries(from: number, to: number, maxBytes: number): Uint8Array[] {
    const rows: Uint8Array[] = [];
    let bytes = 0;
    for (let index = from; index <= to; index++) {
      const row = this.#row(index);
      bytes += row.length;
      if (rows.length > 0 && bytes > maxBytes) {
        break;
      }
      rows.push(row);
    }
    return rows;
  }

  #row(index: number): Uint8Array {
    const row = this.rows[index - this.first];
    if (row === undefined) {
      throw new Error(`entry ${index} is not stored in ${this.first}..${this.last}`);
    }
    return row;
  }
}
