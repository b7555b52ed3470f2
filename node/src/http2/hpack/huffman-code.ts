/**
 * The Huffman code of RFC 7541, Appendix B. It is canonical: codes of one width are consecutive in the order of their
 * symbols, and the codes of the next width follow them. So the widths define the code.
 */

/** The symbol that ends a text. It is never sent; only its first bits are, as padding (§5.2). */
export const EOS = 256;
/** Bits of the longest code. */
const WIDTH_MAX = 30;

/** Bits of the code of each symbol: of the bytes 0 to 255, and of EOS. */
export const CODE_WIDTHS: Uint8Array = Uint8Array.from([
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28,
  28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
  13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6,
  5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23,
  22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22,
  23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26,
  20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27,
  27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27,
  27, 27, 27, 26, 30,
]);

/** The code of each symbol, in the lowest bits. */
export const CODES = new Int32Array(CODE_WIDTHS.length);

let code = 0;
for (let width = 1; width <= WIDTH_MAX; width++) {
  code *= 2;
  for (const [symbol, symbolWidth] of CODE_WIDTHS.entries()) {
    if (symbolWidth === width) {
      CODES[symbol] = code++;
    }
  }
}
