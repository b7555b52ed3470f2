/**
 * Converts values of the SDK to those of the wire, with checks: a value that the wire cannot represent exactly is
 * refused with the name of the field, never rounded or replaced. The service checks its own further limits.
 */

import { parseInstant } from "@quoin/proto";
import { QuoinError } from "../errors/index.ts";

const INT32_MAX = 2 ** 31 - 1;
const INT32_MIN = -(2 ** 31);
/** The longest timer of Node; a longer deadline would end at once. */
const TIMEOUT_MS_MAX = 2 ** 31 - 1;
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
export function textField(field: string, text: unknown): string {
  if (typeof text !== "string") {
    throw badField(field, `must be a string, not ${kindOf(text)}`);
  }
  if (!text.isWellFormed()) {
    throw badField(field, "has a lone surrogate, which UTF-8 cannot carry");
  }
  return text;
}

/** A bytes field: bytes unchanged, text as its UTF-8 form. Lone surrogates are refused as in textField. */
export function bytesField(field: string, value: unknown): Uint8Array {
  if (typeof value === "string") {
    return utf8.encode(textField(field, value));
  }
  if (value instanceof Uint8Array) {
    return value;
  }
  throw badField(field, `must be a string or a Uint8Array, not ${kindOf(value)}`);
}

/** A whole number within ±(2^53 − 1) (rule S17). */
export function wholeNumber(field: string, count: unknown): number {
  if (typeof count === "number" && Number.isSafeInteger(count)) {
    return count;
  }
  throw badField(field, `must be a whole number within ±(2^53 - 1), not ${numberOrKind(count)}`);
}

/** An int64 field: a whole number within ±(2^53 − 1) (rule S17). */
export function int64Field(field: string, count: unknown): bigint {
  return BigInt(wholeNumber(field, count));
}

/** An int32 field: a whole number of 32 bits. */
export function int32Field(field: string, count: unknown): number {
  const isFit = typeof count === "number" && Number.isInteger(count) && count >= INT32_MIN && count <= INT32_MAX;
  if (!isFit) {
    throw badField(field, `must be a whole number of 32 bits, not ${numberOrKind(count)}`);
  }
  return count;
}

/** An int32 or int64 field whose value 0 means the default on the wire: 1 or more; undefined = the default. */
export function positiveField(field: string, count: number | undefined): number {
  if (count !== undefined && int32Field(field, count) < 1) {
    throw badField(field, `must be 1 or more, not ${count}`);
  }
  return count ?? 0;
}

/** An instant in Unix time, in milliseconds, after 1970 began: 0 means the default on the wire. */
export function instantField(field: string, instant: unknown): bigint {
  if (!(instant instanceof Date) && typeof instant !== "string") {
    throw badField(field, `must be a Date or a string, not ${kindOf(instant)}`);
  }
  const timeMs = typeof instant === "string" ? parseInstant(instant) : instant.getTime();
  if (!(timeMs > 0)) {
    throw badField(field, "must be a date or a time in ISO 8601 after 1970 began, such as 2030-01-31T12:00:00Z");
  }
  return BigInt(timeMs);
}

/** A time limit in milliseconds, within the range of timers. */
export function timeoutField(field: string, timeoutMs: unknown): number {
  if (typeof timeoutMs === "number" && timeoutMs > 0 && timeoutMs <= TIMEOUT_MS_MAX) {
    return timeoutMs;
  }
  throw badField(
    field,
    `must be more than 0 and at most ${TIMEOUT_MS_MAX} milliseconds, not ${numberOrKind(timeoutMs)}`,
  );
}

/** The kind of a value, for errors. They never quote a value, which may be secret. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) {
    return String(value);
  }
  if (Array.isArray(value)) {
    return "an array";
  }
  if (typeof value === "object") {
    return "an object";
  }
  return `a ${typeof value}`;
}

function numberOrKind(value: unknown): string {
  return typeof value === "number" ? String(value) : kindOf(value);
}
