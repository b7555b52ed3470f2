/**
 * The header of an object: fields with a number, a length and a value, in any order, each at most once. A later release
 * may add fields. A reader must know all fields below OPTIONAL_FIELDS, and may skip the others.
 */

import { BackupError } from "./backup-error.ts";
import { ByteCursor, malformed } from "./byte-cursor.ts";
import { RecordBuffer } from "./record-buffer.ts";

/** A reader skips an unknown field with this number or a higher one. */
const OPTIONAL_FIELDS = 0x8000;

const CAPACITY = 512;
const NUMBER_BYTES = 8;

export class FieldWriter {
  readonly #buffer = new RecordBuffer(CAPACITY);

  text(field: number, value: string): void {
    this.bytes(field, new TextEncoder().encode(value));
  }

  /** @param value a safe integer of at least 0; undefined = no field */
  number(field: number, value: number | undefined): void {
    if (value !== undefined) {
      this.#buffer.u16(field);
      this.#buffer.u32(NUMBER_BYTES);
      this.#buffer.u64(value);
    }
  }

  bytes(field: number, value: Uint8Array): void {
    this.#buffer.u16(field);
    this.#buffer.u32(value.length);
    this.#buffer.bytes(value);
  }

  get written(): Uint8Array {
    return this.#buffer.written;
  }
}

export class FieldReader {
  readonly #values = new Map<number, Uint8Array>();

  /** @param known the numbers of all fields that this release knows */
  constructor(header: Uint8Array, known: ReadonlySet<number>) {
    const cursor = new ByteCursor(header, "the header");
    while (!cursor.isAtEnd) {
      const field = cursor.u16();
      const value = cursor.bytes(cursor.u32());
      if (this.#values.has(field)) {
        throw malformed(`the header has field ${field} twice`);
      }
      if (field < OPTIONAL_FIELDS && !known.has(field)) {
        throw new BackupError(
          "newer-format",
          `the header has field ${field}, which this release does not know. Use the release that wrote it, or a newer one`,
        );
      }
      this.#values.set(field, value);
    }
  }

  has(field: number): boolean {
    return this.#values.has(field);
  }

  text(field: number): string {
    const value = this.#value(field);
    return new ByteCursor(value, `field ${field} of the header`).text(value.length);
  }

  number(field: number): number {
    const value = this.bytes(field, NUMBER_BYTES);
    return new ByteCursor(value, `field ${field} of the header`).u64();
  }

  optionalNumber(field: number): number | undefined {
    return this.has(field) ? this.number(field) : undefined;
  }

  /** @param length the required length of the value */
  bytes(field: number, length: number): Uint8Array {
    const value = this.#value(field);
    if (value.length !== length) {
      throw malformed(`field ${field} of the header has ${value.length} bytes instead of ${length}`);
    }
    return value;
  }

  #value(field: number): Uint8Array {
    const value = this.#values.get(field);
    if (value === undefined) {
      throw malformed(`the header has no field ${field}`);
    }
    return value;
  }
}
