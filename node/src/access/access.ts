/**
 * Who may do what: from the authorization header to a decision.
 *
 * A token's claims are an upper bound; the records of its user and API key, as they are now, are intersected with them
 * at every check. Only signatures are remembered, so a revocation counts from the moment its entry is applied here.
 *
 * Accepting rests on this member's applied state, which may lag, and is therefore not the last word: mutations are
 * checked again in apply, reads by `recheck` after their read barrier. Refusing is: a refusal that rests on replicated
 * records is given only if it still stands after a read barrier. The hot path, a known token and no refusal, is
 * synchronous and costs no promise.
 */

import type { CryptoKey } from "jose";
import { invariant } from "../raft/index.ts";
import type { Clock } from "../replica/index.ts";
import {
  CoordinationError,
  includesAccess,
  includesNamespace,
  type Need,
  type Principal,
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

/** Compared with where there is no such key, so that an unknown one costs the time of a known one. */
const NO_SHA256 = new Uint8Array(32);

export class Access {
  readonly #replicated: ReplicatedState;
  readonly #clock: Clock;
  readonly #onUse: (principal: Principal) => void;
  readonly #ring = new SigningRing();
  readonly #verified = new TokenCache();
  /** "" until the cluster is founded. */
  #clusterId = "";

  /** @param onUse is told, without delay, of everybody who shows a token or an API key that is good. */
  constructor(replicated: ReplicatedState, clock: Clock, onUse: (principal: Principal) => void = () => undefined) {
    this.#replicated = replicated;
    this.#clock = clock;
    this.#onUse = onUse;
  }

  /**
   * Who is asking, given all values of the authorization header. Raises TOKEN_INVALID, TOKEN_EXPIRED or TOKEN_REVOKED,
   * or what the read barrier raises if a refusal needs one; `deadlineMs` (monotonic clock) bounds the barrier.
   *
   * Returns at once, or throws at once, for a token seen before whose user and API key stand; a promise otherwise.
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
   * Nothing if the caller may do what is needed, else raises NAMESPACE_DENIED or ACCESS_DENIED (also what
   * `authenticate` raises, should that have become true since). For use before a request is looked at any further.
   *
   * Throws at once for what the token itself does not allow; returns at once if user and API key allow it; returns a
   * promise otherwise, because a read barrier must come before that refusal.
   */
  authorize(caller: Caller, need: Need | null, deadlineMs: number): undefined | Promise<void> {
    const refusal = claimsRefusal(caller, need, this.#clock.wallMs());
    if (refusal !== null) {
      throw refusal;
    }
    return this.#requireRecords(caller, need, deadlineMs);
  }

  /**
   * The same decision again, at once and on the applied state alone: for reads after their read barrier, just before
   * the data is read. Raises the refusal.
   */
  recheck(caller: Caller, need: Need | null): void {
    const refusal = claimsRefusal(caller, need, this.#clock.wallMs()) ?? this.#recordsRefusal(caller, need);
    if (refusal !== null) {
      throw refusal;
    }
  }

  /**
   * A token for the API key, or null if the key is unknown, revoked or expired or its user may not sign in: alike, and
   * decided after a read barrier. The lifetime is what was asked for, by default what the setting token.lifetime_secs
   * says, cut off at 86,400 s and at the key's own expiry. Raises BAD_FIELD unless `expiresInSecs` is null or a whole
   * number from 1, and what the barrier raises; `deadlineMs` (monotonic clock) bounds it.
   */
  async exchangeApiKey(apiKey: string, expiresInSecs: number | null, deadlineMs: number): Promise<IssuedToken | null> {
    if (expiresInSecs !== null && (!Number.isInteger(expiresInSecs) || expiresInSecs < 1)) {
      throw new CoordinationError("BAD_FIELD", "expires_in_secs must be a whole number of seconds, at least 1", {
        details: new Map([["field", "expires_in_secs"]]),
      });
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

  /** The ring's key with this id; that there is none is believed only after a read barrier. */
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

  /** Returns at once if the records allow it; otherwise raises what they still refuse after a read barrier. */
  #requireRecords(caller: Caller, need: Need | null, deadlineMs: number): undefined | Promise<void> {
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

  #recordsRefusal(caller: Caller, need: Need | null): CoordinationError | null {
    return refusalOf(this.#replicated.state, caller.principal, need, this.#clock.wallMs());
  }

  /** Only for where a signing key or an API key was found: the founding entry brings them and the id together. */
  #requireClusterId(): string {
    if (this.#clusterId === "") {
      const cluster = readCluster(this.#replicated.state);
      invariant(cluster !== undefined, "a cluster with signing keys has an id");
      this.#clusterId = cluster.clusterId;
    }
    return this.#clusterId;
  }
}

/** What the token itself does not allow: rests on nothing replicated, so it can be said at once. */
function claimsRefusal(caller: Caller, need: Need | null, wallMs: number): CoordinationError | null {
  const { claims } = caller;
  if (isExpired(claims, wallMs)) {
    return new CoordinationError("TOKEN_EXPIRED", "the token has expired");
  }
  if (need === null) {
    return null;
  }
  if (need.namespace !== null && !includesNamespace(claims.namespaces, need.namespace)) {
    // The name is not repeated: nobody has looked at its form or length yet.
    return new CoordinationError("NAMESPACE_DENIED", "the token does not cover the namespace of the request");
  }
  if (!includesAccess(claims.access, need.access)) {
    return new CoordinationError("ACCESS_DENIED", `the token does not give ${need.access} access`);
  }
  return null;
}
