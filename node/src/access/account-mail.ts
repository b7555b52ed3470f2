/**
 * The mails of accounts, each with a token: for a new user, who verifies the e-mail address with it, and for a user who
 * has forgotten the password.
 *
 * A mail is sent in the background of the request that causes it, with a few retries if the mail server refuses it. If
 * the process ends before, the mail is not sent: a user who stays unverified can be deleted and created again, and a
 * mail for a forgotten password can be asked for again. Tokens are never logged.
 */

import { setTimeout as sleep } from "node:timers/promises";
import type { Mail, Mailer, MailLog } from "./mailer.ts";

export interface AccountMailOptions {
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

export class AccountMail {
  readonly #options: AccountMailOptions;
  readonly #stopped = new AbortController();
  #pending = 0;

  constructor(options: AccountMailOptions) {
    this.#options = options;
  }

  /** Whether this member can send mail at all. */
  get canSend(): boolean {
    return this.#options.mailer !== null;
  }

  /** Begins to send the token of a new user to their address. Never throws; failures are logged. */
  sendVerification(userId: string, email: string, token: string): void {
    this.#send(userId, "a verification mail", verificationMail(email, token, this.#options.clusterName));
  }

  /** Begins to send a token that sets a new password. Never throws; failures are logged. */
  sendPasswordReset(userId: string, email: string, token: string): void {
    this.#send(userId, "a mail for a forgotten password", passwordMail(email, token, this.#options.clusterName));
  }

  #send(userId: string, name: string, mail: Mail): void {
    const { mailer, log } = this.#options;
    if (mailer === null) {
      log.warn({ userId }, `${name} cannot be sent: no mail server is configured`);
      return;
    }
    if (this.#pending >= PENDING_MAX) {
      log.warn({ userId }, `${name} is not sent: too many mails wait`);
      return;
    }
    this.#pending++;
    void this.#deliver(mailer, userId, name, mail).finally(() => {
      this.#pending--;
    });
  }

  /** Makes no further retries. */
  stop(): void {
    this.#stopped.abort();
  }

  async #deliver(mailer: Mailer, userId: string, name: string, mail: Mail): Promise<void> {
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
        log.warn({ userId, reason: codeOf(error) }, `${name} could not be sent`);
      }
    }
  }
}

function verificationMail(to: string, token: string, clusterName: string): Mail {
  return mailOf(to, `Verify your e-mail address for ${clusterName}`, [
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
  ]);
}

function passwordMail(to: string, token: string, clusterName: string): Mail {
  return mailOf(to, `A new password for ${clusterName}`, [
    `Somebody asked for a new password for the user with this e-mail address in the cluster "${clusterName}".`,
    "",
    "If it was you, set one within an hour. Open /console/#/verify at the address of the cluster, and",
    "enter this token:",
    "",
    `    ${token}`,
    "",
    "Programs send it to POST /auth/verify instead, with the new password.",
    "",
    "If it was not you, you can ignore this mail: the password stays as it is.",
  ]);
}

function mailOf(to: string, subject: string, lines: readonly string[]): Mail {
  return { to, subject, text: [...lines, ""].join("\r\n") };
}

/** Returns the code of a failure. The message of a mail server may repeat parts of the mail, so it is not logged. */
function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown";
}
