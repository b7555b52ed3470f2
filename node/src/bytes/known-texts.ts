/**
 * A cache of short texts that occur often in bytes. It makes each text once and finds it by its bytes afterwards.
 *
 * Making a text allocates memory, and a Map must hash a new text before a look-up. A cached text costs neither. The
 * cache compares all bytes before it returns a text, so it never changes a result.
 */

import { asciiOf } from "./latin1.ts";

/** Texts in the cache at most. A text replaces the one that has the same place. */
const SLOTS = 1_024;
/** Bytes at the end of a text that its place depends on. They differ between ids and between numbered names. */
const HASHED_BYTES = 6;

export class KnownTexts {
  readonly #texts: string[] = new Array<string>(SLOTS).fill("");

  /** The text from `from` to `to` if it is all ASCII; else null. Use it for short texts: it reads each byte. */
  at(bytes: Uint8Array, from: number, to: number): string | null {
    const slot = slotOf(bytes, from, to);
    const known = this.#texts[slot] as string;
    if (isTextOf(known, bytes, from, to)) {
      return known;
    }
    const text = asciiOf(bytes, from, to);
    if (text !== null) {
      this.#texts[slot] = text;
    }
    return text;
  }
}

function slotOf(bytes: Uint8Array, from: number, to: number): number {
  let hash = to - from;
  for (let at = Math.max(from, to - HASHED_BYTES); at < to; at++) {
    hash = Math.imul(hash ^ (bytes[at] as number), 0x0100_0193);
  }
  return (hash ^ (hash >>> 15)) & (SLOTS - 1);
}

/** Whether the ASCII text consists of these bytes. */
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
