/**
 * Bounds the structure of a JSON text before it is parsed: a text of a few megabytes could otherwise make millions of
 * values, and hold the process for a second. It looks at no syntax: that is what the parser does.
 */

/** Levels of objects and arrays. Messages of the contract have three. */
const DEPTH_MAX = 32;
/** Names and values together. */
const VALUES_MAX = 20_000;
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** What the text has too much of, as a predicate; null = nothing. */
export function structureProblem(bytes: Uint8Array): string | null {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]) {
      case QUOTE:
        at = endOfString(bytes, at + 1);
        values++;
        break;
      case OPEN_ARRAY:
      case OPEN_OBJECT:
        depth++;
        values++;
        break;
      case CLOSE_ARRAY:
      case CLOSE_OBJECT:
        depth--;
        break;
      case COMMA:
        values++;
        break;
      default:
    }
    if (depth > DEPTH_MAX) {
      return `must not be nested deeper than ${DEPTH_MAX} levels`;
    }
    if (values > VALUES_MAX) {
      return `must have at most ${VALUES_MAX} names and values`;
    }
  }
  return null;
}

/** The place of the quotation mark that ends a string; the end of the text if there is none. */
function endOfString(bytes: Uint8Array, from: number): number {
  const next = bytes.indexOf(QUOTE, from);
  if (next < 0 || bytes[next - 1] !== BACKSLASH) {
    // Nearly always: most strings are base64, and may be megabytes long.
    return next < 0 ? bytes.length : next;
  }
  let at = from;
  while (at < bytes.length && bytes[at] !== QUOTE) {
    at += bytes[at] === BACKSLASH ? 2 : 1;
  }
  return at;
}
