/**
 * Authentication and authorisation: from the authorization header to a decision.
 *
 * A token's claims are an upper bound. Every check intersects them with the present records of the token's user and API
 * key. Only verified signatures are cached, so a revocation takes effect as soon as this member applies its entry.
 *
 * A grant uses this member's applied state, which may lag. So it is not final: apply checks mutations again, and
 * `recheck` checks reads again after their read barrier. A refusal is final: if it depends on replicated records, it is
 * given only if it is still true after a read barrier. The hot path, a known token and no refusal, is synchronous and
 * needs no promise.
 */

import type { CryptoKey } from "jose";
import { invariant } from "../primitives/index.ts";
import type { Clock } from "../replica/index.ts";
import {
  ALL_NAMESPACES,
  badField,
  CoordinationError,
  includesAccess,
  includesNamespace,
  type Principal,
  type RequiredAccess,
  readApiKeyByPrefix,
  readCluster,
  readSigningKey,
  readUser,
  refusalOf,
} from "../state/index.ts";
import { apiKeyPrefix, matchesApiKey } from "./api-key.ts";
import { bearerToken } from "./authorization-header.ts";
import { type Caller, callerOf } from "./caller.ts";
import { claimsOf, isExpired } from "./claims.ts";
import { type ReplicatedState, readBarrier } from "./replicated-state.ts";
import { SigningRing } from "./signing-ring.ts";
import { verifySignature } from "./token.ts";
import { TokenCache } from "./token-cache.ts";
import { type IssuedToken, issueToken } from "./token-issuer.ts";

/** Compared with an unknown key, so that it takes the same time as a known one. */
const NO_SHA256 = new Uint8Array(32);

export class Access {
  readonly #replicated: ReplicatedState;
  readonly #clock: Clock;
  readonly #onUse: (principal: Principal) => void;
  readonly #ring = new SigningRing();
  readonly #verified = new TokenCache();
  /** "" until the cluster is founded. */
  #clusterId = "";

  /** @param onUse called at once for every caller with a valid token or API key. */
  constructor(replicated: ReplicatedState, clock: Clock, onUse: (principal: Principal) => void = () => undefined) {
    this.#replicated = replicated;
    this.#clock = clock;
    this.#onUse = onUse;
  }

  /**
   * Returns the caller, from all values of the authorization header. Throws TOKEN_INVALID, TOKEN_EXPIRED or
   * TOKEN_REVOKED, or the error of the read barrier if a refusal needs one. `deadlineMs` (monotonic clock) bounds the
   * barrier.
   *
   * Returns or throws at once for a known token whose user and API key are valid; returns a promise otherwise.
   */
  authenticate(authorization: readonly string[], deadlineMs: number): Caller | Promise<Caller> {
    const token = bearerToken(authorization);
    const caller = this.#verified.get(token, this.#clock.wallMs());
    if (caller === undefined) {
      return this.#authenticateNew(token, deadlineMs);
    }
    const pending = this.#requireRecords(caller, null, deadlineMs);
    return pending === undefined ? this.#accepted(caller) : pending.then(() => this.#accepted(caller));
  }

