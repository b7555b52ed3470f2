/**
 * Logging in with an e-mail address and a password.
 *
 * Nobody learns from the answer, or from the time that it takes, whether an address is known: without a user the
 * password is hashed all the same. That the address is not verified yet is only told to whoever knows the password.
 */

import { createHash } from "node:crypto";
import type { Clock } from "../replica/index.ts";
import { addressInAnyCase, CoordinationError, readUser, readUserByEmail, type User } from "../state/index.ts";
import { FamiliarLogins } from "./familiar-logins.ts";
import type { HashOrder } from "./hash-queue.ts";
import { verifyPassword } from "./password.ts";
import type { PasswordHashing } from "./password-hashing.ts";
import { type ReplicatedState, readBarrier } from "./replicated-state.ts";
import { SigningRing } from "./signing-ring.ts";
import { type IssuedToken, issueToken } from "./token-issuer.ts";

/** What a login came to. */
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
  readonly #familiar: FamiliarLogins;

  constructor(replicated: ReplicatedState, clock: Clock, hashing: PasswordHashing) {
    this.#replicated = replicated;
    this.#clock = clock;
    this.#hashing = hashing;
    this.#familiar = new FamiliarLogins(() => clock.monotonicMs());
  }

  /**
   * A token of the default lifetime, without an API key, and whose it is. `order` names the client address and, as
   * `accountName` does, the account. Raises OVERLOADED where the password cannot be hashed before the order's deadline
   * because of others, and what the read barrier raises.
   */
  async login(email: string, password: string, order: HashOrder): Promise<LoginOutcome> {
    await readBarrier(this.#replicated, order.deadlineMs);
    const { client, account } = order;
    const lane = this.#familiar.has(client, account) ? "familiar" : "strangers";
    // The record is read when it is this one's turn, for waiting may take seconds.
    const [found, isRight] = await this.#hashing.run(lane, order, async (derive) => {
      const record = readUserByEmail(this.#replicated.state, email);
      return [record, await verifyPassword(password, record?.passwordHash, derive)] as const;
    });
    if (found === undefined || !isRight) {
      return INVALID;
    }
    // A second look, for hashing took its time: whoever was disabled or given another password meanwhile stays out.
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
    this.#familiar.add(client, account);
    return { kind: "accepted", issued, user };
  }

  /**
   * The version of the user's password, if this is the one. Raises BAD_FIELD for `current_password` if it is not, OVERLOADED
   * where it cannot be hashed before the deadline because of others, and what the read barrier raises.
   */
  async confirmPassword(userId: string, password: string, deadlineMs: number): Promise<number> {
    await readBarrier(this.#replicated, deadlineMs);
    const order = { client: userId, account: userId, deadlineMs };
    return this.#hashing.run("familiar", order, async (derive) => {
      const user = readUser(this.#replicated.state, userId);
      if (user === undefined || !(await verifyPassword(password, user.passwordHash, derive))) {
        const details = new Map([["field", "current_password"]]);
        throw new CoordinationError("BAD_FIELD", "current_password is not your password", { details });
      }
      return user.passwordVersion;
    });
  }
}

/** A name for the account with this address, in whatever case: 43 characters, however many were sent. */
export function accountName(email: string): string {
  return createHash("sha256").update(addressInAnyCase(email)).digest("base64url");
}
