/** Checks the form of e-mail addresses. Only a mail can show whether an address exists. */

import { badField } from "../state/index.ts";

/** RFC 5321 §4.5.3.1.3, without the angle brackets. */
const BYTES_MAX = 254;
/** RFC 5321 §4.5.3.1.1. */
const LOCAL_PART_BYTES_MAX = 64;
const LABEL = "[\\p{L}\\p{N}](?:[\\p{L}\\p{N}-]{0,61}[\\p{L}\\p{N}])?";
/**
 * Quoted local parts and address literals, which are not used in practice, are not allowed. A domain may be one label.
 */
const EMAIL = new RegExp(`^([^\\s@"(),:;<>[\\]\\\\\\p{C}]+)@${LABEL}(?:\\.${LABEL})*$`, "u");

/** Throws BAD_FIELD, naming the field, unless the text is an e-mail address. */
export function requireEmail(email: string, field: string): void {
  const localPart = Buffer.byteLength(email) > BYTES_MAX ? undefined : EMAIL.exec(email)?.[1];
  if (localPart === undefined || Buffer.byteLength(localPart) > LOCAL_PART_BYTES_MAX) {
    throw badField(field, "must be an e-mail address such as ada@example.com");
  }
}
