/** Parses a JSON text of a client, whose structure is bounded, and whose objects have each name once. */

import { beginningOf } from "../../primitives/index.ts";
import { structureOf } from "./json-structure.ts";
import { namesIn, repeatedName } from "./repeated-name.ts";

const decoder = new TextDecoder("utf-8", { fatal: true });

/** Makes an error from a predicate such as "is not valid JSON in UTF-8"; of the whole text if no field is named. */
export type JsonRefusal = (problem: string, field?: string) => Error;

export function parseBounded(bytes: Uint8Array, refusal: JsonRefusal, fieldsMax?: number): unknown {
  const { problem, names } = structureOf(bytes, fieldsMax);
  if (problem !== null) {
    throw refusal(problem);
  }
  const { text, value } = parse(bytes, refusal);
  // Nearly never: then the text is searched for the name.
  const repeated = names === namesIn(value) ? null : repeatedName(text);
  if (repeated !== null) {
    throw refusal("is given twice", beginningOf(repeated));
  }
  return value;
}

function parse(bytes: Uint8Array, refusal: JsonRefusal): { text: string; value: unknown } {
  try {
    const text = decoder.decode(bytes);
    return { text, value: JSON.parse(text) };
  } catch {
    // The parser's own message would contain a part of the text.
    throw refusal("is not valid JSON in UTF-8");
  }
}
