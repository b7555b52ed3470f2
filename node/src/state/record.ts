/**
 * Sequences of fields as bytes: the encoding of commands, rows and stored answers.
 *
 * Fields have no names or tags; each record begins with its kind or format, which decides what follows. Numbers are
 * big-endian; texts are UTF-8; byte strings carry their length in four bytes. A reader that meets too few or too many
 * bytes, or bad UTF-8, raises an InvariantViolation: records are only ever written by this code and are protected by
 * checksums on disk and on the wire.
 */

import { InvariantViolation, invariant, readUint32, readUint53, writeUint32, writeUint53 } from "../raft/index.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const INITIAL_BYTES = 256;
/** UTF-8 needs at most three bytes for each UTF-16 code unit. */
const UTF8_BYTES_PER_UNIT = 3;

/** The UTF-8 bytes of a text, which must not hold lone surrogates. */
export function encodeText(text: string): Uint8Array {
  return encoder.encode(text);
}

/** The text of UTF-8 bytes. Raises a TypeError for anything else. */
export function decodeText(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

export class RecordWriter {
  #bytes = new Uint8Array(INITIAL_BYTES);
  #length = 0;

  uint8(value: number): this {
    invariant(Number.isInteger(value) && value >= 0 && value <= 0xff, "bytes are 0 to 255", () => String(value));
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
    return this;
  }

  boolean(value: boolean): this {
    return this.uint8(value ? 1 : 0);
  }

  uint32(value: number): this {
    this.#reserve(4);
    writeUint32(this.#bytes, this.#length, value);
    this.#length += 4;
    return this;
  }

  uint53(value: number): this {
    this.#reserve(8);
    writeUint53(this.#bytes, this.#length, value);
    this.#length += 8;
    return this;
  }

  /** Bytes of a length that the reader knows, and that they must have. */
  fixed(value: Uint8Array, length: number): this {
    invariant(value.length === length, "fields of a fixed length have it", () => `${value.length}, not ${length}`);
    this.#reserve(length);
    this.#bytes.set(value, this.#length);
    this.#length += length;
    return this;
  }

  bytes(value: Uint8Array): this {
    return this.uint32(value.length).fixed(value, value.length);
  }

  text(value: string): this {
    this.#reserve(4 + value.length * UTF8_BYTES_PER_UNIT);
    const { written } = encoder.encodeInto(value, this.#bytes.subarray(this.#length + 4));
    writeUint32(this.#bytes, this.#length, written);
    this.#length += 4 + written;
    return this;
  }

  /** What was written so far, as bytes of their own. */
  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  #reserve(count: number): void {
    if (this.#length + count > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + count));
      larger.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = larger;
    }
  }
}

export class RecordReader {
  readonly #bytes: Uint8Array;
  #offset = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  uint8(): number {
    return this.#take(1)[0] as number;
  }

  boolean(): boolean {
    const value = this.uint8();
    invariant(value <= 1, "booleans are 0 or 1", () => String(value));
    return value === 1;
  }

  uint32(): number {
    return readUint32(this.#take(4), 0);
  }

  uint53(): number {
    return readUint53(this.#take(8), 0);
  }

  /** The next bytes: a view, not a copy. */
  fixed(length: number): Uint8Array {
    return this.#take(length);
  }

  /** A byte string: a view, not a copy. */
  bytes(): Uint8Array {
    return this.#take(this.uint32());
  }

  text(): string {
    const bytes = this.bytes();
    try {
      return decodeText(bytes);
    } catch {
      throw new InvariantViolation("texts are UTF-8", `${bytes.length} bytes before ${this.#offset}`);
    }
  }

  /** Asserts that nothing is left. */
  end(): void {
    invariant(this.#offset === this.#bytes.length, "records are read to their end", () => {
      return `${this.#bytes.length - this.#offset} bytes left`;
    });
  }

  #take(length: number): Uint8Array {
    const end = this.#offset + length;
    invariant(end <= this.#bytes.length, "records are as long as their fields", () => {
      return `${length} bytes at ${this.#offset} of ${this.#bytes.length}`;
    });
    const taken = this.#bytes.subarray(this.#offset, end);
    this.#offset = end;
    return taken;
  }
}

/** A count that may be absent: whether it is there, then the count, 0 without. */
export function writeOptionalCount(writer: RecordWriter, value: number | undefined): void {
  writer.boolean(value !== undefined).uint53(value ?? 0);
}

export function readOptionalCount(reader: RecordReader): number | undefined {
  const present = reader.boolean();
  const value = reader.uint53();
  invariant(present || value === 0, "fields that are absent are empty");
  return present ? value : undefined;
}
