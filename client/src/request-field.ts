/**
 * Converts values of the SDK to those of the wire, with checks: a value that the wire cannot represent exactly is
 * refused with the name of the field, never rounded or replaced. The service checks its own further limits.
 */

import { QuoinError } from "./quoin-error.ts";

const int32Max = 2 ** 31 - 1;
const int32Min = -(2 ** 31);
const utf8 = new TextEncoder();

/** The error of an argument that never reaches a member: INVALID_ARGUMENT / BAD_FIELD, not executed. */
export function badField(field: string, problem: string): QuoinError {
  return new QuoinError({
    code: "INVALID_ARGUMENT",
    reason: "BAD_FIELD",
    outcome: "not-executed",
    message: `${field} ${problem}`,
    details: new Map([["field", field]]),
  });
}

/**
 * A string field. Lone surrogates are refused (rule S16): UTF-8 cannot represent them, and encoders replace them by
 * U+FFFD, so that two different keys would become one.
 */
export function textField(field: string, text: string): string {
  if (!text.isWellFormed()) throw badField(field, "has a lone surrogate, which UTF-8 cannot carry");
  return text;
}

/** A bytes field: bytes unchanged, text as its UTF-8 form. Lone surrogates are refused as in textField. */
export function bytesField(field: string, value: string | Uint8Array): Uint8Array {
  return typeof value === "string" ? utf8.encode(textField(field, value)) : value;
}

/** An int64 field: a whole number within ±(2^53 − 1) (rule S17). */
export function int64Field(field: string, count: number): bigint {
  if (!Number.isSafeInteger(count)) throw badField(field, `must be a whole number within ±(2^53 - 1), not ${count}`);
  return BigInt(count);
}

/** An int32 field: a whole number of 32 bits. */
export function int32Field(field: string, count: number): number {
  if (!Number.isInteger(count) || count < int32Min || count > int32Max) {
    throw badField(field, `must be a whole number of 32 bits, not ${count}`);
  }
  return count;
}
