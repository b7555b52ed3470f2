/**
 * A table of the last steps that concern ranges of the Raft log, each with a few numbers. It answers which step covers
 * an index.
 *
 * Rows are in the order of their indexes, which grow, except when a new leader replaces entries at the end of the log:
 * their rows are dropped. A full table overwrites its oldest row. It allocates nothing after its construction.
 */

/** Columns of every row. The further ones belong to the user. */
const FIRST = 0;
const LAST = 1;
const OWN_COLUMNS = 2;

export class IndexRing {
  readonly #columns: number;
  readonly #rows: number;
  readonly #values: Float64Array;
  /** The position behind the newest row. */
  #end = 0;
  #size = 0;

  /** @param columns numbers of each row, besides its first and last index. */
  constructor(rows: number, columns: number) {
    this.#rows = rows;
    this.#columns = columns + OWN_COLUMNS;
    this.#values = new Float64Array(rows * this.#columns);
  }

  /** Last index of the newest row; 0 without rows. */
  get last(): number {
    return this.#size === 0 ? 0 : this.#value(this.#end - 1, LAST);
  }

  /** Adds a row for the indexes from `first` to `last`, with zeros, and drops the rows that reach into them. */
  add(first: number, last: number): void {
    while (this.#size > 0 && this.#value(this.#end - 1, LAST) >= first) {
      this.#end--;
      this.#size--;
    }
    const at = this.#offset(this.#end);
    this.#values.fill(0, at, at + this.#columns);
    this.#values[at + FIRST] = first;
    this.#values[at + LAST] = last;
    this.#end++;
    this.#size = Math.min(this.#size + 1, this.#rows);
  }

  /** Adds a row for the indexes behind the newest row up to `last`. Of the first row only `last` itself is certain. */
  advance(last: number): void {
    this.add(this.#size === 0 ? last : this.last + 1, last);
  }

  /** Sets a number of the newest row; `column` counts the user's columns from 0. */
  set(column: number, value: number): void {
    this.#values[this.#offset(this.#end - 1) + OWN_COLUMNS + column] = value;
  }

  /** The position of the row that covers the index; -1 if none does, or not any more. */
  find(index: number): number {
    let low = this.#end - this.#size;
    let high = this.#end;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#value(middle, LAST) < index) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low < this.#end && this.#value(low, FIRST) <= index ? low : -1;
  }

  /** A number of the row at a position from `find`; `column` counts the user's columns from 0. */
  get(position: number, column: number): number {
    return this.#value(position, OWN_COLUMNS + column);
  }

  firstOf(position: number): number {
    return this.#value(position, FIRST);
  }

  lastOf(position: number): number {
    return this.#value(position, LAST);
  }

  #value(position: number, column: number): number {
    return this.#values[this.#offset(position) + column] ?? 0;
  }

  #offset(position: number): number {
    return (position % this.#rows) * this.#columns;
  }
}
