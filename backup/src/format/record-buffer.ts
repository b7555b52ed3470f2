/** The contents of one frame while it is filled: bytes that grow, up to what one record needs. Numbers are big-endian. */

/** 2^32: what the upper half of a number of eight bytes counts. */
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

  /** What was written; valid until `clear`. */
  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
  }

  u16(value: number): void {
    // Taken first: where the buffer grows, there is another view.
    const offset = this.#take(2);
    this.#view.setUint16(offset, value);
  }

  u32(value: number): void {
    const offset = this.#take(4);
    this.#view.setUint32(offset, value);
  }

  /** @param value a safe integer that is not negative */
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
