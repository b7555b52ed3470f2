/** Addresses of views, in the fragment of the page's address: they work below any path, and no server sees them. */

/** A view: its page, what it shows, and how. */
export interface Route {
  /** Name of the page, such as `keys`; empty = the first page. */
  readonly page: string;
  /** What it shows, such as a namespace; any text that is not empty. */
  readonly path: readonly string[];
  /** How it shows that. A parameter without a value is left out. */
  readonly query: ReadonlyMap<string, string>;
}

/** Returns the route of a fragment such as `#/keys/default?prefix=a%2F`. A part that cannot be decoded stays encoded. */
export function parseRoute(fragment: string): Route {
  const [path = "", query = ""] = splitOnce(fragment.replace(/^#?\/?/, ""), "?");
  const [page = "", ...rest] = path.split("/");
  const parts = rest.filter((part) => part !== "");
  return { page: decoded(page), path: parts.map(decoded), query: new Map(new URLSearchParams(query)) };
}

/** Returns the fragment of a route. */
export function formatRoute(page: string, path: readonly string[] = [], query: Readonly<Record<string, string>> = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== "");
  const search = given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
  return `#/${[page, ...path].map(encodeURIComponent).join("/")}${search}`;
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
