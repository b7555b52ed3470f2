/** The content of one frame while it is filled: a growing byte array. Numbers are big-endian. */

/** 2^32, the unit of the upper half of an eight-byte number. */
const HALF = 0x1_0000_0000;

export class RecordBuffer {
  #bytes: Uint8Array;
  #view: DataView;
  #length = 0;

  constructor(capacity: number) {
    this.#bytes = new Uint8Array(capacity);
    this.#view = new DataView(this.#bytes.buffer);
  }

  get length(): number {
    return this.#length;
  }

  /** The bytes written; valid until `clear`. */
  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
  }

  u16(value: number): void {
    // Take first: growing replaces the view.
    const offset = this.#take(2);
    this.#view.setUint16(offset, value);
  }

  u32(value: number): void {
    const offset = this.#take(4);
    this.#view.setUint32(offset, value);
  }

  /** @param value a safe integer of at least 0 */
  u64(value: number): void {
    const offset = this.#take(8);
    this.#view.setUint32(offset, Math.floor(value / HALF));
    this.#view.setUint32(offset + 4, value % HALF);
  }

  bytes(value: Uint8Array): void {
    const offset = this.#take(value.length);
    this.#bytes.set(value, offset);
  }

  #take(length: number): number {
    const offset = this.#length;
    if (offset + length > this.#bytes.length) {
      this.#grow(offset + length);
    }
    this.#length = offset + length;
    return offset;
  }

  #grow(capacity: number): void {
    const grown = new Uint8Array(Math.max(capacity, 2 * this.#bytes.length));
    grown.set(this.written);
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }
}
