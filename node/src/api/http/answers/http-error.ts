/**
 * Errors in HTTP: a status, a code and a reason for programs, a message for people, and headers.
 *
 * This is the only place where refusals of the service become HTTP errors. Any error that is neither a refusal nor an
 * HttpError is a bug. It becomes `internal_error` without details; the caller of `httpErrorOf` reports it.
 */

import { retryAfterMs } from "../../../access/index.ts";
import { StacklessError } from "../../../primitives/index.ts";
import { CoordinationError, type Reason } from "../../../state/index.ts";

/** Codes of the error body. Each belongs to one status. */
export type HttpErrorCode = keyof typeof STATUSES;

const STATUSES = {
  invalid_request: 400,
  invalid_header: 400,
  missing_header: 400,
  invalid_delimiter: 400,
  empty_body: 400,
  too_many_events: 400,
  unauthorized: 401,
  token_expired: 401,
  token_revoked: 401,
  invalid_api_key: 401,
  invalid_credentials: 401,
  email_not_verified: 403,
  insufficient_role: 403,
  namespace_denied: 403,
  not_found: 404,
  log_not_found: 404,
  key_not_found: 404,
  user_not_found: 404,
  method_not_allowed: 405,
  already_exists: 409,
  sequence_conflict: 409,
  fenced: 409,
  last_owner: 409,
  compacted: 410,
  payload_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  internal_error: 500,
  not_served: 501,
  unavailable: 503,
  timeout: 504,
  storage_full: 507,
} as const;

const MS_PER_SECOND = 1000;
/** Whole seconds, never 0 (S46): about the duration of an election. */
const RETRY_AFTER_SECS = "1";

/** RFC 6750 §3; without an error if the request needs no token. */
const CHALLENGES: Partial<Record<HttpErrorCode, string>> = {
  unauthorized: 'Bearer error="invalid_token"',
  token_expired: 'Bearer error="invalid_token"',
  token_revoked: 'Bearer error="invalid_token"',
  invalid_api_key: "Bearer",
  invalid_credentials: "Bearer",
};

/** Reasons of errors that are raised here, by code. All others are those of a refusal of the service. */
const OWN_REASONS = {
  invalid_request: "BAD_FIELD",
  invalid_header: "INVALID_HEADER",
  missing_header: "MISSING_HEADER",
  invalid_delimiter: "INVALID_DELIMITER",
  empty_body: "EMPTY_BODY",
  too_many_events: "TOO_MANY_EVENTS",
  not_found: "NOT_FOUND",
  method_not_allowed: "METHOD_NOT_ALLOWED",
  payload_too_large: "TOO_LARGE",
  unsupported_media_type: "UNSUPPORTED_MEDIA_TYPE",
  internal_error: "INTERNAL",
  unavailable: "NO_LEADER",
  timeout: "DEADLINE",
} as const;

/** Codes that the HTTP interface itself raises. */
export type OwnHttpErrorCode = keyof typeof OWN_REASONS;
/** A reason over HTTP: that of gRPC for the same error, or one of those that only HTTP has. */
type HttpReason = Reason | (typeof OWN_REASONS)[OwnHttpErrorCode];
type Headers = readonly (readonly [string, string])[];

export class HttpError extends StacklessError {
  readonly status: number;
  readonly code: HttpErrorCode;
  readonly reason: HttpReason;
  readonly headers: ReadonlyMap<string, string>;

  /** @param headers in addition to the headers of the code */
  constructor(code: OwnHttpErrorCode, message: string, headers?: Headers);
  constructor(code: HttpErrorCode, message: string, headers: Headers, reason: HttpReason);
  constructor(code: HttpErrorCode, message: string, headers: Headers = [], reason?: HttpReason) {
    super(message);
    this.name = "HttpError";
    this.status = STATUSES[code];
    this.code = code;
    this.reason = reason ?? OWN_REASONS[code as OwnHttpErrorCode];
    this.headers = new Map([...headersOf(code), ...headers]);
  }
}

/** The status of a code. */
export function statusOf(code: HttpErrorCode): number {
  return STATUSES[code];
}

/** Returns the answer for anything that was thrown during a request, and whether it was a bug. */
export function httpErrorOf(error: unknown): { readonly answer: HttpError; readonly bug: boolean } {
  if (error instanceof HttpError) {
    return { answer: error, bug: false };
  }
  const code = error instanceof CoordinationError ? codeOf(error) : null;
  if (error instanceof CoordinationError && code !== null) {
    return { answer: new HttpError(code, error.message, headersOfDetails(error), error.reason), bug: false };
  }
  return { answer: new HttpError("internal_error", "an internal error; it was logged"), bug: true };
}

