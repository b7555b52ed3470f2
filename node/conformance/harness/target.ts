/** What is tested: the members of one cluster, and tokens for it. */

/** What a token says of itself; the claims are part of the specification. */
export interface Claims {
  readonly sub: string;
  /** Unix time in seconds. */
  readonly exp: number;
  readonly namespaces: readonly string[];
  readonly access: readonly string[];
}

export interface Target {
  /** host:port of each member that is to be asked, at least one. */
  readonly endpoints: readonly string[];
  /** host:port where each of them serves HTTP, in the same order; empty = as the members tell. */
  readonly httpEndpoints: readonly string[];
  /** A token with the access `admin` to all namespaces. */
  readonly token: string;
  /** Tokens of other subjects or fewer rights, or which have expired; checks that need one that is not here are skipped. */
  readonly otherTokens: readonly string[];
  /** Logs of members that write mails there instead of sending them; without any, no other users can be made. */
  readonly mailLogs: readonly string[];
  /** The certificate authority of the members, in PEM; undefined = connections are not encrypted. */
  readonly ca?: Buffer;
  /** Whether the cluster's history of changes may be given up, which ends everybody's old watches. */
  readonly mayCompact: boolean;
}

/** What the token claims; its signature is the service's affair. Raises Error if it is no token. */
export function claimsOf(token: string): Claims {
  const payload = token.split(".")[1];
  try {
    const claims = JSON.parse(Buffer.from(payload ?? "", "base64url").toString("utf8"));
    if (typeof claims.sub === "string" && Array.isArray(claims.namespaces) && Array.isArray(claims.access)) {
      return claims;
    }
  } catch {
    // Said below. The text itself is not shown, for it may be a token after all.
  }
  throw new Error("a token is not a JSON Web Token with the claims sub, namespaces and access");
}

export function hasExpired({ exp }: Claims): boolean {
  return exp * 1000 <= Date.now();
}
