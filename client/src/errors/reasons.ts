/**
 * The reasons of errors, for programs. docs/errors.md describes each one. A spec compares them with the lists of the
 * service.
 */

/** Reasons of the service. */
const SERVICE_REASONS = [
  "BAD_METADATA",
  "BAD_FIELD",
  "TOO_LARGE",
  "REQUEST_ID_REUSED",
  "TOKEN_INVALID",
  "TOKEN_EXPIRED",
  "TOKEN_REVOKED",
  "INVALID_API_KEY",
  "INVALID_CREDENTIALS",
  "EMAIL_NOT_VERIFIED",
  "NAMESPACE_DENIED",
  "ACCESS_DENIED",
  "NAMESPACE_NOT_FOUND",
  "KEY_NOT_FOUND",
  "REGION_NOT_FOUND",
  "LOCK_NOT_FOUND",
  "LOG_NOT_FOUND",
  "SESSION_NOT_FOUND",
  "MEMBER_NOT_FOUND",
  "USER_NOT_FOUND",
  "API_KEY_NOT_FOUND",
  "NAMESPACE_EXISTS",
  "LOCK_EXISTS",
  "LOG_EXISTS",
  "MEMBER_EXISTS",
  "USER_EXISTS",
  "REVISION_MISMATCH",
  "VERSION_MISMATCH",
  "SEQUENCE_CONFLICT",
  "NOT_A_NUMBER",
  "NOT_LOCK_HOLDER",
  "LOCK_LOST",
  "AMBIGUOUS_HOLD",
  "UPGRADE_WOULD_DEADLOCK",
  "CONFIG_CHANGED",
  "CONFIG_CHANGE_IN_PROGRESS",
  "LEARNER_NOT_READY",
  "QUORUM_UNSAFE",
  "IS_LEADER",
  "LAST_VOTER",
  "NOT_EMPTY",
  "NAMESPACE_DELETING",
  "LAST_OWNER",
  "SETTINGS_CHANGED",
  "NO_BACKUP_STORE",
  "OTHER_BACKUP_STORE",
  "BACKUP_IN_PROGRESS",
  "BACKUP_STORE_UNAVAILABLE",
  "BACKUP_REFUSED",
  "MEMBER_UNREACHABLE",
  "FENCED",
  "MEMORY_BOUNDS",
  "NUMBER_OVERFLOW",
  "COMPACTED",
  "RATE_LIMITED",
  "QUOTA",
  "STORAGE_FULL",
  "TOO_MANY_STREAMS",
  "NOT_SERVED",
  "NO_LEADER",
  "LEADER_CHANGED",
  "SHUTTING_DOWN",
  "OVERLOADED",
  "DEADLINE",
  "INTERNAL",
] as const;

/** Reasons of this package. */
const OWN_REASONS = [
  /** The hold was not granted in time. */
  "NOT_ACQUIRED",
  /** The session has ended, or was not renewed until its deadline. */
  "SESSION_LOST",
  /** There is no token: its file cannot be read, or has none. */
  "NO_TOKEN",
  /** An API key was created, and the only answer that contains it was lost. */
  "API_KEY_LOST",
  /** Others were faster in all attempts of an optimistic transaction. */
  "TRANSACTION_CONFLICT",
] as const;

/** A machine-readable reason of an error. */
export type QuoinReason = (typeof quoinReasons)[number];

/** All reasons that this release knows. */
export const quoinReasons = [...SERVICE_REASONS, ...OWN_REASONS] as const;

const KNOWN: ReadonlySet<string> = new Set(quoinReasons);

/** Whether this release knows a reason. A member of a newer release may have further ones. */
export function isQuoinReason(reason: string): reason is QuoinReason {
  return KNOWN.has(reason);
}
