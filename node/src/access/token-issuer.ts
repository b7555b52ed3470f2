/**
 * Issues tokens: signed with the newest key of the ring, with the present record of the user, and never longer than a
 * signing key is kept.
 */

import { randomUUID } from "node:crypto";
import { invariant } from "../primitives/index.ts";
import type { Clock } from "../replica/index.ts";
import { readCluster, readSigningKeys, roleAccess, type StateReader, settingOf, type User } from "../state/index.ts";
import { LIFETIME_SECS_MAX } from "./claims.ts";
import type { SigningRing } from "./signing-ring.ts";
import { signToken } from "./token.ts";

export interface IssuedToken {
  readonly accessToken: string;
  /** The real lifetime from now, in whole seconds, whatever the request. */
  readonly expiresInSecs: number;
}

export interface TokenRequest {
  readonly user: User;
  /** The API key for which the token is issued; "" for a login. */
  readonly apiKeyId: string;
  /** Wall clock in milliseconds at which the key expires; 0 = never. */
  readonly keyExpiresAtMs: number;
  /** The requested lifetime, at least 1; null = the setting token.lifetime_secs. */
  readonly expiresInSecs: number | null;
}

const MS_PER_SECOND = 1000;

/** Resolves to a token for the user; null if it would have expired already. The cluster must be founded. */
export async function issueToken(
  state: StateReader,
  ring: SigningRing,
  clock: Clock,
  { user, apiKeyId, keyExpiresAtMs, expiresInSecs }: TokenRequest,
): Promise<IssuedToken | null> {
  const issuedAtSecs = Math.floor(clock.wallMs() / MS_PER_SECOND);
  const keyExpiresAtSecs = keyExpiresAtMs === 0 ? Infinity : Math.floor(keyExpiresAtMs / MS_PER_SECOND);
  const lifetimeSecs = Math.min(expiresInSecs ?? settingOf(state, "token.lifetime_secs"), LIFETIME_SECS_MAX);
  const expiresAtSecs = Math.min(issuedAtSecs + lifetimeSecs, keyExpiresAtSecs);
  if (expiresAtSecs <= issuedAtSecs) {
    return null;
  }
  const [signingKey] = readSigningKeys(state);
  const cluster = readCluster(state);
  invariant(signingKey !== undefined && cluster !== undefined, "a cluster with users has an id and a signing key");
  const claims = {
    subject: user.userId,
    issuedAtSecs,
    expiresAtSecs,
    namespaces: user.namespaces,
    access: roleAccess(user.role),
    role: user.role,
    tokenId: randomUUID(),
    apiKeyId,
    passwordVersion: apiKeyId === "" ? user.passwordVersion : 0,
  };
  const privateKey = await ring.privateKey(signingKey);
  const accessToken = await signToken(claims, cluster.clusterId, signingKey.kid, privateKey);
  return { accessToken, expiresInSecs: expiresAtSecs - issuedAtSecs };
}
