/**
 * The mail with which a new user verifies the e-mail address.
 *
 * It is sent in the background of the request that creates the user, with a few retries if the mail server refuses it.
 * If the process ends before, the mail is not sent: the user stays unverified, and can be deleted and created again.
 * Tokens are never logged.
 */

import { setTimeout as sleep } from "node:timers/promises";
import type { Mail, Mailer, MailLog } from "./mailer.ts";

export interface VerificationMailOptions {
  /** Null = this member cannot send mail. */
  readonly mailer: Mailer | null;
  readonly clusterName: string;
  readonly log: MailLog;
  /** Milliseconds to wait before each retry; their number is the number of retries. */
  readonly retryDelaysMs?: readonly number[];
}

/** Maximum number of mails that are sent at the same time. */
const PENDING_MAX = 100;
const RETRY_DELAYS_MS: readonly number[] = [1_000, 10_000, 60_000];

export class VerificationMail {
  readonly #options: VerificationMailOptions;
  readonly #stopped = new AbortController();
  #pending = 0;

  constructor(options: VerificationMailOptions) {
    this.#options = options;
  }

  /** Begins to send the token to the user's address. Never throws; failures are logged. */
  send(userId: string, email: string, token: string): void {
    const { mailer, log } = this.#options;
    if (mailer === null) {
      log.warn({ userId }, "a verification mail cannot be sent: no mail server is configured");
      return;
    }
    if (this.#pending >= PENDING_MAX) {
      log.warn({ userId }, "a verification mail is not sent: too many mails wait");
      return;
    }
    this.#pending++;
    void this.#deliver(mailer, userId, this.#mailTo(email, token)).finally(() => {
      this.#pending--;
    });
  }

  /** Makes no further retries. */
  stop(): void {
    this.#stopped.abort();
  }

  async #deliver(mailer: Mailer, userId: string, mail: Mail): Promise<void> {
    const { log, retryDelaysMs = RETRY_DELAYS_MS } = this.#options;
    for (const delayMs of [0, ...retryDelaysMs]) {
      try {
        await sleep(delayMs, undefined, { signal: this.#stopped.signal, ref: false });
      } catch {
        // A sleep ends early only when this member stops.
        return;
      }
      try {
        await mailer.send(mail);
        return;
      } catch (error) {
        log.warn({ userId, reason: codeOf(error) }, "a verification mail could not be sent");
      }
    }
  }

  #mailTo(to: string, token: string): Mail {
    const { clusterName } = this.#options;
    const text = [
      `A user with this e-mail address was created in the cluster "${clusterName}".`,
      "",
      "If this is correct, verify the address within a week. Open /console/#/verify at the address of",
      "the cluster, and enter this token:",
      "",
      `    ${token}`,
      "",
      "Programs send it to POST /auth/verify instead.",
      "",
      "If you did not expect this mail, you can ignore it.",
      "",
    ].join("\r\n");
    return { to, subject: `Verify your e-mail address for ${clusterName}`, text };
  }
}

/** Returns the code of a failure. The message of a mail server may repeat parts of the mail, so it is not logged. */
function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown";
}
