/**
 * Fields in the bodies of frames: numbers in eight bytes, big-endian, and byte strings after a length in four bytes.
 *
 * A writer has an exact number of bytes and must fill it. A reader reads bytes from another member: bad bytes raise a
 * FrameError, never a violation.
 */

import { SlabPool } from "../bytes/index.ts";
import { invariant, readUint32, readUint53, writeUint32, writeUint53 } from "../primitives/index.ts";
import { FrameError } from "./frame.ts";

/** Bytes of a number, and of the length before a byte string or list. */
export const NUMBER_BYTES = 8;
export const LENGTH_BYTES = 4;

/** A number whose upper half is above this is not exact. */
const UPPER_HALF_MAX = 0x1f_ffff;
/** A view is copied if it keeps at least this many times its own size in memory. */
const WASTE_RATIO = 4;

const written = new SlabPool();
/** Received entries stay in memory for long. */
const received = new SlabPool();
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Whether eight bytes contain a number of at most 2^53 − 1. */
export function isExactNumber(bytes: Uint8Array, offset: number): boolean {
  return readUint32(bytes, offset) <= UPPER_HALF_MAX;
}

export class BodyWriter {
  readonly #bytes: Uint8Array;
  #offset = 0;

  constructor(length: number) {
    this.#bytes = written.allocate(length);
  }

  number(value: number): this {
    writeUint53(this.#bytes, this.#offset, value);
    this.#offset += NUMBER_BYTES;
    return this;
  }

  /** Writes the number of list elements, or of bytes, that follow. */
  length(value: number): this {
    writeUint32(this.#bytes, this.#offset, value);
    this.#offset += LENGTH_BYTES;
    return this;
  }

  bytes(value: Uint8Array): this {
    this.length(value.length);
    this.#bytes.set(value, this.#offset);
    this.#offset += value.length;
    return this;
  }

  finish(): Uint8Array {
    invariant(this.#offset === this.#bytes.length, "bodies have the length that was counted", () => {
      return `${this.#offset} of ${this.#bytes.length} bytes`;
    });
    return this.#bytes;
  }
}

export class BodyReader {
  readonly #body: Uint8Array;
  #offset = 0;

  constructor(body: Uint8Array) {
    this.#body = body;
  }

  number(): number {
    const at = this.#advance(NUMBER_BYTES);
    if (!isExactNumber(this.#body, at)) {
      throw new FrameError("a number is above 2^53 − 1");
    }
    return readUint53(this.#body, at);
  }

  flag(): boolean {
    return this.oneOf([false, true]);
  }

  /** The value at the position that the next number names. */
  oneOf<T>(values: readonly T[]): T {
    const at = this.number();
    if (at >= values.length) {
      throw new FrameError("a field has an unknown value");
    }
    return values[at] as T;
  }

  /** Reads a list. Each element must take at least one byte, so that a length cannot exceed the body. */
  list<T>(element: () => T): T[] {
    const elements: T[] = [];
    for (let left = readUint32(this.#body, this.#advance(LENGTH_BYTES)); left > 0; left--) {
      elements.push(element());
    }
    return elements;
  }

  /** A byte string: a view of the body, or a copy if the view would keep far more memory than its own size. */
  bytes(): Uint8Array {
    const length = readUint32(this.#body, this.#advance(LENGTH_BYTES));
    const at = this.#advance(length);
    const view = this.#body.subarray(at, at + length);
    return view.buffer.byteLength >= length * WASTE_RATIO ? received.copyOf(view) : view;
  }

  /** A byte string that contains UTF-8 text. */
  text(): string {
    try {
      return decoder.decode(this.bytes());
    } catch (error) {
      if (error instanceof TypeError) {
        throw new FrameError("a text is not in UTF-8", { cause: error });
      }
      throw error;
    }
  }

  /** Checks that the body ends here. */
  end(): void {
    if (this.#offset !== this.#body.length) {
      throw new FrameError("a body is longer than its fields");
    }
  }

  #advance(length: number): number {
    const at = this.#offset;
    this.#offset += length;
    if (this.#offset > this.#body.length) {
      throw new FrameError("a body is shorter than its fields");
    }
    return at;
  }
}

/** The bytes of a text. */
export function encodeText(text: string): Uint8Array {
  return encoder.encode(text);
}
