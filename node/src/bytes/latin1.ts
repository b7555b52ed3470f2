/** Byte arrays as texts by native code: for keys of maps, and for short texts. */

/** Node has it on each Buffer, and it takes any Uint8Array; its types leave it out. */
const { latin1Slice } = Buffer.prototype as unknown as {
  latin1Slice(this: Uint8Array, from: number, to: number): string;
};

/** A text with one character for each byte from `from` to `to`, from U+0000 to U+00FF: equal bytes make equal texts. */
export function latin1Of(bytes: Uint8Array, from = 0, to = bytes.length): string {
  return latin1Slice.call(bytes, from, to);
}

/** The text from `from` to `to`, if it has nothing but ASCII; else null. Made for short texts: it looks at each byte. */
export function asciiOf(bytes: Uint8Array, from: number, to: number): string | null {
  for (let at = from; at < to; at++) {
    if ((bytes[at] as number) >= 0x80) {
      return null;
    }
  }
  return latin1Slice.call(bytes, from, to);
}
