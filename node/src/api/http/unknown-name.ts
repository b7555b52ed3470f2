/**
 * Names that a request must not have: a misspelt option must not be ignored, because the client believes that it has
 * an effect.
 */

const NAME_LENGTH_MAX = 100;

/**
 * Says that a name is unknown, and which names are known.
 *
 * @param where what has the names, such as "the query"
 */
export function unknownName(name: string, where: string, known: readonly string[]): string {
  const shown = name.length > NAME_LENGTH_MAX ? `${name.slice(0, NAME_LENGTH_MAX)}...` : name;
  return `${shown} is unknown: ${where} has ${known.length === 0 ? "no names" : known.join(", ")}`;
}
