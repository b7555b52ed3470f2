/** Turns byte arrays into texts by native code: for keys of maps, and for short texts. */

/** Node has this method on each Buffer, and it works on any Uint8Array. The type definitions do not list it. */
const { latin1Slice } = Buffer.prototype as unknown as {
  latin1Slice(this: Uint8Array, from: number, to: number): string;
};

/** A text with one character (U+0000 to U+00FF) for each byte from `from` to `to`. Equal bytes give equal texts. */
export function latin1Of(bytes: Uint8Array, from = 0, to = bytes.length): string {
  return latin1Slice.call(bytes, from, to);
}

/** The text from `from` to `to` if it is all ASCII; else null. Use it for short texts: it reads each byte. */
export function asciiOf(bytes: Uint8Array, from: number, to: number): string | null {
  for (let at = from; at < to; at++) {
    if ((bytes[at] as number) >= 0x80) {
      return null;
    }
  }
  return latin1Slice.call(bytes, from, to);
}
