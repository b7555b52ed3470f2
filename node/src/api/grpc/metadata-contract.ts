/**
 * The metadata that every call must carry besides its token: `api-version: v1` and `request-id: <UUID>`, each once.
 *
 * Repeated metadata are refused: whether the first or the last counts would otherwise be for each implementation to
 * choose. They arrive as several values or joined by a comma, depending on the sender's library.
 */

import type { Metadata } from "@grpc/grpc-js";
import { invariant } from "../../raft/index.ts";
import { CoordinationError } from "../../state/index.ts";

const API_VERSION = "v1";
const REQUEST_ID_BYTES = 16;
/** RFC 9562 §4: the text form, of any version, in any case. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Raises BAD_METADATA unless the call speaks the version of the contract that is served. */
export function requireApiVersion(metadata: Metadata): void {
  const value = single(metadata, "api-version");
  if (value === undefined) {
    throw badMetadata("api-version", `is missing: send "api-version: ${API_VERSION}"`);
  }
  if (value !== API_VERSION) {
    throw badMetadata("api-version", `must be ${API_VERSION}`);
  }
}

/** The request id in lower case, or undefined if there is none. Raises BAD_METADATA unless it is one UUID. */
export function requestId(metadata: Metadata): string | undefined {
  const value = single(metadata, "request-id");
  if (value !== undefined && !UUID.test(value)) {
    throw badMetadata("request-id", "must be a UUID such as 123e4567-e89b-42d3-a456-426614174000");
  }
  return value?.toLowerCase();
}

/** The request id in lower case. Raises BAD_METADATA unless it is there, once, and a UUID. */
export function requireRequestId(metadata: Metadata): string {
  const value = requestId(metadata);
  if (value === undefined) {
    throw badMetadata("request-id", 'is missing: send "request-id: <UUID>", a new one for each request');
  }
  return value;
}

/** The request id for the log: in lower case, or null if there is none or it is none, whatever the client has sent. */
export function loggedRequestId(metadata: Metadata): string | null {
  const [value] = metadata.get("request-id");
  return typeof value === "string" && UUID.test(value) ? value.toLowerCase() : null;
}

/** The 16 bytes of a request id. */
export function requestIdBytes(uuid: string): Uint8Array {
  const bytes = Buffer.from(uuid.replaceAll("-", ""), "hex");
  invariant(bytes.length === REQUEST_ID_BYTES, "request ids have 16 bytes");
  return bytes;
}

function single(metadata: Metadata, name: string): string | undefined {
  const [value, ...others] = metadata.get(name);
  if (others.length > 0 || (typeof value === "string" && value.includes(","))) {
    throw badMetadata(name, "is repeated: send it once");
  }
  return value === undefined ? undefined : String(value);
}

function badMetadata(name: string, problem: string): CoordinationError {
  return new CoordinationError("BAD_METADATA", `metadata ${name} ${problem}`, { details: new Map([["field", name]]) });
}
