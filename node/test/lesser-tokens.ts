/**
 * Tokens that allow less than the one that they are made of, signed with the cluster's own key, for tests of access at
 * real members: a cluster whose only user is its owner gives out no such tokens.
 */

import { createPrivateKey, sign } from "node:crypto";
import { invariant } from "../src/raft/index.ts";
import { readSigningKeys } from "../src/state/index.ts";
import { openDataDirectory } from "../src/storage/index.ts";

/** What a token may be used for at most, as its claims say it. */
export interface Scope {
  readonly namespaces: readonly string[];
  readonly access: readonly string[];
}

/**
 * A token for each scope, which is in everything else the given one.
 *
 * @param member the data directory of a member that does not run, its name, and the name of its cluster.
 */
export async function lesserTokens(
  member: { readonly directory: string; readonly name: string; readonly clusterName: string },
  token: string,
  scopes: readonly Scope[],
): Promise<string[]> {
  const [header = "", payload = ""] = token.split(".");
  const { kid } = parse(header);
  const claims = parse(payload);
  const fail = (error: Error): never => {
    throw error;
  };
  const opened = await openDataDirectory({ ...member, acceptMissingFence: false, onFatal: fail });
  invariant(opened.phase === "member", "the directory is that of a member");
  const key = readSigningKeys(opened.data.state).find((known) => known.kid === kid);
  await opened.data.close();
  invariant(key !== undefined, "the token was signed by this cluster");
  const jwk = { kty: "OKP", crv: "Ed25519", x: base64url(key.publicKey), d: base64url(key.privateKey) };
  const privateKey = createPrivateKey({ key: jwk, format: "jwk" });
  return scopes.map((scope) => {
    const body = Buffer.from(JSON.stringify({ ...claims, ...scope })).toString("base64url");
    const signature = sign(null, Buffer.from(`${header}.${body}`), privateKey).toString("base64url");
    return `${header}.${body}.${signature}`;
  });
}

function parse(part: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
}

function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64url");
}
