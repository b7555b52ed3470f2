/**
 * Logging in with an e-mail address and a password.
 *
 * Nobody learns from the answer, or from the time that it takes, whether an address is known: without a user the
 * password is hashed all the same. That the address is not verified yet is only told to whoever knows the password.
 */

import type { Clock } from "../replica/index.ts";
import { CoordinationError, readUser, readUserByEmail, type User } from "../state/index.ts";
import { verifyPassword } from "./password.ts";
import { type ReplicatedState, readBarrier } from "./replicated-state.ts";
import { SigningRing } from "./signing-ring.ts";
import { type IssuedToken, issueToken } from "./token-issuer.ts";

/** What a login came to. */
export type LoginOutcome =
  | { readonly kind: "accepted"; readonly issued: IssuedToken; readonly user: User }
  | { readonly kind: "invalid-credentials" }
  | { readonly kind: "email-not-verified" };

/** Passwords that are hashed or wait for it: each takes a quarter of a second of one of four threads. */
const HASHES_MAX = 32;
const INVALID: LoginOutcome = { kind: "invalid-credentials" };

export class Logins {
  readonly #replicated: ReplicatedState;
  readonly #clock: Clock;
  readonly #ring = new SigningRing();
  readonly #hashesMax: number;
  #hashes = 0;

  constructor(replicated: ReplicatedState, clock: Clock, hashesMax: number = HASHES_MAX) {
    this.#replicated = replicated;
    this.#clock = clock;
    this.#hashesMax = hashesMax;
  }

  /**
   * A token of the default lifetime, without an API key, and whose it is. Raises OVERLOADED while too many others log in,
   * and what the read barrier raises; `deadlineMs` (monotonic clock) bounds it, but not the hashing after it.
   */
  async login(email: string, password: string, deadlineMs: number): Promise<LoginOutcome> {
    if (this.#hashes >= this.#hashesMax) {
      throw new CoordinationError("OVERLOADED", "too many others log in at this moment; try again");
    }
    this.#hashes++;
    try {
      return await this.#login(email, password, deadlineMs);
    } finally {
      this.#hashes--;
    }
  }

  async #login(email: string, password: string, deadlineMs: number): Promise<LoginOutcome> {
    await readBarrier(this.#replicated, deadlineMs);
    const { state } = this.#replicated;
    const found = readUserByEmail(state, email);
    const isRight = await verifyPassword(password, found?.passwordHash);
    if (found === undefined || !isRight) {
      return INVALID;
    }
    // A second look, for hashing took its time: whoever was disabled or given another password meanwhile stays out.
    const user = readUser(state, found.userId);
    if (user === undefined || user.passwordHash !== found.passwordHash || user.status === "disabled") {
      return INVALID;
    }
    if (user.status === "unverified") {
      return { kind: "email-not-verified" };
    }
    const request = { user, apiKeyId: "", keyExpiresAtMs: 0, expiresInSecs: null };
    const issued = await issueToken(state, this.#ring, this.#clock, request);
    return issued === null ? INVALID : { kind: "accepted", issued, user };
  }
}
