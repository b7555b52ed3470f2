/**
 * Names that a request must not have: a misspelt option must not be ignored, because the client believes that it has
 * an effect.
 */

import { beginningOf } from "../../primitives/index.ts";

/**
 * Says that a name is unknown, and which names are known.
 *
 * @param where what has the names, such as "the query"
 */
export function unknownName(name: string, where: string, known: readonly string[]): string {
  return `${beginningOf(name)} is unknown: ${where} has ${known.length === 0 ? "no names" : known.join(", ")}`;
}
