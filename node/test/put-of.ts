/** The operation that puts a value, with fields that a spec need not say. */

import type { ClientOperation } from "../src/state/index.ts";

type PutKey = Extract<ClientOperation, { readonly kind: "put-key" }>;

export function putOf(key: string | Uint8Array, value: string | Uint8Array, changes: Partial<PutKey> = {}): PutKey {
  return {
    kind: "put-key",
    namespace: "default",
    key: Buffer.from(key),
    value: Buffer.from(value),
    ttlSeconds: 0,
    expectedModRevision: undefined,
    returnPrevious: false,
    ...changes,
  };
}
