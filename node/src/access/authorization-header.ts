/**
 * The authorization header: exactly one bearer token (RFC 6750 §2.1), in HTTP headers and in gRPC metadata.
 *
 * Only the form is checked here. The header is a secret: no message repeats any part of it.
 */

import { CoordinationError } from "../state/index.ts";

const SCHEME = "bearer";
/** RFC 6750 §2.1: b64token. */
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;

/**
 * Returns the token, from all values of the header in the request. Throws TOKEN_INVALID unless there is exactly one
 * value with the scheme Bearer (in any case) and exactly one token after one or more spaces.
 */
export function bearerToken(values: readonly string[]): string {
  const [value] = values;
  if (value === undefined) {
    throw invalid('the authorization header is missing: send "authorization: Bearer <token>"');
  }
  if (values.length > 1) {
    throw invalid(`the authorization header is given ${values.length} times: send it once`);
  }
  const space = value.indexOf(" ");
  const scheme = space === -1 ? value : value.slice(0, space);
  if (scheme.toLowerCase() !== SCHEME) {
    throw invalid("the authorization header must use the scheme Bearer");
  }
  const token = value.slice(scheme.length).replace(/^ +/, "");
  if (token === "") {
    throw invalid("the authorization header has no token after Bearer");
  }
  if (!TOKEN.test(token)) {
    throw invalid("the authorization header must contain one token after Bearer, and nothing after it");
  }
  return token;
}

function invalid(message: string): CoordinationError {
  return new CoordinationError("TOKEN_INVALID", message);
}
