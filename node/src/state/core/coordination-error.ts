/**
 * The error type for everything that the service refuses: a canonical code, a reason, a message for people, details.
 *
 * Code below the API raises it; the API maps it once to gRPC and once to HTTP. A refusal decided in apply is data: its
 * replay row stores it, message included, and a retry gets it unchanged. So a new text for such a message needs a new
 * cluster version. A bug is another type and ends the process.
 */

import { StacklessError } from "../../primitives/index.ts";

/** The canonical gRPC status codes that the service answers with. */
export type Code =
  | "INVALID_ARGUMENT"
  | "DEADLINE_EXCEEDED"
  | "NOT_FOUND"
  | "ALREADY_EXISTS"
  | "PERMISSION_DENIED"
  | "RESOURCE_EXHAUSTED"
  | "FAILED_PRECONDITION"
  | "ABORTED"
  | "OUT_OF_RANGE"
  | "UNIMPLEMENTED"
  | "UNAVAILABLE"
  | "UNAUTHENTICATED";

/** Machine-readable reasons; each belongs to one code. */
export type Reason =
  | "BAD_METADATA"
  | "BAD_FIELD"
  | "TOO_LARGE"
  | "REQUEST_ID_REUSED"
  | "TOKEN_INVALID"
  | "TOKEN_EXPIRED"
  | "TOKEN_REVOKED"
  | "INVALID_API_KEY"
  | "INVALID_CREDENTIALS"
  | "EMAIL_NOT_VERIFIED"
  | "NAMESPACE_DENIED"
  | "ACCESS_DENIED"
  | "NAMESPACE_NOT_FOUND"
  | "KEY_NOT_FOUND"
  | "REGION_NOT_FOUND"
  | "LOCK_NOT_FOUND"
  | "LOG_NOT_FOUND"
  | "SESSION_NOT_FOUND"
  | "MEMBER_NOT_FOUND"
  | "USER_NOT_FOUND"
  | "API_KEY_NOT_FOUND"
  | "NAMESPACE_EXISTS"
  | "LOCK_EXISTS"
  | "LOG_EXISTS"
  | "MEMBER_EXISTS"
  | "USER_EXISTS"
  | "REVISION_MISMATCH"
  | "VERSION_MISMATCH"
  | "SEQUENCE_CONFLICT"
  | "NOT_A_NUMBER"
  | "NOT_LOCK_HOLDER"
  | "LOCK_LOST"
  | "AMBIGUOUS_HOLD"
  | "UPGRADE_WOULD_DEADLOCK"
  | "CONFIG_CHANGED"
  | "CONFIG_CHANGE_IN_PROGRESS"
  | "LEARNER_NOT_READY"
  | "QUORUM_UNSAFE"
  | "IS_LEADER"
  | "LAST_VOTER"
  | "NOT_EMPTY"
  | "NAMESPACE_DELETING"
  | "LAST_OWNER"
  | "SETTINGS_CHANGED"
  | "NO_BACKUP_STORE"
  | "OTHER_BACKUP_STORE"
  | "BACKUP_IN_PROGRESS"
  | "BACKUP_STORE_UNAVAILABLE"
  | "BACKUP_REFUSED"
  | "MEMBER_UNREACHABLE"
  | "FENCED"
  | "MEMORY_BOUNDS"
  | "NUMBER_OVERFLOW"
  | "COMPACTED"
  | "RATE_LIMITED"
  | "QUOTA"
  | "STORAGE_FULL"
  | "TOO_MANY_STREAMS"
  | "NOT_SERVED"
  | "NO_LEADER"
  | "LEADER_CHANGED"
  | "SHUTTING_DOWN"
  | "OVERLOADED"
  | "DEADLINE";

