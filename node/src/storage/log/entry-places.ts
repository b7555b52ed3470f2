/** Where the entries of the Raft log are in its segments: 12 bytes of memory for each. */

import { invariant } from "../../primitives/index.ts";

export interface EntryPlace {
  /** Number of the segment. */
  readonly segment: number;
  /** In bytes, from the begin of the file. */
  readonly offset: number;
  readonly length: number;
}

const INITIAL_CAPACITY = 1024;

export class EntryPlaces {
  #segments = new Uint32Array(INITIAL_CAPACITY);
  #offsets = new Uint32Array(INITIAL_CAPACITY);
  #lengths = new Uint32Array(INITIAL_CAPACITY);
  /** Where the arrays begin to be used. */
  #begin = 0;
  #first = 1;
  #next = 1;

  /** Index of the first entry with a place. */
  get first(): number {
    return this.#first;
  }

  /** Index of the next entry to add. */
  get next(): number {
    return this.#next;
  }

  /** Forgets the entries from this index on; an index that does not adjoin the others makes it empty, to begin there. */
  truncate(next: number): void {
    if (next < this.#first || next > this.#next) {
      this.#first = next;
      this.#begin = 0;
    }
    this.#next = next;
  }

  /** Forgets the entries below this index. */
  dropBelow(first: number): void {
    if (first >= this.#next) {
      this.#next = first;
      this.#first = first;
      this.#begin = 0;
    } else if (first > this.#first) {
      this.#begin += first - this.#first;
      this.#first = first;
    }
  }

  /** Adds the place of the next entry. */
  add(segment: number, offset: number, length: number): void {
    if (this.#begin + this.#next - this.#first === this.#segments.length) {
      this.#makeRoom();
    }
    const at = this.#begin + this.#next - this.#first;
    this.#segments[at] = segment;
    this.#offsets[at] = offset;
    this.#lengths[at] = length;
    this.#next++;
  }

  has(index: number): boolean {
    return index >= this.#first && index < this.#next;
  }

  /** The place of an entry that has one. */
  of(index: number): EntryPlace {
    invariant(this.has(index), "only entries of the log have a place", () => `entry ${index}`);
    const at = this.#begin + index - this.#first;
    return {
      segment: this.#segments[at] as number,
      offset: this.#offsets[at] as number,
      length: this.#lengths[at] as number,
    };
  }

  /** Moves the places to the begin of the arrays, and doubles them if they are more than half full. */
  #makeRoom(): void {
    const [from, count] = [this.#begin, this.#next - this.#first];
    const capacity = count * 2 > this.#segments.length ? this.#segments.length * 2 : this.#segments.length;
    const moved = (array: Uint32Array<ArrayBuffer>) => {
      const target = capacity === array.length ? array : new Uint32Array(capacity);
      target.set(array.subarray(from, from + count));
      return target;
    };
    this.#segments = moved(this.#segments);
    this.#offsets = moved(this.#offsets);
    this.#lengths = moved(this.#lengths);
    this.#begin = 0;
  }
}
