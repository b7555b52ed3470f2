/** Codes that any member makes and checks: HMAC-SHA-256 with a key that only the members of the cluster have. */

import { createHmac } from "node:crypto";
import { invariant } from "../primitives/index.ts";
import { readPageTokenKey, type StateReader } from "../state/index.ts";

export const MAC_BYTES = 32;

/**
 * Returns the code of these parts. The first names their purpose, so that no code is good for another one. Each part is
 * preceded by its length, so that no two lists of parts have the same bytes. The cluster must be founded.
 */
export function memberMac(reader: StateReader, purpose: string, ...parts: readonly (string | Uint8Array)[]): Buffer {
  const key = readPageTokenKey(reader);
  invariant(key !== undefined, "the cluster is founded");
  const mac = createHmac("sha256", key);
  for (const part of [purpose, ...parts]) {
    const bytes = typeof part === "string" ? Buffer.from(part) : part;
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    mac.update(length).update(bytes);
  }
  return mac.digest();
}
