/** How a member sends mail: by its flags, with the secret parts from a file. */

import { readFileSync } from "node:fs";
import { logMailer, type Mailer, type MailLog, smtpMailer } from "../access/index.ts";
import { UsageError } from "../command-line/index.ts";
import type { MailConfiguration } from "./configuration.ts";

const PROTOCOLS = new Set(["smtp:", "smtps:"]);

/**
 * Returns the mailer, or null for a member that sends no mail. Raises UsageError, which names the file but never quotes
 * it.
 */
export function memberMailer(mail: MailConfiguration | null, log: MailLog): Mailer | null {
  if (mail === null) {
    return null;
  }
  if (mail.kind === "log") {
    log.warn({}, "mails with secrets are written into this log, because of --mail-to-log: for development only");
    return logMailer(log);
  }
  return smtpMailer(readUrl(mail.urlFile), mail.from);
}

function readUrl(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new UsageError(`--smtp-url-file ${file}: ${(error as Error).message}`, { cause: error });
  }
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !PROTOCOLS.has(url.protocol) || url.hostname === "") {
    throw new UsageError(
      `--smtp-url-file ${file}: the file must contain a URL such as smtps://user:password@mail.example.com`,
    );
  }
  return text;
}