const CODES: Record<Reason, Code> = {
  BAD_METADATA: "INVALID_ARGUMENT",
  BAD_FIELD: "INVALID_ARGUMENT",
  TOO_LARGE: "INVALID_ARGUMENT",
  REQUEST_ID_REUSED: "INVALID_ARGUMENT",
  TOKEN_INVALID: "UNAUTHENTICATED",
  TOKEN_EXPIRED: "UNAUTHENTICATED",
  TOKEN_REVOKED: "UNAUTHENTICATED",
  INVALID_API_KEY: "UNAUTHENTICATED",
  INVALID_CREDENTIALS: "UNAUTHENTICATED",
  EMAIL_NOT_VERIFIED: "PERMISSION_DENIED",
  NAMESPACE_DENIED: "PERMISSION_DENIED",
  ACCESS_DENIED: "PERMISSION_DENIED",
  NAMESPACE_NOT_FOUND: "NOT_FOUND",
  KEY_NOT_FOUND: "NOT_FOUND",
  REGION_NOT_FOUND: "NOT_FOUND",
  LOCK_NOT_FOUND: "NOT_FOUND",
  LOG_NOT_FOUND: "NOT_FOUND",
  SESSION_NOT_FOUND: "NOT_FOUND",
  MEMBER_NOT_FOUND: "NOT_FOUND",
  USER_NOT_FOUND: "NOT_FOUND",
  API_KEY_NOT_FOUND: "NOT_FOUND",
  NAMESPACE_EXISTS: "ALREADY_EXISTS",
  LOCK_EXISTS: "ALREADY_EXISTS",
  LOG_EXISTS: "ALREADY_EXISTS",
  MEMBER_EXISTS: "ALREADY_EXISTS",
  USER_EXISTS: "ALREADY_EXISTS",
  REVISION_MISMATCH: "FAILED_PRECONDITION",
  VERSION_MISMATCH: "FAILED_PRECONDITION",
  SEQUENCE_CONFLICT: "FAILED_PRECONDITION",
  NOT_A_NUMBER: "FAILED_PRECONDITION",
  NOT_LOCK_HOLDER: "FAILED_PRECONDITION",
  LOCK_LOST: "FAILED_PRECONDITION",
  AMBIGUOUS_HOLD: "FAILED_PRECONDITION",
  UPGRADE_WOULD_DEADLOCK: "FAILED_PRECONDITION",
  CONFIG_CHANGED: "FAILED_PRECONDITION",
  CONFIG_CHANGE_IN_PROGRESS: "FAILED_PRECONDITION",
  LEARNER_NOT_READY: "FAILED_PRECONDITION",
  QUORUM_UNSAFE: "FAILED_PRECONDITION",
  IS_LEADER: "FAILED_PRECONDITION",
  LAST_VOTER: "FAILED_PRECONDITION",
  NOT_EMPTY: "FAILED_PRECONDITION",
  NAMESPACE_DELETING: "FAILED_PRECONDITION",
  LAST_OWNER: "FAILED_PRECONDITION",
  SETTINGS_CHANGED: "FAILED_PRECONDITION",
  NO_BACKUP_STORE: "FAILED_PRECONDITION",
  OTHER_BACKUP_STORE: "FAILED_PRECONDITION",
  BACKUP_IN_PROGRESS: "FAILED_PRECONDITION",
  BACKUP_STORE_UNAVAILABLE: "UNAVAILABLE",
  BACKUP_REFUSED: "FAILED_PRECONDITION",
  MEMBER_UNREACHABLE: "UNAVAILABLE",
  FENCED: "ABORTED",
  MEMORY_BOUNDS: "OUT_OF_RANGE",
  NUMBER_OVERFLOW: "OUT_OF_RANGE",
  COMPACTED: "OUT_OF_RANGE",
  RATE_LIMITED: "RESOURCE_EXHAUSTED",
  QUOTA: "RESOURCE_EXHAUSTED",
  STORAGE_FULL: "RESOURCE_EXHAUSTED",
  TOO_MANY_STREAMS: "RESOURCE_EXHAUSTED",
  NOT_SERVED: "UNIMPLEMENTED",
  NO_LEADER: "UNAVAILABLE",
  LEADER_CHANGED: "UNAVAILABLE",
  SHUTTING_DOWN: "UNAVAILABLE",
  OVERLOADED: "UNAVAILABLE",
  DEADLINE: "DEADLINE_EXCEEDED",
};

/** What is certain about the effect of a refused request: it did not happen, or it may have. */
export type ErrorOutcome = "not-executed" | "unknown";

/** A refusal. `details` are extra facts for programs, by name. */
export class CoordinationError extends StacklessError {
  readonly code: Code;
  readonly reason: Reason;
  readonly details: ReadonlyMap<string, string>;
  readonly outcome: ErrorOutcome;

  constructor(
    reason: Reason,
    message: string,
    options: { details?: ReadonlyMap<string, string>; outcome?: ErrorOutcome } = {},
  ) {
    super(message);
    this.name = "CoordinationError";
    this.code = CODES[reason];
    this.reason = reason;
    this.details = options.details ?? new Map();
    this.outcome = options.outcome ?? "not-executed";
  }
}

/** Returns a refusal. Raises any other error again. */
export function refusalIn(error: unknown): CoordinationError {
  if (error instanceof CoordinationError) {
    return error;
  }
  throw error;
}

/** The refusal of a field; `problem` is a predicate such as "must be an e-mail address". */
export function badField(field: string, problem: string): CoordinationError {
  return refusedField(field, `${field} ${problem}`);
}

/** The same for a field of a request, which the message calls a field; `limit` is the number in the rule, for programs. */
export function badRequestField(field: string, rule: string, limit?: number): CoordinationError {
  return refusedField(field, `field ${field} ${rule}`, limit);
}

function refusedField(field: string, message: string, limit?: number): CoordinationError {
  const details = new Map([["field", field]]);
  if (limit !== undefined) {
    details.set("limit", String(limit));
  }
  return new CoordinationError("BAD_FIELD", message, { details });
}

/** The refusal of something with more of what the message names than this limit. */
export function tooLarge(message: string, limit: number): CoordinationError {
  return new CoordinationError("TOO_LARGE", message, { details: new Map([["limit", String(limit)]]) });
}

/** Whether the text is a reason; checks texts from stored rows. */
export function isReason(text: string): text is Reason {
  return Object.hasOwn(CODES, text);
}
