/**
 * The dynamic table of one direction of a connection (RFC 7541 §2.3.2 and §4): the last fields that were added, first in
 * and first out, within a bound of bytes.
 *
 * It is a ring, so that to add and to evict an entry moves no other. The ring grows with its entries up to what the bound
 * allows: a connection that adds nothing costs nothing. Texts are latin-1, so a text has as many bytes as characters.
 */

/** What an entry counts besides the bytes of its name and value (§4.1). */
export const ENTRY_OVERHEAD_BYTES = 32;
const PLACES_MIN = 8;

export class DynamicTable {
  /** By the place in the ring, which has as many places as a power of two, or none. */
  #names: string[] = [];
  #values: string[] = [];
  /** The place that is written next. The entry with index i is i places before it. */
  #next = 0;
  #length = 0;
  #bytes = 0;
  #bytesMax: number;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** The number of entries. The newest has the index 1, the oldest this one. */
  get length(): number {
    return this.#length;
  }

  /** The size of the table: the bytes of all names and values, and 32 for each entry (§4.1). */
  get bytes(): number {
    return this.#bytes;
  }

  get bytesMax(): number {
    return this.#bytesMax;
  }

  /** The name of an entry, by an index from 1 to `length`. */
  nameAt(index: number): string {
    return this.#names[(this.#next - index) & (this.#names.length - 1)] as string;
  }

  /** The value of an entry, by an index from 1 to `length`. */
  valueAt(index: number): string {
    return this.#values[(this.#next - index) & (this.#names.length - 1)] as string;
  }

  /** The newest entry with this name and value: its index, 0 if there is none. */
  indexOf(name: string, value: string): number {
    const mask = this.#names.length - 1;
    for (let index = 1; index <= this.#length; index++) {
      const place = (this.#next - index) & mask;
      if (this.#names[place] === name && this.#values[place] === value) {
        return index;
      }
    }
    return 0;
  }

  /** The newest entry with this name: its index, 0 if there is none. */
  indexOfName(name: string): number {
    for (let index = 1; index <= this.#length; index++) {
      if (this.nameAt(index) === name) {
        return index;
      }
    }
    return 0;
  }

  /** Adds an entry after evicting what leaves it no room. An entry above the bound empties the table (§4.4). */
  add(name: string, value: string): void {
    const bytes = name.length + value.length + ENTRY_OVERHEAD_BYTES;
    this.#evictAbove(Math.max(0, this.#bytesMax - bytes));
    if (bytes > this.#bytesMax) {
      return;
    }
    if (this.#length === this.#names.length) {
      this.#grow();
    }
    this.#names[this.#next] = name;
    this.#values[this.#next] = value;
    this.#next = (this.#next + 1) & (this.#names.length - 1);
    this.#length++;
    this.#bytes += bytes;
  }

  /** Changes the bound, and evicts what is above it (§4.3). */
  resize(bytesMax: number): void {
    this.#bytesMax = bytesMax;
    this.#evictAbove(bytesMax);
  }

  #evictAbove(bytes: number): void {
    const mask = this.#names.length - 1;
    while (this.#bytes > bytes) {
      const place = (this.#next - this.#length) & mask;
      const name = this.#names[place] as string;
      const value = this.#values[place] as string;
      this.#bytes -= name.length + value.length + ENTRY_OVERHEAD_BYTES;
      this.#length--;
      // The texts must not stay in memory.
      this.#names[place] = "";
      this.#values[place] = "";
    }
  }

  /** Doubles a full ring. Its oldest entry comes first then. */
  #grow(): void {
    const places = Math.max(PLACES_MIN, 2 * this.#length);
    this.#names = grown(this.#names, this.#next, places);
    this.#values = grown(this.#values, this.#next, places);
    this.#next = this.#length;
  }
}

function grown(texts: readonly string[], oldest: number, places: number): string[] {
  const ring = new Array<string>(places).fill("");
  for (let at = 0; at < texts.length; at++) {
    ring[at] = texts[(oldest + at) & (texts.length - 1)] as string;
  }
  return ring;
}
