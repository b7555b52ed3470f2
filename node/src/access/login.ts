/**
 * Logins with an e-mail address and a password.
 *
 * Neither the answer nor its duration reveals whether an address is known: without a user, the password is hashed as
 * well. Only a caller with the right password learns that the address is not verified yet.
 */

import { createHash } from "node:crypto";
import type { Clock } from "../replica/index.ts";
import { addressInAnyCase, badField, readUser, readUserByEmail, type User } from "../state/index.ts";
import type { HashJob } from "./hash-queue.ts";
import { KnownClients } from "./known-clients.ts";
import { verifyPassword } from "./password.ts";
import type { PasswordHashing } from "./password-hashing.ts";
import { type ReplicatedState, readBarrier } from "./replicated-state.ts";
import { SigningRing } from "./signing-ring.ts";
import { type IssuedToken, issueToken } from "./token-issuer.ts";

/** The outcome of a login. */
export type LoginOutcome =
  | { readonly kind: "accepted"; readonly issued: IssuedToken; readonly user: User }
  | { readonly kind: "invalid-credentials" }
  | { readonly kind: "email-not-verified" };

const INVALID: LoginOutcome = { kind: "invalid-credentials" };

export class Logins {
  readonly #replicated: ReplicatedState;
  readonly #clock: Clock;
  readonly #hashing: PasswordHashing;
  readonly #ring = new SigningRing();
  readonly #knownClients: KnownClients;

  constructor(replicated: ReplicatedState, clock: Clock, hashing: PasswordHashing) {
    this.#replicated = replicated;
    this.#clock = clock;
    this.#hashing = hashing;
    this.#knownClients = new KnownClients(() => clock.monotonicMs());
  }

  /**
   * Resolves to a token with the default lifetime and without an API key, and its user. `order` names the client
   * address, and the account by `accountName`. Rejects with OVERLOADED if other orders delay the hashing past the
   * deadline, and with the errors of the read barrier.
   */
  async login(email: string, password: string, order: HashJob): Promise<LoginOutcome> {
    await readBarrier(this.#replicated, order.deadlineMs);
    const { client, account } = order;
    const lane = this.#knownClients.has(client, account) ? "familiar" : "strangers";
    // The record is read at the turn of this order, because the wait may take seconds.
    const [found, isRight] = await this.#hashing.run(lane, order, async (derive) => {
      const record = readUserByEmail(this.#replicated.state, email);
      return [record, await verifyPassword(password, record?.passwordHash, derive)] as const;
    });
    if (found === undefined || !isRight) {
      return INVALID;
    }
    // A second check, because hashing takes time: the user may have been disabled or got another password meanwhile.
    const { state } = this.#replicated;
    const user = readUser(state, found.userId);
    if (user === undefined || user.passwordHash !== found.passwordHash || user.status === "disabled") {
      return INVALID;
    }
    if (user.status === "unverified") {
      return { kind: "email-not-verified" };
    }
    const request = { user, apiKeyId: "", keyExpiresAtMs: 0, expiresInSecs: null };
    const issued = await issueToken(state, this.#ring, this.#clock, request);
    if (issued === null) {
      return INVALID;
    }
    this.#knownClients.add(client, account);
    return { kind: "accepted", issued, user };
  }

  /**
   * Resolves to the version of the user's password. Rejects with BAD_FIELD for `current_password` if the password is
   * wrong, with OVERLOADED if other orders delay the hashing past the deadline, and with the errors of the read
   * barrier.
   */
  async confirmPassword(userId: string, password: string, deadlineMs: number): Promise<number> {
    await readBarrier(this.#replicated, deadlineMs);
    const order = { client: userId, account: userId, deadlineMs };
    return this.#hashing.run("familiar", order, async (derive) => {
      const user = readUser(this.#replicated.state, userId);
      if (user === undefined || !(await verifyPassword(password, user.passwordHash, derive))) {
        throw badField("current_password", "is not your password");
      }
      return user.passwordVersion;
    });
  }
}

/** Returns a name for the account with this address, regardless of case: always 43 characters, of any input. */
export function accountName(email: string): string {
  return createHash("sha256").update(addressInAnyCase(email)).digest("base64url");
}
