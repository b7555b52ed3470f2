/**
 * Verifies an e-mail address: the caller returns the token that was sent to it. The call needs no access token, and may
 * set the password of the user.
 */

import { hashPassword, openVerification, type PasswordHashing, requirePassword } from "../../access/index.ts";
import { invariant } from "../../primitives/index.ts";
import type { Clock } from "../../replica/index.ts";
import { CoordinationError } from "../../state/index.ts";
import { noReplica } from "./executor.ts";
import { badField } from "./field-rules.ts";
import type { HostReplica } from "./host.ts";

export interface VerifyRequest {
  readonly token: string;
  /** Null = it stays as it is; required if none is set yet. */
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
   * Makes the user active. Throws BAD_FIELD with the same message for a token that was never sent, is used or has
   * expired; BAD_FIELD for a bad password; and the errors of the read barrier and the proposal. `deadlineMs` is on the
   * monotonic clock.
   */
  async verify({ token, password }: VerifyRequest, deadlineMs: number): Promise<{ readonly verified: true }> {
    const { replica } = this.#member;
    if (replica === null) {
      throw noReplica();
    }
    await new Promise<void>((resolve, reject) => {
      replica.readBarrier(deadlineMs, (error) => (error === null ? resolve() : reject(error)));
    });
    // Checked before any hashing, which is too expensive for callers without a valid token.
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
