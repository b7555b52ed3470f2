/** Bytes as a hex dump, and hexadecimal text as bytes. */

/** A line of a dump. */
export interface HexLine {
  /** Offset of its first byte, as eight hexadecimal digits. */
  readonly offset: string;
  /** Two digits for each byte. */
  readonly bytes: readonly string[];
  /** Printable ASCII characters; a dot for any other byte. */
  readonly text: string;
}

export const HEX_LINE_BYTES = 16;
const OFFSET_DIGITS = 8;
const HEX = 16;
const [SPACE, TILDE] = [0x20, 0x7e];

/** Two hexadecimal digits for each byte. */
export function hexOfBytes(bytes: Uint8Array): string {
  return Array.from(bytes, hexOfByte).join("");
}

/** Returns the lines of a dump. `startsAt` is the offset of the first byte; a multiple of 16 keeps lines aligned. */
export function hexLines(bytes: Uint8Array, startsAt = 0): HexLine[] {
  const lines: HexLine[] = [];
  for (let at = 0; at < bytes.length; at += HEX_LINE_BYTES) {
    const part = bytes.subarray(at, at + HEX_LINE_BYTES);
    lines.push({
      offset: (startsAt + at).toString(HEX).padStart(OFFSET_DIGITS, "0"),
      bytes: Array.from(part, hexOfByte),
      text: Array.from(part, (byte) => (byte >= SPACE && byte <= TILDE ? String.fromCharCode(byte) : ".")).join(""),
    });
  }
  return lines;
}

/** Returns the bytes of hexadecimal digits, with or without spaces between them; null for any other text. */
export function bytesOfHex(text: string): Uint8Array | null {
  const digits = text.replaceAll(/\s/g, "");
  if (digits.length % 2 !== 0 || !/^[0-9a-f]*$/i.test(digits)) {
    return null;
  }
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, HEX));
}

function hexOfByte(byte: number): string {
  return byte.toString(HEX).padStart(2, "0");
}
