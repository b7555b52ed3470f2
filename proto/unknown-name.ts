/**
 * Names that a request must not have: a misspelt option must not be ignored, because the client believes that it has
 * an effect.
 */

import { nearestName } from "./nearest-name.ts";

/**
 * Says of a name, as a predicate, that it is unknown, and which name it most likely means. If none is near, it says
 * which names are known, if there are any.
 *
 * @param where what has the names, such as "the query"
 */
export function unknownName(name: string, where: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  const hint = known.length === 0 ? "" : `: ${where} has ${known.join(", ")}`;
  return `is unknown${nearest === undefined ? hint : `; did you mean ${nearest}?`}`;
}