  /**
   * Returns if the caller has the access that is needed, else throws NAMESPACE_DENIED or ACCESS_DENIED, or an error of
   * `authenticate` that applies by now. Call it before other checks of a request.
   *
   * Throws at once if the token itself does not allow it. Returns at once if user and API key allow it. Returns a
   * promise otherwise, because a read barrier must come before that refusal.
   */
  authorize(caller: Caller, required: RequiredAccess | null, deadlineMs: number): undefined | Promise<void> {
    const refusal = claimsRefusal(caller, required, this.#clock.wallMs());
    if (refusal !== null) {
      throw refusal;
    }
    return this.#requireRecords(caller, required, deadlineMs);
  }

  /**
   * Makes the same decision again, at once and only from the applied state: for reads after their read barrier, just
   * before they read the data. Throws the refusal.
   */
  recheck(caller: Caller, required: RequiredAccess | null): void {
    const refusal = claimsRefusal(caller, required, this.#clock.wallMs()) ?? this.#recordsRefusal(caller, required);
    if (refusal !== null) {
      throw refusal;
    }
  }

  /**
   * Returns a token for the API key. Returns null, without a distinction, if the key is unknown, revoked or expired, or
   * if its user may not sign in. Decides after a read barrier. The lifetime is `expiresInSecs` or, by default, the
   * setting token.lifetime_secs; it is at most 86,400 s and never ends after the key. Throws BAD_FIELD unless
   * `expiresInSecs` is null or a whole number from 1, and the errors of the barrier. `deadlineMs` (monotonic clock)
   * bounds the barrier.
   */
  async exchangeApiKey(apiKey: string, expiresInSecs: number | null, deadlineMs: number): Promise<IssuedToken | null> {
    if (expiresInSecs !== null && (!Number.isInteger(expiresInSecs) || expiresInSecs < 1)) {
      throw badField("expires_in_seconds", "must be a whole number of seconds, at least 1");
    }
    const prefix = apiKeyPrefix(apiKey);
    if (prefix === null) {
      return null;
    }
    await readBarrier(this.#replicated, deadlineMs);
    const { state } = this.#replicated;
    const wallMs = this.#clock.wallMs();
    const record = readApiKeyByPrefix(state, prefix);
    const matches = matchesApiKey(apiKey, record?.sha256 ?? NO_SHA256);
    if (record === undefined || !matches) {
      return null;
    }
    const principal = { subject: record.userId, apiKeyId: record.apiKeyId };
    const user = readUser(state, record.userId);
    if (user === undefined || refusalOf(state, principal, null, wallMs) !== null) {
      return null;
    }
    this.#onUse(principal);
    const { apiKeyId, expiresAtMs: keyExpiresAtMs } = record;
    return issueToken(state, this.#ring, this.#clock, { user, apiKeyId, keyExpiresAtMs, expiresInSecs });
  }

  async #authenticateNew(token: string, deadlineMs: number): Promise<Caller> {
    const publicKeyOf = (kid: string) => this.#publicKey(kid, deadlineMs);
    const payload = await verifySignature(token, publicKeyOf, this.#clock.wallMs());
    const caller = callerOf(claimsOf(payload, this.#requireClusterId(), this.#clock.wallMs()));
    this.#verified.set(token, caller);
    await this.#requireRecords(caller, null, deadlineMs);
    return this.#accepted(caller);
  }

  #accepted(caller: Caller): Caller {
    this.#onUse(caller.principal);
    return caller;
  }

  /** Returns the ring's key with this id. Throws that there is none only after a read barrier. */
  async #publicKey(kid: string, deadlineMs: number): Promise<CryptoKey> {
    let key = readSigningKey(this.#replicated.state, kid);
    if (key === undefined) {
      await readBarrier(this.#replicated, deadlineMs);
      key = readSigningKey(this.#replicated.state, kid);
    }
    if (key === undefined) {
      throw new CoordinationError("TOKEN_INVALID", "the token is signed with a key that this cluster does not have");
    }
    return this.#ring.publicKey(key);
  }

  /** Returns at once if the records allow it; otherwise throws the refusal if it is still true after a read barrier. */
  #requireRecords(caller: Caller, need: RequiredAccess | null, deadlineMs: number): undefined | Promise<void> {
    if (this.#recordsRefusal(caller, need) === null) {
      return undefined;
    }
    return readBarrier(this.#replicated, deadlineMs).then(() => {
      const refusal = this.#recordsRefusal(caller, need);
      if (refusal !== null) {
        throw refusal;
      }
    });
  }

  #recordsRefusal(caller: Caller, need: RequiredAccess | null): CoordinationError | null {
    return refusalOf(this.#replicated.state, caller.principal, need, this.#clock.wallMs());
  }

  /** Call it only after a signing key or an API key was found: the founding entry creates them together with the id. */
  #requireClusterId(): string {
    if (this.#clusterId === "") {
      const cluster = readCluster(this.#replicated.state);
      invariant(cluster !== undefined, "a cluster with signing keys has an id");
      this.#clusterId = cluster.clusterId;
    }
    return this.#clusterId;
  }
}

/** Returns the refusal by the token itself, which does not depend on replicated state and needs no barrier. */
function claimsRefusal(caller: Caller, required: RequiredAccess | null, wallMs: number): CoordinationError | null {
  const { claims } = caller;
  if (isExpired(claims, wallMs)) {
    return new CoordinationError("TOKEN_EXPIRED", "the token has expired");
  }
  if (required === null) {
    return null;
  }
  if (required.namespace !== null && !includesNamespace(claims.namespaces, required.namespace)) {
    return new CoordinationError("NAMESPACE_DENIED", notCovered(required));
  }
  if (!includesAccess(claims.access, required.access)) {
    return new CoordinationError("ACCESS_DENIED", `the token does not give ${required.access} access`);
  }
  return null;
}

/** Without the name of a namespace: its form and length are not checked yet. */
function notCovered({ namespace, access }: RequiredAccess): string {
  return namespace === ALL_NAMESPACES
    ? `this is for a user with ${access} access to the whole cluster: with the namespace ${ALL_NAMESPACES}, which the token does not cover`
    : "the token does not cover the namespace of the request";
}
