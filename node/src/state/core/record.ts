/**
 * Sequences of fields as bytes: the encoding of commands, rows and stored answers.
 *
 * Fields have no names or tags; each record begins with its kind or format, which determines the fields. Numbers are
 * big-endian; texts are UTF-8; byte strings have a length of four bytes. A reader that finds too few or too many bytes,
 * or bad UTF-8, raises an InvariantViolation: only this code writes records, and checksums protect them on disk and on
 * the wire.
 */

import { asciiOf, KnownTexts, type Slab, SlabPool } from "../../bytes/index.ts";
import {
  InvariantViolation,
  invariant,
  readUint32,
  readUint53,
  writeUint32,
  writeUint53,
} from "../../primitives/index.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const slabs = new SlabPool();
const names = new KnownTexts();
/** Replaces the memory of a finished writer. */
const NO_MEMORY = new Uint8Array(0);
/** Texts up to this length are mostly names and ids, and mostly ASCII. */
const SHORT_TEXT_BYTES_MAX = 64;
/** UTF-8 needs at most three bytes for each UTF-16 code unit. */
const UTF8_BYTES_PER_UNIT = 3;
/** A field with more bytes than this gets room for itself and for so many bytes behind it. */
const LARGE_BYTES = 32 * 1024;
const SPARE_BYTES = 2 * 1024;

/** The UTF-8 bytes of a text, which must not contain lone surrogates. */
export function encodeText(text: string): Uint8Array {
  return encoder.encode(text);
}

