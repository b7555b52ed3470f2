/** Texts in the Huffman code of RFC 7541 §5.2, to and from bytes. */

import { HeaderCompressionError } from "./header-compression-error.ts";
import {
  CODE_WIDTHS,
  CODES,
  EOS,
  FIRST_CODES,
  FIRST_PLACES,
  SYMBOLS_BY_CODE,
  WIDTH_COUNTS,
  WIDTH_MAX,
} from "./huffman-code.ts";

/** The bits that are looked up at a time. The codes of nearly all characters of a header are not longer. */
const LOOKUP_BITS = 8;
/** By the next 8 bits: the symbol whose code they begin with, times 16, plus the width of this code; 0 = it is longer. */
const LOOKUP = new Uint16Array(1 << LOOKUP_BITS);
for (let symbol = 0; symbol < EOS; symbol++) {
  const width = CODE_WIDTHS[symbol] as number;
  if (width <= LOOKUP_BITS) {
    const first = (CODES[symbol] as number) << (LOOKUP_BITS - width);
    LOOKUP.fill(symbol * 16 + width, first, first + (1 << (LOOKUP_BITS - width)));
  }
}

/** The most bytes that a text of so many encoded bytes has: the shortest code has 5 bits. */
export function decodedBytesMax(encodedBytes: number): number {
  return Math.ceil((encodedBytes * 8) / 5);
}

/**
 * Decodes the bytes from `from` to `to` into `text`, which must have room for `decodedBytesMax`. Returns how many bytes
 * the text has. Raises HeaderCompressionError if there is EOS in it, or if its padding is longer than 7 bits or not the
 * first bits of EOS.
 */
export function decodeHuffman(bytes: Uint8Array, from: number, to: number, text: Uint8Array): number {
  let at = from;
  let length = 0;
  // The lowest `bits` bits of the window are those that were read and are not decoded yet.
  let window = 0;
  let bits = 0;
  for (;;) {
    if (bits < LOOKUP_BITS) {
      if (at < to) {
        window = (window << 8) | (bytes[at++] as number);
        bits += 8;
      } else {
        // Ones take the place of the bits that are missing.
        const entry = LOOKUP[((window << (LOOKUP_BITS - bits)) | (0xff >> bits)) & 0xff] as number;
        const width = entry & 15;
        if (entry === 0 || width > bits) {
          break;
        }
        text[length++] = entry >> 4;
        bits -= width;
        continue;
      }
    }
    const entry = LOOKUP[(window >> (bits - LOOKUP_BITS)) & 0xff] as number;
    if (entry !== 0) {
      text[length++] = entry >> 4;
      bits -= entry & 15;
      continue;
    }
    // A longer code: bit by bit, until it is below the end of the codes of its width.
    bits -= LOOKUP_BITS;
    let code = (window >> bits) & 0xff;
    let width = LOOKUP_BITS;
    let place = WIDTH_MAX;
    do {
      if (bits === 0) {
        if (at === to) {
          throw new HeaderCompressionError("A Huffman code is cut off, or its padding has more than 7 bits");
        }
        window = bytes[at++] as number;
        bits = 8;
      }
      bits--;
      code = (code << 1) | ((window >> bits) & 1);
      width++;
      place = code - (FIRST_CODES[width] as number);
    } while (place >= (WIDTH_COUNTS[width] as number));
    const symbol = SYMBOLS_BY_CODE[(FIRST_PLACES[width] as number) + place] as number;
    if (symbol === EOS) {
      throw new HeaderCompressionError("A Huffman-coded text contains EOS");
    }
    text[length++] = symbol;
  }
  const padding = (1 << bits) - 1;
  if ((window & padding) !== padding) {
    throw new HeaderCompressionError("The padding of a Huffman-coded text is not that of EOS");
  }
  return length;
}

/** How many bytes the text has in Huffman code. Its characters are latin-1. */
export function huffmanBytesOf(text: string): number {
  let bits = 0;
  for (let at = 0; at < text.length; at++) {
    bits += CODE_WIDTHS[text.charCodeAt(at)] as number;
  }
  return Math.ceil(bits / 8);
}

/** Writes the text in Huffman code; returns where it ends. There must be room for `huffmanBytesOf`. */
export function encodeHuffman(text: string, bytes: Uint8Array, at: number): number {
  let end = at;
  // The lowest `bits` bits of the window are not written yet: fewer than 8 between two characters.
  let window = 0;
  let bits = 0;
  for (let next = 0; next < text.length; next++) {
    const symbol = text.charCodeAt(next);
    let code = CODES[symbol] as number;
    let width = CODE_WIDTHS[symbol] as number;
    if (width > 16) {
      // In two parts: 7 bits and a whole code of 30 would not fit into the 32 bits of the window.
      window = (window << (width - 16)) | (code >> 16);
      bits += width - 16;
      while (bits >= 8) {
        bits -= 8;
        bytes[end++] = window >> bits;
      }
      code &= 0xffff;
      width = 16;
    }
    window = (window << width) | code;
    bits += width;
    while (bits >= 8) {
      bits -= 8;
      bytes[end++] = window >> bits;
    }
  }
  if (bits > 0) {
    bytes[end++] = (window << (8 - bits)) | (0xff >> bits);
  }
  return end;
}
