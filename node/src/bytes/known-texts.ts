/**
 * Texts that come again and again in bytes: each is made once, and found by its bytes from then on.
 *
 * To make a text allocates it, and a map that is asked for a new text has to hash it first. A text that is remembered
 * costs neither. A text is given out only after all of its bytes were compared, so what is remembered changes nothing.
 */

import { asciiOf } from "./latin1.ts";

/** Texts that are remembered at most; one that falls to the place of another one takes it. */
const PLACES = 1_024;
/** The last bytes of a text, which tell ids and numbered names apart. */
const TOLD_APART_BY = 6;

export class KnownTexts {
  readonly #texts: string[] = new Array<string>(PLACES).fill("");

  /** The text from `from` to `to`, if it has nothing but ASCII; else null. Made for short texts: it looks at each byte. */
  at(bytes: Uint8Array, from: number, to: number): string | null {
    const place = placeOf(bytes, from, to);
    const known = this.#texts[place] as string;
    if (isTextOf(known, bytes, from, to)) {
      return known;
    }
    const text = asciiOf(bytes, from, to);
    if (text !== null) {
      this.#texts[place] = text;
    }
    return text;
  }
}

function placeOf(bytes: Uint8Array, from: number, to: number): number {
  let hash = to - from;
  for (let at = Math.max(from, to - TOLD_APART_BY); at < to; at++) {
    hash = Math.imul(hash ^ (bytes[at] as number), 0x0100_0193);
  }
  return (hash ^ (hash >>> 15)) & (PLACES - 1);
}

/** Whether the text, which is ASCII, has these bytes. */
function isTextOf(text: string, bytes: Uint8Array, from: number, to: number): boolean {
  if (text.length !== to - from) {
    return false;
  }
  for (let at = from; at < to; at++) {
    if (text.charCodeAt(at - from) !== bytes[at]) {
      return false;
    }
  }
  return true;
}
