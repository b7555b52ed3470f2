/**
 * E-mail addresses, checked for what a mail could be sent to at all. Whether anybody reads it, only a mail can tell.
 */

import { CoordinationError } from "../state/index.ts";

/** RFC 5321 §4.5.3.1.3, without the angle brackets. */
const BYTES_MAX = 254;
/** RFC 5321 §4.5.3.1.1. */
const LOCAL_PART_BYTES_MAX = 64;
const LABEL = "[\\p{L}\\p{N}](?:[\\p{L}\\p{N}-]{0,61}[\\p{L}\\p{N}])?";
/** Quoted local parts and address literals, which nobody uses, are left out; a domain may be a single label. */
const EMAIL = new RegExp(`^([^\\s@"(),:;<>[\\]\\\\\\p{C}]+)@${LABEL}(?:\\.${LABEL})*$`, "u");

/** Raises BAD_FIELD, naming the field, unless the text is an e-mail address. */
export function requireEmail(email: string, field: string): void {
  const localPart = Buffer.byteLength(email) > BYTES_MAX ? undefined : EMAIL.exec(email)?.[1];
  if (localPart === undefined || Buffer.byteLength(localPart) > LOCAL_PART_BYTES_MAX) {
    throw new CoordinationError("BAD_FIELD", `${field} must be an e-mail address such as ada@example.com`, {
      details: new Map([["field", field]]),
    });
  }
}
