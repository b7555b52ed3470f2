/**
 * The metadata that every call must carry besides its token: `api-version: v1` and `request-id: <UUID>`, each once.
 *
 * Repeated metadata are refused: whether the first or the last counts would otherwise be for each implementation to
 * choose. They arrive as several values or joined by a comma, depending on the sender's library.
 */

import { invariant } from "../../raft/index.ts";
import { CoordinationError } from "../../state/index.ts";

const API_VERSION = "v1";
const REQUEST_ID_BYTES = 16;
/** RFC 9562 §4: the text form, of any version, in any case. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Raises BAD_METADATA unless the call speaks the version of the contract that is served. */
export function requireApiVersion(values: readonly string[]): void {
  const value = single(values, "api-version");
  if (value === undefined) {
    throw badMetadata("api-version", `is missing: send "api-version: ${API_VERSION}"`);
  }
  if (value !== API_VERSION) {
    throw badMetadata("api-version", `must be ${API_VERSION}`);
  }
}

/** The request id in lower case, or undefined if there is none. Raises BAD_METADATA unless it is one UUID. */
export function requestId(values: readonly string[]): string | undefined {
  const value = single(values, "request-id");
  if (value !== undefined && !UUID.test(value)) {
    throw badMetadata("request-id", "must be a UUID such as 123e4567-e89b-42d3-a456-426614174000");
  }
  return value?.toLowerCase();
}

/** The request id in lower case. Raises BAD_METADATA unless it is there, once, and a UUID. */
export function requireRequestId(values: readonly string[]): string {
  const value = requestId(values);
  if (value === undefined) {
    throw badMetadata("request-id", 'is missing: send "request-id: <UUID>", a new one for each request');
  }
  return value;
}

/** The request id for the log: in lower case, or null if there is none or it is none, whatever the client has sent. */
export function loggedRequestId([value]: readonly string[]): string | null {
  return value !== undefined && UUID.test(value) ? value.toLowerCase() : null;
}

/** The 16 bytes of a request id. */
export function requestIdBytes(uuid: string): Uint8Array {
  const bytes = Buffer.from(uuid.replaceAll("-", ""), "hex");
  invariant(bytes.length === REQUEST_ID_BYTES, "request ids have 16 bytes");
  return bytes;
}

function single(values: readonly string[], name: string): string | undefined {
  const [value] = values;
  if (values.length > 1 || value?.includes(",")) {
    throw badMetadata(name, "is repeated: send it once");
  }
  return value;
}

function badMetadata(name: string, problem: string): CoordinationError {
  return new CoordinationError("BAD_METADATA", `metadata ${name} ${problem}`, { details: new Map([["field", name]]) });
}
