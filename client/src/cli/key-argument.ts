/** The argument NAMESPACE/KEY. It is split at the first slash: a namespace has none, and a key may have more. */

import { UsageError } from "./usage-error.ts";

/** A key in its namespace. */
export interface KeyArgument {
  readonly namespace: string;
  readonly key: string;
}

/** @throws UsageError unless there is a namespace and a key. */
export function parseKeyArgument(text: string): KeyArgument {
  const { namespace, prefix: key } = parsePrefixArgument(text);
  if (key === "") throw new UsageError(`give the key as NAMESPACE/KEY, not ${JSON.stringify(text)}`);
  return { namespace, key };
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
