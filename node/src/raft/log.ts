/**
 * The core's view of the Raft log: its bounds, the tail in memory, and how much of it is stable.
 *
 * Every write handed to storage has a sequence number that grows for the life of the data directory. An entry is stable
 * once the write that carries it, or a later one, is flushed: storage flushes writes in order. An entry not yet handed
 * out has no number, so an acknowledgement can never make it stable (P31).
 *
 * The tail contains at least every entry that is not yet stable, and as many of the newest other entries as fit the
 * limit. The reader provides older ones. Rows in the tail never change.
 */

import { invariant } from "../primitives/index.ts";
import { entryIndex, entryTerm, entryType } from "./entry.ts";

/**
 * First and last index in the store, and the terms of the entry before the first and of the last. Empty: last = first −
 * 1.
 */
export interface LogBounds {
  readonly first: number;
  readonly prevTerm: number;
  readonly last: number;
  readonly lastTerm: number;
}

/** Synchronous access to stored entries that are not in the tail. A failed read throws and ends the process. */
export interface LogReader {
  term(index: number): number;
  /** The rows of from..to: at most maxBytes, but at least one row. */
  entries(from: number, to: number, maxBytes: number): Uint8Array[];
}

const UNWRITTEN = Number.POSITIVE_INFINITY;
const INITIAL_CAPACITY = 1024;
/** Bytes of stored entries that a search reads at a time: few reads, and no large array. */
const SEARCH_BYTES = 256 * 1024;

export class RaftLog {
  #first: number;
  #prevTerm: number;
  #last: number;
  #lastTerm: number;
  #stable: number;
  #written: number;
  #flushedSeq = 0;
  /** Whether entries were removed since the last write was handed out. */
  #hasRemoved = false;
  /** Index of the oldest entry in the tail; last + 1 when the tail is empty. */
  #tailFirst: number;
  #tailBytes = 0;
  #unstableBytes = 0;
  readonly #tailBytesMax: number;
  readonly #reader: LogReader;
  // A ring of parallel arrays: the slot of index i is i modulo the capacity.
  #capacity = INITIAL_CAPACITY;
  #terms = new Float64Array(INITIAL_CAPACITY);
  #writeSeqs = new Float64Array(INITIAL_CAPACITY);
  #types = new Uint8Array(INITIAL_CAPACITY);
  #rows: (Uint8Array | undefined)[] = new Array(INITIAL_CAPACITY);

  constructor(bounds: LogBounds, reader: LogReader, tailBytesMax: number) {
    invariant(bounds.first >= 1 && bounds.last >= bounds.first - 1, "log bounds are dense", () => {
      return `first ${bounds.first}, last ${bounds.last}`;
    });
    const isEmpty = bounds.last < bounds.first;
    const termsAreInOrder = isEmpty ? bounds.lastTerm === bounds.prevTerm : bounds.lastTerm >= bounds.prevTerm;
    invariant(termsAreInOrder, "terms never fall along the log", () => `${bounds.lastTerm} after ${bounds.prevTerm}`);
    this.#first = bounds.first;
    this.#prevTerm = bounds.prevTerm;
    this.#last = bounds.last;
    this.#lastTerm = bounds.lastTerm;
    this.#stable = bounds.last;
    this.#written = bounds.last;
    this.#tailFirst = bounds.last + 1;
    this.#tailBytesMax = tailBytesMax;
    this.#reader = reader;
  }

  get firstIndex(): number {
    return this.#first;
  }

  get lastIndex(): number {
    return this.#last;
  }

  get lastTerm(): number {
    return this.#lastTerm;
  }

  /** Highest index whose write is flushed. */
  get stableIndex(): number {
    return this.#stable;
  }

  /** Whether new or removed entries wait to be handed to storage. */
  get hasUnwritten(): boolean {
    return this.#written < this.#last || this.#hasRemoved;
  }

  /** Bytes of the entries that are not stable yet. */
  get unstableBytes(): number {
    return this.#unstableBytes;
  }

