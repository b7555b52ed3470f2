/** The argument NAMESPACE/KEY. It is split at the first slash: a namespace has none, and a key may have more. */

import { UsageError } from "./usage-error.ts";

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
  const { namespace, prefix: name } = parsePrefixArgument(text);
  if (name === "") throw new UsageError(`give the ${what} as NAMESPACE/${form}, not ${JSON.stringify(text)}`);
  return { namespace, name };
}

/**
 * The argument NAMESPACE[/PREFIX].
 *
 * @throws UsageError unless there is a namespace.
 */
export function parsePrefixArgument(text: string): { readonly namespace: string; readonly prefix: string } {
  const slash = text.indexOf("/");
  const namespace = slash < 0 ? text : text.slice(0, slash);
  if (namespace === "")
    throw new UsageError(`give a namespace first, as in NAMESPACE/KEY, not ${JSON.stringify(text)}`);
  return { namespace, prefix: slash < 0 ? "" : text.slice(slash + 1) };
}
