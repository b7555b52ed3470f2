/** The form of a bearer token. Only the service can decide whether it is valid. */

/** The characters of a bearer token (RFC 6750 §2.1). */
const TOKEN_PATTERN = /^[A-Za-z0-9._~+/-]+=*$/;

/** Whether a text can be sent as a bearer token. */
export function isToken(text: string): boolean {
  return TOKEN_PATTERN.test(text);
}
