/**
 * Names that a request must not have: a misspelt option must not be ignored, because the client believes that it has
 * an effect.
 */

import { beginningOf } from "../../primitives/index.ts";

/**
 * Says that a name is unknown, and which names are known, if there are any.
 *
 * @param where what has the names, such as "the query"
 */
export function unknownName(name: string, where: string, known: readonly string[]): string {
  const shown = `${beginningOf(name)} is unknown`;
  return known.length === 0 ? shown : `${shown}: ${where} has ${known.join(", ")}`;
}
