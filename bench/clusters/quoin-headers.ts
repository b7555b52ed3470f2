/** The headers of every call to Quoin. */

import { randomUUID } from "node:crypto";

/** Everything measured is in the namespace that a new cluster has. */
export const NAMESPACE = "default";

/** Metadata for one call, with its own request id: a repeated id would be answered from memory, without execution. */
export function quoinHeaders(token: string) {
  return { authorization: `Bearer ${token}`, "api-version": "v1", "request-id": randomUUID() } as const;
}
