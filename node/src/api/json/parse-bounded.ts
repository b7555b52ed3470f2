/** Parses a JSON text of a client, whose structure is bounded. */

import { structureProblem } from "./json-structure.ts";

const decoder = new TextDecoder("utf-8", { fatal: true });

/** @param refusal makes the error that this throws from a predicate, such as "is not valid JSON in UTF-8" */
export function parseBounded(bytes: Uint8Array, refusal: (problem: string) => Error): unknown {
  const problem = structureProblem(bytes);
  if (problem !== null) {
    throw refusal(problem);
  }
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch {
    // The parser's own message would contain a part of the text.
    throw refusal("is not valid JSON in UTF-8");
  }
}