/** The text of UTF-8 bytes. Raises a TypeError for anything else. */
export function decodeText(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/** Writes one record. Until it is finished, no other writer uses its memory. */
export class RecordWriter {
  #slab: Slab = slabs.take();
  #bytes: Uint8Array = this.#slab.bytes;
  #begin = this.#slab.end;
  #end = this.#begin;

  /** Bytes written so far. */
  get length(): number {
    return this.#end - this.#begin;
  }

  uint8(value: number): this {
    if (!Number.isInteger(value) || value < 0 || value > 0xff) {
      throw new InvariantViolation("bytes are 0 to 255", String(value));
    }
    this.#reserve(1);
    this.#bytes[this.#end++] = value;
    return this;
  }

  boolean(value: boolean): this {
    return this.uint8(value ? 1 : 0);
  }

  uint32(value: number): this {
    this.#reserve(4);
    writeUint32(this.#bytes, this.#end, value);
    this.#end += 4;
    return this;
  }

  uint53(value: number): this {
    this.#reserve(8);
    writeUint53(this.#bytes, this.#end, value);
    this.#end += 8;
    return this;
  }

  /** Bytes of a fixed length that the reader knows. */
  fixed(value: Uint8Array, length: number): this {
    if (value.length !== length) {
      throw new InvariantViolation("fields of a fixed length have it", `${value.length}, not ${length}`);
    }
    return this.plainBytes(value);
  }

  bytes(value: Uint8Array): this {
    return this.uint32(value.length).plainBytes(value);
  }

  /** Begins a byte string and returns its start, for `endBytes`. */
  beginBytes(): number {
    this.uint32(0);
    return this.length;
  }

  /** Ends the byte string that begins there, and returns its length. */
  endBytes(begin: number): number {
    const length = this.length - begin;
    writeUint32(this.#bytes, this.#begin + begin - 4, length);
    return length;
  }

  text(value: string): this {
    this.#reserve(4 + value.length * UTF8_BYTES_PER_UNIT);
    const written = this.#slab.writeText(value, this.#end + 4);
    writeUint32(this.#bytes, this.#end, written);
    this.#end += 4 + written;
    return this;
  }

  /** Bytes without their length: the reader finds the end by other means. */
  plainBytes(value: Uint8Array): this {
    this.#reserve(value.length);
    this.#bytes.set(value, this.#end);
    this.#end += value.length;
    return this;
  }

  /** The UTF-8 bytes of a text, without their length. */
  plainText(value: string): this {
    this.#reserve(value.length * UTF8_BYTES_PER_UNIT);
    this.#end += this.#slab.writeText(value, this.#end);
    return this;
  }

  /** The record, as bytes that no one else changes. The writer cannot be used afterwards. */
  finish(): Uint8Array {
    const record = this.#slab.cut(this.#end);
    this.#bytes = NO_MEMORY;
    return record;
  }

  /** Makes room for so many bytes, so that large ones are not copied when others follow them. */
  reserve(count: number): this {
    this.#reserve(count);
    return this;
  }

  #reserve(count: number): void {
    if (this.#end + count > this.#bytes.length) {
      this.#grow(count);
    }
  }

  #grow(count: number): void {
    invariant(this.#bytes.length > 0, "a finished record is not written to");
    const needed = this.length + count;
    // What is large is mostly the value, with little behind it.
    const larger = slabs.takeLarge(count > LARGE_BYTES ? needed + SPARE_BYTES : 2 * needed);
    larger.bytes.set(this.#bytes.subarray(this.#begin, this.#end));
    this.#end -= this.#begin;
    this.#begin = 0;
    // Do not return the old slab: the next call would take it first, and it would be too small again.
    this.#slab = larger;
    this.#bytes = larger.bytes;
  }
}

export class RecordReader {
  readonly #bytes: Uint8Array;
  #offset: number;

  /** @param from where the record begins; it ends at the end of the bytes */
  constructor(bytes: Uint8Array, from = 0) {
    this.#bytes = bytes;
    this.#offset = from;
  }

  uint8(): number {
    return this.#bytes[this.#pass(1)] as number;
  }

  /** The next byte, which stays the next one. */
  peek(): number {
    const value = this.uint8();
    this.#offset--;
    return value;
  }

  boolean(): boolean {
    const value = this.uint8();
    if (value > 1) {
      throw new InvariantViolation("booleans are 0 or 1", String(value));
    }
    return value === 1;
  }

  uint32(): number {
    return readUint32(this.#bytes, this.#pass(4));
  }

  uint53(): number {
    return readUint53(this.#bytes, this.#pass(8));
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
    const length = this.uint32();
    const from = this.#pass(length);
    const ascii = length <= SHORT_TEXT_BYTES_MAX ? asciiOf(this.#bytes, from, this.#offset) : null;
    return ascii ?? this.#anyText(from);
  }

  /** A text that occurs often, such as an id or a namespace; the cache returns the same text while it has it. */
  name(): string {
    const length = this.uint32();
    const from = this.#pass(length);
    const known = length <= SHORT_TEXT_BYTES_MAX ? names.at(this.#bytes, from, this.#offset) : null;
    return known ?? this.#anyText(from);
  }

  #anyText(from: number): string {
    const bytes = this.#bytes.subarray(from, this.#offset);
    try {
      return decodeText(bytes);
    } catch {
      throw new InvariantViolation("texts are UTF-8", `${bytes.length} bytes before ${this.#offset}`);
    }
  }

  /** Whether there are bytes behind what was read. */
  get hasMore(): boolean {
    return this.#offset < this.#bytes.length;
  }

  /** Asserts that all bytes were read. */
  end(): void {
    if (this.#offset !== this.#bytes.length) {
      throw new InvariantViolation("records are read to their end", `${this.#bytes.length - this.#offset} bytes left`);
    }
  }

  #take(length: number): Uint8Array {
    const from = this.#pass(length);
    return this.#bytes.subarray(from, from + length);
  }

  /** Advances past the next bytes, and returns where they begin. */
  #pass(length: number): number {
    const from = this.#offset;
    if (from + length > this.#bytes.length) {
      const details = `${length} bytes at ${from} of ${this.#bytes.length}`;
      throw new InvariantViolation("records are as long as their fields", details);
    }
    this.#offset = from + length;
    return from;
  }
}
