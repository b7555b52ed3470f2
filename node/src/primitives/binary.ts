/**
 * Whole numbers in byte arrays, big-endian.
 *
 * Terms, indexes, revisions and times are `number`s up to 2^53 − 1, stored in eight bytes as two halves: BigInt would
 * cost many times more. Reading a stored number above 2^53 − 1 is a violation, because this code never writes one.
 *
 * These functions run many times for each entry. Separate functions build their violations, because a closure for the
 * details would be allocated with every call.
 */

import { InvariantViolation } from "./violation.ts";

const HALF = 0x1_0000_0000;

/** The number in the four bytes at the offset. */
export function readUint32(bytes: Uint8Array, offset: number): number {
  if (offset < 0 || offset + 4 > bytes.length) {
    throw outside("reads stay within their bytes", bytes, offset);
  }
  return (
    ((bytes[offset] as number) * 0x100_0000 +
      ((bytes[offset + 1] as number) << 16) +
      ((bytes[offset + 2] as number) << 8) +
      (bytes[offset + 3] as number)) >>>
    0
  );
}

/** Writes a number of 0 to 2^32 − 1 into the four bytes at the offset. */
export function writeUint32(bytes: Uint8Array, offset: number, value: number): void {
  if (offset < 0 || offset + 4 > bytes.length) {
    throw outside("writes stay within their bytes", bytes, offset);
  }
  if (value >>> 0 !== value) {
    throw new InvariantViolation("32-bit numbers are whole and at most 2^32 − 1", String(value));
  }
  bytes[offset] = value >>> 24;
  bytes[offset + 1] = value >>> 16;
  bytes[offset + 2] = value >>> 8;
  bytes[offset + 3] = value;
}

/** The number in the eight bytes at the offset, at most 2^53 − 1. */
export function readUint53(bytes: Uint8Array, offset: number): number {
  const value = readUint32(bytes, offset) * HALF + readUint32(bytes, offset + 4);
  if (value > Number.MAX_SAFE_INTEGER) {
    throw new InvariantViolation("stored counts are at most 2^53 − 1", `at offset ${offset}`);
  }
  return value;
}

/** Writes a whole number of 0 to 2^53 − 1 into the eight bytes at the offset. */
export function writeUint53(bytes: Uint8Array, offset: number, value: number): void {
  if (!Number.isSafeInteger(value) || value < 0) {
    throw new InvariantViolation("stored counts are whole and at most 2^53 − 1", String(value));
  }
  writeUint32(bytes, offset, Math.floor(value / HALF));
  writeUint32(bytes, offset + 4, value % HALF);
}

function outside(rule: string, bytes: Uint8Array, offset: number): InvariantViolation {
  return new InvariantViolation(rule, `4 bytes at ${offset} of ${bytes.length}`);
}
