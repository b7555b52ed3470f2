/**
 * Finds a name that an object of a JSON text has twice. The parser keeps only the last of its values, so a client would
 * not learn that the others had no effect.
 */

/** A string, with the colon behind it if it is a name, or a bracket. */
const TOKEN = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[[\]{}]/g;

/** An object or an array of the text that has not ended. */
interface Open {
  readonly names: Set<string>;
  /** The last name; null in an array. */
  name: string | null;
}

/** The number of names in all objects of a value that a JSON parser made. */
export function namesIn(value: unknown): number {
  if (typeof value !== "object" || value === null) {
    return 0;
  }
  const inner = Object.values(value);
  return inner.reduce((count, each) => count + namesIn(each), Array.isArray(value) ? 0 : inner.length);
}

/** The first repeated name with the names above it, such as `guard.lockName`; null = there is none. */
export function repeatedName(json: string): string | null {
  const open: Open[] = [];
  for (const [token, string, colon] of json.matchAll(TOKEN)) {
    if (token === "{" || token === "[") {
      open.push({ names: new Set(), name: null });
    } else if (token === "}" || token === "]") {
      open.pop();
    }
    const place = open.at(-1);
    if (string === undefined || colon === undefined || place === undefined) {
      continue;
    }
    place.name = JSON.parse(string) as string;
    if (place.names.has(place.name)) {
      return open.flatMap(({ name }) => name ?? []).join(".");
    }
    place.names.add(place.name);
  }
  return null;
}
