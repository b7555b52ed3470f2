/**
 * Tokens that are sent to the e-mail address of a user: who returns one has proved to read mail there. They need no
 * access token. The token of a new user verifies the address, and may set the password. The token of a user who has
 * forgotten the password sets another one.
 */

import {
  accountName,
  createPasswordReset,
  hashForRecord,
  openPasswordReset,
  openVerification,
  type PasswordHashing,
  type RateLimit,
  RateLimiter,
  readBarrier,
  requireEmail,
} from "../../access/index.ts";
import { invariant } from "../../primitives/index.ts";
import type { Clock } from "../../replica/index.ts";
import { badRequestField, CoordinationError, type Outcome, type User } from "../../state/index.ts";
import { type OpenCall, type Reply, replyWith } from "./call.ts";
import { noReplica } from "./executor.ts";
import type { HostReplica } from "./host.ts";

export interface VerifyRequest {
  readonly token: string;
  /** Null = it stays as it is; required if none is set yet, and with a token for a forgotten password. */
  readonly password: string | null;
}

/** Sends the token for a forgotten password to the address of a user, and never fails. */
export interface PasswordResetSender {
  /** Whether this member can send mail at all. */
  readonly canSend: boolean;
  sendPasswordReset(userId: string, email: string, token: string): void;
}

export interface MailedTokenOptions {
  readonly member: { readonly replica: HostReplica | null };
  readonly clock: Pick<Clock, "wallMs" | "monotonicMs">;
  readonly hashing: PasswordHashing;
  readonly mail: PasswordResetSender;
}

type Proposing = (done: (error: CoordinationError | null, outcome: Outcome | null) => void) => void;

/**
 * Mails to one account. Above it none is sent, and the caller is not told. The user has tokens that still work, and an
 * address without a user looks the same.
 */
const MAILS_PER_ACCOUNT: RateLimit = { requests: 3, windowSecs: 900, burst: 3 };

export class MailedTokenMethods {
  readonly #options: MailedTokenOptions;
  readonly #mails: RateLimiter;

  constructor(options: MailedTokenOptions) {
    this.#options = options;
    this.#mails = new RateLimiter(
      () => MAILS_PER_ACCOUNT,
      () => options.clock.monotonicMs(),
    );
  }

  /**
   * Sends a token for a new password to the address if it belongs to an active user. The answer is the same for every
   * address (S42). Replies with NOT_SERVED if this member sends no mail, with BAD_FIELD for what is no address, and with
   * the errors of the read barrier.
   */
  requestPasswordReset({ deadlineMs }: Pick<OpenCall, "deadlineMs">, email: string, reply: Reply<null>): void {
    replyWith(reply, this.#requestPasswordReset(email, deadlineMs));
  }

  /**
   * Verifies a new user, or replaces a forgotten password. Replies with BAD_FIELD and the same message
   * for a token that was never sent, is used or has expired; with BAD_FIELD for a bad password; and with the errors of
   * the read barrier and the proposal.
   */
  verifyEmail({ deadlineMs }: Pick<OpenCall, "deadlineMs">, request: VerifyRequest, reply: Reply<null>): void {
    replyWith(reply, this.#verifyEmail(request, deadlineMs));
  }

  async #requestPasswordReset(email: string, deadlineMs: number): Promise<null> {
    const { mail, clock } = this.#options;
    if (!mail.canSend) {
      throw new CoordinationError("NOT_SERVED", "members of this cluster send no mail: ask an administrator");
    }
    requireEmail(email, "email");
    const replica = this.#replica();
    await readBarrier(replica, deadlineMs);
    const reset = createPasswordReset(replica.state, email, clock.wallMs());
    if (this.#mayMail(email) && reset !== null) {
      mail.sendPasswordReset(reset.user.userId, reset.user.email, reset.token);
    }
    return null;
  }

  async #verifyEmail({ token, password }: VerifyRequest, deadlineMs: number): Promise<null> {
    const replica = this.#replica();
    await readBarrier(replica, deadlineMs);
    const wallMs = this.#options.clock.wallMs();
    // Checked before any hashing, which is too expensive for callers without a valid token.
    const opened = openVerification(replica.state, token, wallMs);
    const user = opened?.user ?? openPasswordReset(replica.state, token, wallMs);
    if (user === null) {
      throw badToken();
    }
    if (password === null && (opened === null || user.passwordHash === "")) {
      throw badRequestField("password", opened === null ? "is required" : "is required, because none is set");
    }
    const passwordHash = await hashForRecord(this.#options.hashing, password, user.userId, deadlineMs);
    const propose: Proposing =
      opened === null
        ? (done) => replica.propose(newPassword(user, passwordHash), deadlineMs, done)
        : (done) => {
            const { sha256: tokenSha256 } = opened;
            const operation = { kind: "verify-user", userId: user.userId, tokenSha256, passwordHash } as const;
            replica.proposeClusterOperation(operation, deadlineMs, done);
          };
    const refusal = await refusalOf(propose);
    if (refusal !== null) {
      throw opened === null && hasEnded(refusal) ? badToken() : refusal;
    }
    return null;
  }

  #replica(): HostReplica {
    const { replica } = this.#options.member;
    if (replica === null) {
      throw noReplica();
    }
    return replica;
  }

  #mayMail(email: string): boolean {
    try {
      this.#mails.take(accountName(email));
      return true;
    } catch {
      return false;
    }
  }
}

/** The user changes their own password: the token has proved as much as the present one would. */
function newPassword({ userId, passwordVersion }: User, passwordHash: string) {
  const principal = { subject: userId, apiKeyId: "", passwordVersion };
  const unchanged = { role: null, namespaces: null, status: null };
  const proof = { passwordHash, knownPasswordVersion: passwordVersion };
  return { principal, request: null, operation: { kind: "update-user", userId, ...unchanged, ...proof } } as const;
}

/** Whether the user got another password, was disabled or was deleted since the token was checked. */
function hasEnded({ reason }: CoordinationError): boolean {
  return reason === "TOKEN_REVOKED" || reason === "BAD_FIELD" || reason === "USER_NOT_FOUND";
}

/** Resolves to the refusal with which the proposal was executed; null if it was not refused. Rejects with its error. */
function refusalOf(propose: Proposing): Promise<CoordinationError | null> {
  return new Promise((resolve, reject) => {
    propose((error, outcome) => {
      if (outcome === null) {
        invariant(error !== null, "a proposal ends with an outcome or an error");
        reject(error);
      } else {
        resolve(outcome.answer instanceof CoordinationError ? outcome.answer : null);
      }
    });
  });
}

function badToken(): CoordinationError {
  return badRequestField("token", "is unknown, used or expired");
}
