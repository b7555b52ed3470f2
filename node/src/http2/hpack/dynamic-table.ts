/**
 * The dynamic table of one direction of a connection (RFC 7541 §2.3.2 and §4): the last fields that were added, first
 * in, first out, within a limit of bytes.
 *
 * It is a ring, so adding and evicting moves no other entry. The ring grows with its entries up to the limit; a
 * connection that adds nothing uses no memory for it. Texts are latin-1, so a text has as many bytes as characters.
 */

/** Bytes that an entry counts in addition to its name and value (§4.1). */
export const ENTRY_OVERHEAD_BYTES = 32;
const SLOTS_MIN = 8;

export class DynamicTable {
  /** By the place in the ring; the number of places is 0 or a power of two. */
  #names: string[] = [];
  #values: string[] = [];
  /** The next place to write. The entry with index i is i places before it. */
  #next = 0;
  #length = 0;
  #bytes = 0;
  #bytesMax: number;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Number of entries. The newest entry has index 1, the oldest has this index. */
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

  /** Returns the name of an entry, by an index from 1 to `length`. */
  nameAt(index: number): string {
    return this.#names[(this.#next - index) & (this.#names.length - 1)] as string;
  }

  /** Returns the value of an entry, by an index from 1 to `length`. */
  valueAt(index: number): string {
    return this.#values[(this.#next - index) & (this.#names.length - 1)] as string;
  }

  /** Returns the index of the newest entry with this name and value; 0 if there is none. */
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

  /** Returns the index of the newest entry with this name; 0 if there is none. */
  indexOfName(name: string): number {
    for (let index = 1; index <= this.#length; index++) {
      if (this.nameAt(index) === name) {
        return index;
      }
    }
    return 0;
  }

  /** Adds an entry, after it evicts as many as needed. An entry larger than the limit empties the table (§4.4). */
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

  /** Changes the limit, and evicts entries above it (§4.3). */
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

  /** Doubles a full ring. Its oldest entry is then at the first place. */
  #grow(): void {
    const slots = Math.max(SLOTS_MIN, 2 * this.#length);
    this.#names = grown(this.#names, this.#next, slots);
    this.#values = grown(this.#values, this.#next, slots);
    this.#next = this.#length;
  }
}

function grown(texts: readonly string[], oldest: number, slots: number): string[] {
  const ring = new Array<string>(slots).fill("");
  for (let at = 0; at < texts.length; at++) {
    ring[at] = texts[(oldest + at) & (texts.length - 1)] as string;
  }
  return ring;
}
