/**
 * Sends mail from a member: over SMTP or, for development, into the log.
 *
 * A mail contains a secret. The log mailer is only for a developer's own cluster, and is never a default.
 */

export interface Mail {
  /** One address, which was checked when its user was created. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export interface Mailer {
  /** Resolves when the mail server has taken the mail; rejects with the reason if it does not. */
  send(mail: Mail): Promise<void>;
}

/** The log of a member, such as a pino logger. */
export interface MailLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** Timeout for a mail server that does not answer, in milliseconds. */
const TIMEOUT_MS = 15_000;

/**
 * Sends through a mail server.
 *
 * @param url such as `smtps://user:password@mail.example.com:465`; it is a secret.
 * @param from the sender's address.
 */
export function smtpMailer(url: string, from: string): Mailer {
  const timeouts = { connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS };
  const options = { url, ...timeouts, disableFileAccess: true, disableUrlAccess: true };
  // Loaded now, and only by a member that sends mail.
  const transport = import("nodemailer").then(({ createTransport }) => createTransport(options));
  // The next mail fails with the reason.
  transport.catch(() => undefined);
  return {
    // As objects, so that an address is used as it is and never parsed as a list.
    send: async ({ to, subject, text }) => {
      await (await transport).sendMail({
        from: { name: "", address: from },
        to: { name: "", address: to },
        subject,
        text,
      });
    },
  };
}

/** Writes whole mails into the log. For development only, because mails contain tokens. */
export function logMailer(log: MailLog): Mailer {
  return {
    send: (mail) => {
      log.info({ mail }, "mail is logged instead of sent, because no mail server is configured");
      return Promise.resolve();
    },
  };
}
