/** Two namespaces with keys, so the history of changes has two shares, and one of them may lack what the other keeps. */

import { DEFAULT_NAMESPACE } from "../../src/state/index.ts";

/** The one that clients create. */
export const SECOND_NAMESPACE = "second";
export const NAMESPACES = [DEFAULT_NAMESPACE, SECOND_NAMESPACE] as const;

/** The namespace of a key of a run: every other numbered one is in the second. No two keys have the same name. */
export function namespaceOf(key: string): string {
  return /^key-\d*[13579]$/.test(key) ? SECOND_NAMESPACE : DEFAULT_NAMESPACE;
}
