/**
 * How mail leaves a member: over SMTP, or, for development, into the log.
 *
 * A mail holds a secret. The mailer into the log is for clusters that nobody else uses, and is never chosen by itself.
 */

import { createTransport } from "nodemailer";

export interface Mail {
  /** One address, as it was checked when its user was made. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export interface Mailer {
  /** Resolves when the mail is handed over; rejects with the reason why it is not. */
  send(mail: Mail): Promise<void>;
}

/** Where a member logs; `pino` fits. */
export interface MailLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** A mail server that does not answer is given up after this long, in milliseconds. */
const TIMEOUT_MS = 15_000;

/**
 * Sends through a mail server.
 *
 * @param url such as `smtps://user:password@mail.example.com:465`, a secret.
 * @param from the address that mail comes from.
 */
export function smtpMailer(url: string, from: string): Mailer {
  const timeouts = { connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS };
  const transport = createTransport({ url, ...timeouts, disableFileAccess: true, disableUrlAccess: true });
  return {
    // As objects, so that an address is taken as it is and never for a list of several.
    send: async ({ to, subject, text }) => {
      await transport.sendMail({ from: { name: "", address: from }, to: { name: "", address: to }, subject, text });
    },
  };
}

/** Writes whole mails into the log: for development only, for they hold tokens. */
export function logMailer(log: MailLog): Mailer {
  return {
    send: (mail) => {
      log.info({ mail }, "mail that is not sent, because no mail server is configured");
      return Promise.resolve();
    },
  };
}
