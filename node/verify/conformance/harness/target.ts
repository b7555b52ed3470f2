/** The target of a run: the members of one cluster, and tokens for it. */

/** The claims of a token, which are part of the specification. */
export interface Claims {
  readonly sub: string;
  /** Unix time in seconds. */
  readonly exp: number;
  readonly namespaces: readonly string[];
  readonly access: readonly string[];
}

export interface Target {
  /** host:port of each member to test, at least one. */
  readonly endpoints: readonly string[];
  /** host:port where each of them serves HTTP, in the same order; empty = as the members report. */
  readonly httpEndpoints: readonly string[];
  /** A token with the access `admin` to all namespaces. */
  readonly token: string;
  /** Tokens of other subjects, with fewer rights, or expired. Entries that need a missing one are skipped. */
  readonly otherTokens: readonly string[];
  /** Logs of members that log mails instead of sending them; without any, no other users can be created. */
  readonly mailLogs: readonly string[];
  /** The certificate authority of the members, in PEM; undefined = connections are not encrypted. */
  readonly ca?: Buffer;
  /** Whether the run may drop the cluster's history of changes, which ends the old watches of all clients. */
  readonly mayCompact: boolean;
}

/** The claims of the token. Does not check the signature. Raises Error if it is not a token. */
export function claimsOf(token: string): Claims {
  const payload = token.split(".")[1];
  try {
    const claims = JSON.parse(Buffer.from(payload ?? "", "base64url").toString("utf8"));
    if (typeof claims.sub === "string" && Array.isArray(claims.namespaces) && Array.isArray(claims.access)) {
      return claims;
    }
  } catch {
    // Raised below. The message does not show the text, because it may be a secret.
  }
  throw new Error("a token is not a JSON Web Token with the claims sub, namespaces and access");
}

export function hasExpired({ exp }: Claims): boolean {
  return exp * 1000 <= Date.now();
}
