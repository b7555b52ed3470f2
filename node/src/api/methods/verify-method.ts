/**
 * The verification of an e-mail address: whoever brings the token back that was sent there. It needs no access token, and
 * may set the password of the user.
 */

import { hashPassword, openVerification, type PasswordHashing, requirePassword } from "../../access/index.ts";
import { invariant } from "../../raft/index.ts";
import type { Clock } from "../../replica/index.ts";
import { CoordinationError } from "../../state/index.ts";
import { noReplica } from "./executor.ts";
import { badField } from "./field-rules.ts";
import type { HostReplica } from "./host.ts";

export interface VerifyRequest {
  readonly token: string;
  /** Null = it stays as it is; required where none is set. */
  readonly password: string | null;
}

export class VerifyMethod {
  readonly #member: { readonly replica: HostReplica | null };
  readonly #clock: Pick<Clock, "wallMs">;
  readonly #hashing: PasswordHashing;

  constructor(
    member: { readonly replica: HostReplica | null },
    clock: Pick<Clock, "wallMs">,
    hashing: PasswordHashing,
  ) {
    this.#member = member;
    this.#clock = clock;
    this.#hashing = hashing;
  }

  /**
   * Makes the user active. Raises BAD_FIELD for a token that was never sent, is used already or has expired, alike, and
   * for a password; and what the read barrier and the proposal raise. `deadlineMs` is on the monotonic clock.
   */
  async verify({ token, password }: VerifyRequest, deadlineMs: number): Promise<{ readonly verified: true }> {
    const { replica } = this.#member;
    if (replica === null) {
      throw noReplica();
    }
    await new Promise<void>((resolve, reject) => {
      replica.readBarrier(deadlineMs, (error) => (error === null ? resolve() : reject(error)));
    });
    // Before anything is hashed: that costs too much to do it for everybody who sends something.
    const opened = openVerification(replica.state, token, this.#clock.wallMs());
    if (opened === null) {
      throw badField("token", "is unknown, used or expired");
    }
    const { user, sha256: tokenSha256 } = opened;
    if (password !== null) {
      requirePassword(password, "password");
    } else if (user.passwordHash === "") {
      throw badField("password", "is required, because none is set");
    }
    const order = { client: user.userId, account: user.userId, deadlineMs };
    const passwordHash =
      password === null ? "" : await this.#hashing.run("familiar", order, (derive) => hashPassword(password, derive));
    const operation = { kind: "verify-user", userId: user.userId, tokenSha256, passwordHash } as const;
    return new Promise((resolve, reject) => {
      replica.proposeClusterOperation(operation, deadlineMs, (error, outcome) => {
        if (outcome === null) {
          invariant(error !== null, "a proposal ends with an outcome or an error");
          reject(error);
        } else if (outcome.answer instanceof CoordinationError) {
          reject(outcome.answer);
        } else {
          resolve({ verified: true });
        }
      });
    });
  }
}
