/** The caller of a command and the identity of its request, and the encoding of callers in commands and rows. */

import { type Field, fixedBytes, nullable, recordOf } from "./fields.ts";
import type { RecordReader, RecordWriter } from "./record.ts";

/** Bytes of the id of a request, and of the hash of its payload. */
export const REQUEST_ID_BYTES = 16;
export const HASH_BYTES = 32;

/** The caller: the user's id, and the API key behind the token, "" for a login. */
export interface Principal {
  readonly subject: string;
  readonly apiKeyId: string;
  /** For a login: how often the user's password had changed before. Absent = never, and for API keys. */
  readonly passwordVersion?: number;
}

/** Each level includes the ones before it. */
export type Access = "read" | "write" | "admin";

/** What a request needs: an access level, in a namespace or, with null, in no particular one. */
export interface RequiredAccess {
  readonly access: Access;
  readonly namespace: string | null;
}

/** Identifies a retry: the request id, and a hash of the request under that id. */
export interface RequestIdentity {
  /** 16 bytes of the UUID. */
  readonly requestId: Uint8Array;
  /**
   * 32 bytes: the SHA-256 of the decoded request in one canonical form, never of the received bytes. Equivalent
   * requests have the same hash, however they were encoded.
   */
  readonly payloadHash: Uint8Array;
}

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

export const requestIdentity: Field<RequestIdentity> = recordOf<RequestIdentity>({
  requestId: fixedBytes(REQUEST_ID_BYTES),
  payloadHash: fixedBytes(HASH_BYTES),
});
/** Null for a call without a request id. */
export const optionalRequest = nullable(requestIdentity);
