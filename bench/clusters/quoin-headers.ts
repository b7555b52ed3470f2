/** What every call of ours carries. */

import { randomUUID } from "node:crypto";

/** Everything that is measured is in the namespace that a new cluster has. */
export const NAMESPACE = "default";

/** Metadata for one call. It has an id of its own: a repeated one would be answered from memory, without being done. */
export function quoinHeaders(token: string) {
  return { authorization: `Bearer ${token}`, "api-version": "v1", "request-id": randomUUID() } as const;
}
