/**
 * Handshake bodies: JSON objects, read field by field.
 *
 * Handshakes are rare, and members of different releases exchange them first, so their fields have names. A field that
 * is missing or has another type or length raises a FrameError. Unknown fields are ignored, so that later releases can
 * add some.
 */

import { isIP } from "node:net";
import { FrameError } from "./frame.ts";

/** Longer than any name, address or token in a configuration. */
const TEXT_LENGTH_MAX = 1024;
const INCARNATION = /^[0-9a-f]{32}$/;

export class JsonFields {
  readonly #fields: Map<string, unknown>;

  private constructor(fields: Map<string, unknown>) {
    this.#fields = fields;
  }

  /** The fields of the object in the body. */
  static of(body: Uint8Array): JsonFields {
    let value: unknown;
    try {
      value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
    } catch (error) {
      if (error instanceof SyntaxError || error instanceof TypeError) {
        throw new FrameError("a handshake is not JSON", { cause: error });
      }
      throw error;
    }
    return JsonFields.#from(value);
  }

  static #from(value: unknown): JsonFields {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw new FrameError("a part of a handshake is missing");
    }
    return new JsonFields(new Map(Object.entries(value)));
  }

  part(name: string): JsonFields {
    return JsonFields.#from(this.#fields.get(name));
  }

  list<T>(name: string, element: (fields: JsonFields) => T): T[] {
    const value = this.#fields.get(name);
    if (!Array.isArray(value)) {
      throw new FrameError(`the field ${name} of a handshake is not a list`);
    }
    return value.map((one) => element(JsonFields.#from(one)));
  }

  has(name: string): boolean {
    return this.#fields.has(name);
  }

  isNull(name: string): boolean {
    return this.#fields.get(name) === null;
  }

  /** A whole number of 0 to 2^53 − 1. */
  count(name: string): number {
    const value = this.#fields.get(name);
    if (!Number.isSafeInteger(value) || (value as number) < 0) {
      throw new FrameError(`the field ${name} of a handshake is not a whole number from 0 to 2^53 − 1`);
    }
    return value as number;
  }

  /** The id of a member, which is the index of an entry and so at least 1. */
  memberId(name: string): number {
    const value = this.count(name);
    if (value === 0) {
      throw new FrameError(`the field ${name} of a handshake is not an id of 1 or more`);
    }
    return value;
  }

  flag(name: string): boolean {
    const value = this.#fields.get(name);
    if (typeof value !== "boolean") {
      throw new FrameError(`the field ${name} of a handshake is not true or false`);
    }
    return value;
  }

  text(name: string): string {
    const value = this.#fields.get(name);
    if (typeof value !== "string" || value.length > TEXT_LENGTH_MAX) {
      throw new FrameError(`the field ${name} of a handshake is not a text of the allowed length`);
    }
    return value;
  }

  ipAddress(name: string): string {
    const value = this.text(name);
    if (isIP(value) === 0) {
      throw new FrameError(`the field ${name} of a handshake is not an IP address`);
    }
    return value;
  }

  /** 32 lower-case hexadecimal digits. */
  incarnation(name: string): string {
    const value = this.text(name);
    if (!INCARNATION.test(value)) {
      throw new FrameError(`the field ${name} of a handshake is not 32 lower-case hexadecimal digits`);
    }
    return value;
  }

  oneOf<T extends string>(name: string, values: readonly T[]): T {
    const text = this.text(name);
    const value = values.find((one) => one === text);
    if (value === undefined) {
      throw new FrameError(`the field ${name} of a handshake has an unknown value`);
    }
    return value;
  }
}

/** The body with these fields. */
export function encodeJson(fields: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(fields));
}
