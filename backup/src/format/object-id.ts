/** Ids of objects: random, so that two writers never use the same id. */

import { randomBytes } from "node:crypto";
import { ID_BYTES } from "./header-fields.ts";

/**
 * A new id, for one object: 32 hexadecimal digits.
 *
 * @param random makes this many random bytes
 */
export function newObjectId(random: (count: number) => Uint8Array = randomBytes): string {
  return Buffer.from(random(ID_BYTES)).toString("hex");
}
