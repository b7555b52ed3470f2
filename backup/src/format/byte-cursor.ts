/** Reads numbers and byte arrays from a complete byte array, and refuses reads beyond its end. */

import { BackupError } from "./backup-error.ts";

const HALF = 0x1_0000_0000;
const TEXT = new TextDecoder("utf-8", { fatal: true });

/** The error for bytes whose checksums are right but whose content is invalid: a faulty writer, or a forgery. */
export function malformed(what: string): BackupError {
  return new BackupError("damaged", `${what}. The object is not usable: use another backup`);
}

export class ByteCursor {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #what: string;
  #offset = 0;

  /** @param what the name in errors, such as "the header" */
  constructor(bytes: Uint8Array, what: string) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#what = what;
  }

  get isAtEnd(): boolean {
    return this.#offset === this.#bytes.length;
  }

  u16(): number {
    return this.#view.getUint16(this.#take(2));
  }

  u32(): number {
    return this.#view.getUint32(this.#take(4));
  }

  /** Raises an error for a number that JavaScript cannot represent exactly. */
  u64(): number {
    const offset = this.#take(8);
    const value = this.#view.getUint32(offset) * HALF + this.#view.getUint32(offset + 4);
    if (!Number.isSafeInteger(value)) {
      throw malformed(`${this.#what} holds a number above 2^53 - 1`);
    }
    return value;
  }

  /** A view, not a copy. */
  bytes(length: number): Uint8Array {
    const offset = this.#take(length);
    return this.#bytes.subarray(offset, offset + length);
  }

  text(length: number): string {
    try {
      return TEXT.decode(this.bytes(length));
    } catch (error) {
      if (error instanceof TypeError) {
        throw malformed(`${this.#what} holds text that is not UTF-8`);
      }
      throw error;
    }
  }

  #take(length: number): number {
    const offset = this.#offset;
    if (length > this.#bytes.length - offset) {
      throw malformed(`${this.#what} ends in the middle of a field`);
    }
    this.#offset = offset + length;
    return offset;
  }
}
