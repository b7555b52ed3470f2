/** The form of a bearer token. Whether it is valid only the service can say. */

/** The characters of a bearer token (RFC 6750 §2.1). */
const tokenPattern = /^[A-Za-z0-9._~+/-]+=*$/;

/** Whether a text can be sent as a bearer token. */
export function isToken(text: string): boolean {
  return tokenPattern.test(text);
}
