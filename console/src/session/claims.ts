/** What the console reads from an access token: who it is for. The member verifies tokens; the console only shows them. */

import { bytesOfBase64, textOfBytes } from "../text/index.ts";

/** The claims that the console shows. */
export interface TokenClaims {
  /** Id of the user. */
  readonly subject: string;
  readonly role: string;
  readonly namespaces: readonly string[];
  /** When the token expires, Unix time in milliseconds. */
  readonly expiresAtMs: number;
}

const SECOND_MS = 1_000;

/** Returns the claims of a JWT. Throws an Error for any other text. */
export function claimsOf(token: string): TokenClaims {
  const payload = (token.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/");
  const text = textOfBytes(bytesOfBase64(payload.padEnd(Math.ceil(payload.length / 4) * 4, "=")));
  const { sub, role, namespaces, exp } = JSON.parse(text ?? "null");
  return {
    subject: String(sub),
    role: String(role),
    namespaces: Array.isArray(namespaces) ? namespaces.map(String) : [],
    expiresAtMs: Number(exp) * SECOND_MS,
  };
}
