/**
 * Bounds the structure of a JSON text before it is parsed: a text of a few megabytes could otherwise make millions of
 * values, and hold the process for a second. It looks at no syntax: that is what the parser does.
 */

/** Levels of objects and arrays. Messages of the contract have three. */
const DEPTH_MAX = 32;
/** Names and values together, with the commas between them: 10,000 texts in a list are 20,000. */
const FIELDS_MAX = 20_000;
/** Values beyond that: what surrounds the list. */
const SPARE_VALUES = 1_000;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

export interface JsonStructure {
  /** What the text has too much of, as a predicate; null = nothing. */
  readonly problem: string | null;
  /** The number of names in all objects, if the text is JSON, and has not too much of anything. */
  readonly names: number;
}

export function structureOf(bytes: Uint8Array, fieldsMax = FIELDS_MAX): JsonStructure {
  const valuesMax = fieldsMax + SPARE_VALUES;
  let depth = 0;
  let values = 0;
  let names = 0;
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
      case COLON:
        names++;
        break;
      default:
    }
    if (depth > DEPTH_MAX) {
      return { problem: `must not be nested deeper than ${DEPTH_MAX} levels`, names };
    }
    if (values > valuesMax) {
      return { problem: `must have at most ${valuesMax} names and values`, names };
    }
  }
  return { problem: null, names };
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
