/** Integers with a prefix (RFC 7541 §5.1): the last bits of an octet, and further octets if they are all ones. */
import { HeaderCompressionError } from "./header-compression-error.ts";

/**
 * Maximum octets of an integer after its prefix, so that it is below 2^28 + 255. A block is far shorter, and table
 * sizes are far smaller.
 */
const CONTINUATION_OCTETS_MAX = 4;

/** Maximum bytes of an integer with its prefix. */
export const INTEGER_BYTES_MAX = 1 + CONTINUATION_OCTETS_MAX;

/** A position in a block. A function that reads something moves it past that. */
export interface Cursor {
  at: number;
}

/**
 * Reads an integer whose prefix is at the cursor.
 *
 * @param prefix the bits of the prefix, all set: 0x7f for 7 bits
 * @param end where the block ends
 * @throws HeaderCompressionError if the block ends within the integer, or if the integer has too many octets.
 */
export function readInteger(block: Uint8Array, cursor: Cursor, end: number, prefix: number): number {
  let at = cursor.at;
  let value = (block[at++] as number) & prefix;
  if (value === prefix) {
    for (let shift = 0; ; shift += 7) {
      if (at >= end) {
        throw new HeaderCompressionError("The block ends within an integer");
      }
      if (shift >= 7 * CONTINUATION_OCTETS_MAX) {
        throw new HeaderCompressionError("An integer has too many octets");
      }
      const octet = block[at++] as number;
      value += (octet & 0x7f) << shift;
      if (octet < 0x80) {
        break;
      }
    }
  }
  cursor.at = at;
  return value;
}

/**
 * Writes an integer below 2^28. Returns where it ends. There must be space for INTEGER_BYTES_MAX.
 *
 * @param prefix the bits of the prefix, all set
 * @param flags the other bits of the first octet
 */
export function writeInteger(value: number, prefix: number, flags: number, bytes: Uint8Array, at: number): number {
  if (value < prefix) {
    bytes[at] = flags | value;
    return at + 1;
  }
  let end = at;
  bytes[end++] = flags | prefix;
  let rest = value - prefix;
  while (rest >= 0x80) {
    bytes[end++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  bytes[end++] = rest;
  return end;
}
