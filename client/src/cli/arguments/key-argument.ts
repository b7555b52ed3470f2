/** The argument NAMESPACE/KEY. It is split at the first slash: a namespace has none, and a key may have more. */

import { UsageError } from "../errors/index.ts";

/** A key in its namespace. */
export interface KeyArgument {
  readonly namespace: string;
  readonly key: string;
}

/** @throws UsageError unless there is a namespace and a key. */
export function parseKeyArgument(text: string): KeyArgument {
  const { namespace, name } = parseNameArgument(text, "key", "KEY");
  return { namespace, key: name };
}

/** @throws UsageError unless it is a namespace alone. */
export function parseNamespaceArgument(text: string): string {
  if (text === "" || text.includes("/")) {
    throw new UsageError(`give a namespace alone, not ${JSON.stringify(text)}`);
  }
  return text;
}

/**
 * The argument NAMESPACE/NAME of an object in a namespace.
 *
 * @param what the kind of the object, for the error.
 * @param form the word for its name in the usage.
 * @throws UsageError unless there is a namespace and a name.
 */
export function parseNameArgument(
  text: string,
  what: string,
  form: string,
): { readonly namespace: string; readonly name: string } {
  const { namespace, rest: name } = splitArgument(text);
  if (name === "") {
    throw new UsageError(`give the ${what} as NAMESPACE/${form}, not ${JSON.stringify(text)}`);
  }
  return { namespace, name };
}

/**
 * The argument NAMESPACE[/PREFIX]. An asterisk at the end may stand for the rest of the names; `\*` is an asterisk.
 *
 * @throws UsageError unless there is a namespace.
 */
export function parsePrefixArgument(text: string): { readonly namespace: string; readonly prefix: string } {
  const { namespace, name, prefix } = parsePatternArgument(text);
  return { namespace, prefix: prefix ?? name };
}

/** One name in a namespace, or all names with a prefix. */
export type NamePattern =
  | { readonly namespace: string; readonly name: string; readonly prefix?: undefined }
  | { readonly namespace: string; readonly name?: undefined; readonly prefix: string };

/**
 * The argument NAMESPACE[/NAME]: without a name it means all names, and a name that ends with an asterisk is a prefix;
 * `\*` at the end is an asterisk.
 *
 * @throws UsageError unless there is a namespace.
 */
export function parsePatternArgument(text: string): NamePattern {
  const { namespace, rest } = splitArgument(text);
  if (rest === "") {
    return { namespace, prefix: "" };
  }
  if (rest.endsWith("\\*")) {
    return { namespace, name: `${rest.slice(0, -2)}*` };
  }
  return rest.endsWith("*") ? { namespace, prefix: rest.slice(0, -1) } : { namespace, name: rest };
}

function splitArgument(text: string): { readonly namespace: string; readonly rest: string } {
  const slash = text.indexOf("/");
  const namespace = slash < 0 ? text : text.slice(0, slash);
  if (namespace === "") {
    throw new UsageError(`give a namespace first, as in NAMESPACE/KEY, not ${JSON.stringify(text)}`);
  }
  return { namespace, rest: slash < 0 ? "" : text.slice(slash + 1) };
}
