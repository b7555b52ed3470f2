/**
 * The mail that asks a new user for a verification.
 *
 * It is sent beside the request that made the user, a few times if the mail server refuses it, and not at all if the
 * process ends before: the user stays unverified then, and can be deleted and made again. No token gets into the log.
 */

import { setTimeout as sleep } from "node:timers/promises";
import type { Mail, Mailer, MailLog } from "./mailer.ts";

export interface VerificationMailOptions {
  /** Null = this member cannot send mail. */
  readonly mailer: Mailer | null;
  readonly clusterName: string;
  readonly log: MailLog;
  /** Milliseconds to wait before each further try; as many tries more as there are. */
  readonly retryDelaysMs?: readonly number[];
}

/** Mails that are being sent at a time. */
const PENDING_MAX = 100;
const RETRY_DELAYS_MS: readonly number[] = [1_000, 10_000, 60_000];

export class VerificationMail {
  readonly #options: VerificationMailOptions;
  readonly #stopped = new AbortController();
  #pending = 0;

  constructor(options: VerificationMailOptions) {
    this.#options = options;
  }

  /** Begins to send the token to the user's address. Never fails: what goes wrong is logged. */
  send(userId: string, email: string, token: string): void {
    const { mailer, log } = this.#options;
    if (mailer === null) {
      log.warn({ userId }, "a user cannot be asked for a verification: no mail server is configured");
      return;
    }
    if (this.#pending >= PENDING_MAX) {
      log.warn({ userId }, "a user is not asked for a verification: too many mails wait to be sent");
      return;
    }
    this.#pending++;
    void this.#deliver(mailer, userId, this.#mailTo(email, token)).finally(() => {
      this.#pending--;
    });
  }

  /** No further tries are made. */
  stop(): void {
    this.#stopped.abort();
  }

  async #deliver(mailer: Mailer, userId: string, mail: Mail): Promise<void> {
    const { log, retryDelaysMs = RETRY_DELAYS_MS } = this.#options;
    for (const delayMs of [0, ...retryDelaysMs]) {
      try {
        await sleep(delayMs, undefined, { signal: this.#stopped.signal, ref: false });
      } catch {
        // The only reason for which a sleep ends early: this member stops.
        return;
      }
      try {
        await mailer.send(mail);
        return;
      } catch (error) {
        log.warn({ userId, reason: codeOf(error) }, "a mail that asks for a verification could not be sent");
      }
    }
  }

  #mailTo(to: string, token: string): Mail {
    const { clusterName } = this.#options;
    const text = [
      `Somebody has made a user with this e-mail address for the cluster "${clusterName}".`,
      "",
      "If that is right, send this token to /auth/verify within a week:",
      "",
      `    ${token}`,
      "",
      "If you do not expect this mail, you need not do anything.",
      "",
    ].join("\r\n");
    return { to, subject: `Verify your e-mail address for ${clusterName}`, text };
  }
}

/** What kind of failure it was: the message of a mail server may repeat what it was sent. */
function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown";
}
