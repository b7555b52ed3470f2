/** Principals in the bytes of commands and rows. */

import type { Principal } from "./command.ts";
import type { RecordReader, RecordWriter } from "./record.ts";

/** Writes who asks: only logins have the version of a password. */
export function writePrincipal(writer: RecordWriter, { subject, apiKeyId, passwordVersion = 0 }: Principal): void {
  writer.text(subject).text(apiKeyId);
  if (apiKeyId === "") {
    writer.uint53(passwordVersion);
  }
}

/** Reads what `writePrincipal` has written. */
export function readPrincipal(reader: RecordReader): Principal {
  const principal = { subject: reader.name(), apiKeyId: reader.name() };
  const passwordVersion = principal.apiKeyId === "" ? reader.uint53() : 0;
  return passwordVersion === 0 ? principal : { ...principal, passwordVersion };
}
