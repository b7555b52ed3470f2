/** Errors of the Connect protocol: their codes, the HTTP statuses that belong to these, and their form in JSON. */

import { encodedDetails } from "@quoin/proto";
import { type CallStatus, type StatusCode, status } from "../calls/index.ts";

const MS_PER_SECOND = 1_000;

/** The names of the codes, and their statuses in HTTP. The code CANCELLED has one l in Connect. */
const CODES: Readonly<Record<StatusCode, readonly [string, number]>> = {
  [status.OK]: ["ok", 200],
  [status.CANCELLED]: ["canceled", 499],
  [status.UNKNOWN]: ["unknown", 500],
  [status.INVALID_ARGUMENT]: ["invalid_argument", 400],
  [status.DEADLINE_EXCEEDED]: ["deadline_exceeded", 504],
  [status.NOT_FOUND]: ["not_found", 404],
  [status.ALREADY_EXISTS]: ["already_exists", 409],
  [status.PERMISSION_DENIED]: ["permission_denied", 403],
  [status.RESOURCE_EXHAUSTED]: ["resource_exhausted", 429],
  [status.FAILED_PRECONDITION]: ["failed_precondition", 400],
  [status.ABORTED]: ["aborted", 409],
  [status.OUT_OF_RANGE]: ["out_of_range", 400],
  [status.UNIMPLEMENTED]: ["unimplemented", 501],
  [status.INTERNAL]: ["internal", 500],
  [status.UNAVAILABLE]: ["unavailable", 503],
  [status.DATA_LOSS]: ["data_loss", 500],
  [status.UNAUTHENTICATED]: ["unauthenticated", 401],
};

/** The error in JSON. Each detail also has a readable form. */
export interface ConnectError {
  readonly code: string;
  readonly message: string;
  readonly details?: readonly { readonly type: string; readonly value: string; readonly debug: object }[];
}

/** The status in HTTP of the answer of a unary call. */
export function httpStatusOf({ code }: CallStatus): number {
  return CODES[code][1];
}

/** The error that the answer contains. */
export function connectError({ code, message, reason, details }: CallStatus): ConnectError {
  const [name] = CODES[code];
  if (details === null) {
    return { code: name, message };
  }
  const encoded = encodedDetails({ reason, ...details }).map(({ type, value, json }) => ({
    type,
    value: Buffer.from(value).toString("base64").replace(/=+$/, ""),
    debug: json,
  }));
  return { code: name, message, details: encoded };
}

/**
 * The header fields that HTTP itself has for an error: name, value, name, value, … `Retry-After` has whole seconds, at
 * least 1, and only where nothing was executed (S46).
 */
export function errorFields({ code, details }: CallStatus): readonly string[] {
  if (code === status.UNAUTHENTICATED) {
    return ["WWW-Authenticate", 'Bearer error="invalid_token"'];
  }
  return details?.retryDelayMs !== undefined && details.outcome === "not-executed"
    ? ["Retry-After", String(Math.max(1, Math.ceil(details.retryDelayMs / MS_PER_SECOND)))]
    : [];
}