/** Codes by reason; null = no HTTP endpoint can be refused for this reason. */
const CODES: Record<Reason, HttpErrorCode | null> = {
  BAD_METADATA: "invalid_request",
  BAD_FIELD: "invalid_request",
  TOO_LARGE: "payload_too_large",
  REQUEST_ID_REUSED: "invalid_request",
  TOKEN_INVALID: "unauthorized",
  TOKEN_EXPIRED: "token_expired",
  TOKEN_REVOKED: "token_revoked",
  INVALID_API_KEY: "invalid_api_key",
  INVALID_CREDENTIALS: "invalid_credentials",
  EMAIL_NOT_VERIFIED: "email_not_verified",
  NAMESPACE_DENIED: "namespace_denied",
  ACCESS_DENIED: "insufficient_role",
  NAMESPACE_NOT_FOUND: "not_found",
  KEY_NOT_FOUND: "not_found",
  LOCK_NOT_FOUND: null,
  NAMESPACE_EXISTS: "already_exists",
  USER_NOT_FOUND: "user_not_found",
  API_KEY_NOT_FOUND: "key_not_found",
  USER_EXISTS: "already_exists",
  LAST_OWNER: "last_owner",
  SETTINGS_CHANGED: null,
  NO_BACKUP_STORE: null,
  OTHER_BACKUP_STORE: null,
  BACKUP_IN_PROGRESS: null,
  BACKUP_STORE_UNAVAILABLE: null,
  BACKUP_REFUSED: null,
  MEMBER_UNREACHABLE: null,
  LOG_NOT_FOUND: "log_not_found",
  SESSION_NOT_FOUND: null,
  LOG_EXISTS: "already_exists",
  SEQUENCE_CONFLICT: "sequence_conflict",
  REGION_NOT_FOUND: null,
  LOCK_EXISTS: null,
  MEMBER_NOT_FOUND: null,
  MEMBER_EXISTS: null,
  CONFIG_CHANGED: null,
  CONFIG_CHANGE_IN_PROGRESS: null,
  LEARNER_NOT_READY: null,
  QUORUM_UNSAFE: null,
  IS_LEADER: null,
  LAST_VOTER: null,
  REVISION_MISMATCH: null,
  VERSION_MISMATCH: null,
  MEMORY_BOUNDS: null,
  NOT_A_NUMBER: null,
  NUMBER_OVERFLOW: null,
  NOT_LOCK_HOLDER: null,
  LOCK_LOST: null,
  AMBIGUOUS_HOLD: null,
  UPGRADE_WOULD_DEADLOCK: null,
  FENCED: "fenced",
  NOT_EMPTY: null,
  NAMESPACE_DELETING: null,
  COMPACTED: "compacted",
  RATE_LIMITED: "rate_limited",
  QUOTA: "storage_full",
  STORAGE_FULL: "storage_full",
  TOO_MANY_STREAMS: "unavailable",
  NOT_SERVED: "not_served",
  NO_LEADER: "unavailable",
  LEADER_CHANGED: "unavailable",
  SHUTTING_DOWN: "unavailable",
  OVERLOADED: "unavailable",
  DEADLINE: "unavailable",
};

function codeOf(error: CoordinationError): HttpErrorCode | null {
  const code = CODES[error.reason];
  // 503 promises that nothing was executed. If that is not certain, the answer is 504, whatever the reason.
  return code === "unavailable" && error.outcome === "unknown" ? "timeout" : code;
}

/** The headers of a refusal, besides those of its code. */
function headersOfDetails(error: CoordinationError): (readonly [string, string])[] {
  const lastSequence = error.details.get("last_sequence");
  if (error.reason === "SEQUENCE_CONFLICT" && lastSequence !== undefined) {
    return [["Last-Sequence", lastSequence]];
  }
  const compactRevision = error.details.get("compact_revision");
  if (error.reason === "COMPACTED" && compactRevision !== undefined) {
    return [["Compact-Revision", compactRevision]];
  }
  const afterMs = retryAfterMs(error);
  return afterMs > 0 ? [["Retry-After", String(Math.ceil(afterMs / MS_PER_SECOND))]] : [];
}

function headersOf(code: HttpErrorCode): (readonly [string, string])[] {
  const headers: (readonly [string, string])[] = [];
  const challenge = CHALLENGES[code];
  if (challenge !== undefined) {
    headers.push(["WWW-Authenticate", challenge]);
  }
  if (code === "unavailable") {
    headers.push(["Retry-After", RETRY_AFTER_SECS]);
  }
  return headers;
}
