/**
 * The metadata that every call must have besides its token: `api-version: v1` and `request-id: <UUID>`, each once.
 *
 * Repeated metadata are refused, because implementations differ on whether the first or the last value counts. They
 * arrive as several values or joined by a comma, depending on the client's library.
 */

import { invariant } from "../../primitives/index.ts";
import { CoordinationError } from "../../state/index.ts";

const API_VERSION = "v1";
const REQUEST_ID_BYTES = 16;
/** RFC 9562 §4: the text form, of any version, in any case. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Throws BAD_METADATA unless the call names the version of the contract that this server implements. */
export function requireApiVersion(values: readonly string[]): void {
  const value = single(values, "api-version");
  if (value === undefined) {
    throw badMetadata("api-version", `is missing: send "api-version: ${API_VERSION}"`);
  }
  if (value !== API_VERSION) {
    throw badMetadata("api-version", `must be ${API_VERSION}`);
  }
}

/** Returns the request id in lower case; undefined if there is none. Throws BAD_METADATA unless it is one UUID. */
export function requestId(values: readonly string[]): string | undefined {
  const value = single(values, "request-id");
  if (value !== undefined && !UUID.test(value)) {
    throw badMetadata("request-id", "must be a UUID such as 123e4567-e89b-42d3-a456-426614174000");
  }
  return value?.toLowerCase();
}

/** Returns the request id in lower case. Throws BAD_METADATA if it is missing, repeated or not a UUID. */
export function requireRequestId(values: readonly string[]): string {
  const value = requestId(values);
  if (value === undefined) {
    throw badMetadata("request-id", 'is missing: send "request-id: <UUID>", a new one for each request');
  }
  return value;
}

/**
 * The request id for the log: in lower case, or null if it is missing or not a UUID. So nothing else reaches the log.
 */
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
