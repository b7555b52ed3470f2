/** The encoding of principals in commands and rows. */

import type { Principal } from "./command.ts";
import type { RecordReader, RecordWriter } from "./record.ts";

/** Writes the principal; only logins have a password version. */
export function writePrincipal(writer: RecordWriter, { subject, apiKeyId, passwordVersion = 0 }: Principal): void {
  writer.text(subject).text(apiKeyId);
  if (apiKeyId === "") {
    writer.uint53(passwordVersion);
  }
}

/** Reads the form of `writePrincipal`. */
export function readPrincipal(reader: RecordReader): Principal {
  const principal = { subject: reader.name(), apiKeyId: reader.name() };
  const passwordVersion = principal.apiKeyId === "" ? reader.uint53() : 0;
  return passwordVersion === 0 ? principal : { ...principal, passwordVersion };
}