  /** The term of the entry at the index, which must be at least first − 1 and at most last. */
  term(index: number): number {
    invariant(index >= this.#first - 1 && index <= this.#last, "terms are asked within the log", () => {
      return `${index} of ${this.#first}..${this.#last}`;
    });
    if (index === this.#first - 1) {
      return this.#prevTerm;
    }
    if (index >= this.#tailFirst) {
      return this.#terms[index % this.#capacity] as number;
    }
    return this.#reader.term(index);
  }

  /** Adds one sealed row at the end. */
  append(row: Uint8Array): void {
    const index = entryIndex(row);
    const term = entryTerm(row);
    invariant(index === this.#last + 1, "the log is dense", () => `${index} after ${this.#last}`);
    invariant(term >= this.#lastTerm, "terms never fall along the log", () => `${term} after ${this.#lastTerm}`);
    if (index - this.#tailFirst >= this.#capacity) {
      this.#grow();
    }
    const slot = index % this.#capacity;
    this.#terms[slot] = term;
    this.#writeSeqs[slot] = UNWRITTEN;
    this.#types[slot] = entryType(row);
    this.#rows[slot] = row;
    this.#last = index;
    this.#lastTerm = term;
    this.#tailBytes += row.length;
    this.#unstableBytes += row.length;
  }

  /**
   * Removes the entries from the index on, because a leader of a newer term has others there. The new entries have no
   * write number until they are handed out. So the acknowledgement of a write that still carries the removed ones marks
   * nothing as stable (P31).
   */
  truncate(from: number): void {
    invariant(from >= this.#first && from <= this.#last, "entries are removed within the log", () => {
      return `from ${from} of ${this.#first}..${this.#last}`;
    });
    const lastTerm = this.term(from - 1);
    for (let index = Math.max(from, this.#tailFirst); index <= this.#last; index++) {
      const slot = index % this.#capacity;
      const bytes = (this.#rows[slot] as Uint8Array).length;
      this.#tailBytes -= bytes;
      this.#unstableBytes -= index > this.#stable ? bytes : 0;
      this.#rows[slot] = undefined;
    }
    this.#tailFirst = Math.min(this.#tailFirst, from);
    this.#last = from - 1;
    this.#lastTerm = lastTerm;
    this.#stable = Math.min(this.#stable, this.#last);
    this.#written = Math.min(this.#written, this.#last);
    this.#hasRemoved = true;
  }

  /** Replaces the whole log: everything up to (index, term) is in the state. */
  reset(index: number, term: number): void {
    invariant(index >= this.#first - 1, "the log moves forward", () => `${index}, first ${this.#first}`);
    for (let at = this.#tailFirst; at <= this.#last; at++) {
      this.#rows[at % this.#capacity] = undefined;
    }
    this.#tailBytes = 0;
    this.#unstableBytes = 0;
    this.#first = index + 1;
    this.#prevTerm = term;
    this.#last = index;
    this.#lastTerm = term;
    this.#stable = index;
    this.#written = index;
    this.#tailFirst = index + 1;
    this.#hasRemoved = false;
  }

  /**
   * The largest index up to `index` whose term is at most `term`. Returns first − 2, about which the log knows nothing,
   * if no index in first − 1..last fits.
   */
  lastWithTermAtMost(index: number, term: number): number {
    // Terms never fall along the log, so the entries that fit form a prefix.
    let low = this.#first - 2;
    let high = Math.min(index, this.#last);
    while (low < high) {
      const middle = low + Math.ceil((high - low) / 2);
      if (this.term(middle) <= term) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  /** Hands every unwritten row to the write with this number. */
  takeUnwritten(writeSeq: number): Uint8Array[] {
    const rows: Uint8Array[] = [];
    for (let index = this.#written + 1; index <= this.#last; index++) {
      const slot = index % this.#capacity;
      this.#writeSeqs[slot] = writeSeq;
      rows.push(this.#rows[slot] as Uint8Array);
    }
    this.#written = this.#last;
    this.#hasRemoved = false;
    return rows;
  }

  /** The write with this number is flushed, and so is every earlier one. */
  flushed(writeSeq: number): void {
    invariant(writeSeq > this.#flushedSeq, "writes are flushed in order", () => `${writeSeq}`);
    this.#flushedSeq = writeSeq;
    while (this.#stable < this.#last && (this.#writeSeqs[(this.#stable + 1) % this.#capacity] as number) <= writeSeq) {
      this.#stable++;
      this.#unstableBytes -= (this.#rows[this.#stable % this.#capacity] as Uint8Array).length;
    }
  }

  /** Rows of from..to from memory or disk: at most maxBytes, but at least one row. */
  entries(from: number, to: number, maxBytes: number): Uint8Array[] {
    invariant(from >= this.#first && from <= to && to <= this.#last, "entries are asked within the log", () => {
      return `${from}..${to} of ${this.#first}..${this.#last}`;
    });
    if (from < this.#tailFirst) {
      return this.#reader.entries(from, Math.min(to, this.#tailFirst - 1), maxBytes);
    }
    const rows: Uint8Array[] = [];
    let bytes = 0;
    for (let index = from; index <= to; index++) {
      const row = this.#rows[index % this.#capacity] as Uint8Array;
      bytes += row.length;
      if (rows.length > 0 && bytes > maxBytes) {
        break;
      }
      rows.push(row);
    }
    return rows;
  }

  /**
   * Bytes of the rows of from..to that are in memory. Every row that this process appended stays there until it is
   * applied.
   */
  bytesInMemory(from: number, to: number): number {
    let bytes = 0;
    for (let index = Math.max(from, this.#tailFirst); index <= to; index++) {
      bytes += (this.#rows[index % this.#capacity] as Uint8Array).length;
    }
    return bytes;
  }

  /** Whether the type of any entry in from..to passes the test. */
  someType(from: number, to: number, test: (type: number) => boolean): boolean {
    let index = from;
    while (index <= to && index < this.#tailFirst) {
      const rows = this.#reader.entries(index, Math.min(to, this.#tailFirst - 1), SEARCH_BYTES);
      if (rows.some((row) => test(entryType(row)))) {
        return true;
      }
      index += rows.length;
    }
    for (; index <= to; index++) {
      if (test(this.#types[index % this.#capacity] as number)) {
        return true;
      }
    }
    return false;
  }

  /** Drops the oldest rows in memory beyond the limit, but none above `applied` and none that is not stable. */
  release(applied: number): void {
    const keepFrom = Math.min(applied, this.#stable) + 1;
    while (this.#tailBytes > this.#tailBytesMax && this.#tailFirst < keepFrom) {
      const slot = this.#tailFirst % this.#capacity;
      this.#tailBytes -= (this.#rows[slot] as Uint8Array).length;
      this.#rows[slot] = undefined;
      this.#tailFirst++;
    }
  }

  /** Storage no longer has entries below the index; the entry before it has the given term. */
  compacted(first: number, prevTerm: number): void {
    invariant(first >= this.#first && first <= this.#stable + 1, "compaction keeps what is not stable", () => {
      return `to ${first}, stable ${this.#stable}`;
    });
    this.#first = first;
    this.#prevTerm = prevTerm;
    while (this.#tailFirst < first && this.#tailFirst <= this.#last) {
      const slot = this.#tailFirst % this.#capacity;
      this.#tailBytes -= (this.#rows[slot] as Uint8Array).length;
      this.#rows[slot] = undefined;
      this.#tailFirst++;
    }
  }

  #grow(): void {
    const capacity = this.#capacity * 2;
    const terms = new Float64Array(capacity);
    const writeSeqs = new Float64Array(capacity);
    const types = new Uint8Array(capacity);
    const rows: (Uint8Array | undefined)[] = new Array(capacity);
    for (let index = this.#tailFirst; index <= this.#last; index++) {
      const from = index % this.#capacity;
      const to = index % capacity;
      terms[to] = this.#terms[from] as number;
      writeSeqs[to] = this.#writeSeqs[from] as number;
      types[to] = this.#types[from] as number;
      rows[to] = this.#rows[from];
    }
    this.#capacity = capacity;
    this.#terms = terms;
    this.#writeSeqs = writeSeqs;
    this.#types = types;
    this.#rows = rows;
  }
}
