/** Ids of objects: random, so that two writers never mean the same one. */

import { randomBytes } from "node:crypto";
import { ID_BYTES } from "./header-fields.ts";

/** A new id, for one object: 32 hexadecimal digits. */
export function newObjectId(): string {
  return randomBytes(ID_BYTES).toString("hex");
}
