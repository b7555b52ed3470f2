# Made by scripts/generate.py from the contract. Do not edit.
"""An exception for each code and each reason of `docs/errors.md`."""

from __future__ import annotations

from quoin._core.errors import QuoinError


class CancelledError(QuoinError):
    """CANCELLED: the operation was cancelled, or its client is closed."""


class UnknownError(QuoinError):
    """UNKNOWN: an error that the service does not know."""


class InvalidArgumentError(QuoinError):
    """INVALID_ARGUMENT: the request is wrong."""


class DeadlineExceededError(QuoinError, TimeoutError):
    """DEADLINE_EXCEEDED: the deadline has passed."""


class NotFoundError(QuoinError):
    """NOT_FOUND: something does not exist."""


class AlreadyExistsError(QuoinError):
    """ALREADY_EXISTS: something exists already."""


class PermissionDeniedError(QuoinError):
    """PERMISSION_DENIED: the caller lacks a right."""


class ResourceExhaustedError(QuoinError):
    """RESOURCE_EXHAUSTED: a limit is reached."""


class FailedPreconditionError(QuoinError):
    """FAILED_PRECONDITION: something is not as the request needs it."""


class AbortedError(QuoinError):
    """ABORTED: another client was faster."""


class OutOfRangeError(QuoinError):
    """OUT_OF_RANGE: something is outside of its range."""


class UnimplementedError(QuoinError):
    """UNIMPLEMENTED: the member does not serve the method."""


class InternalError(QuoinError):
    """INTERNAL: a bug."""


class UnavailableError(QuoinError):
    """UNAVAILABLE: no member can answer now."""


class DataLossError(QuoinError):
    """DATA_LOSS: data is lost."""


class UnauthenticatedError(QuoinError):
    """UNAUTHENTICATED: there is no valid token."""


class BadMetadataError(InvalidArgumentError):
    """INVALID_ARGUMENT / BAD_METADATA: `api-version` or `request-id` is missing, repeated or malformed.

    Send `api-version: v1`, and one UUID as `request-id`.
    """


class BadFieldError(InvalidArgumentError):
    """INVALID_ARGUMENT / BAD_FIELD: a field is unknown, given twice or out of its range, text is not UTF-8, a page
    token belongs to another listing, or the message is cut short.

    The detail `field` names the field; correct it.
    """


class TooLargeError(InvalidArgumentError):
    """INVALID_ARGUMENT / TOO_LARGE: a key, a value, a write, a body, or a transaction with its answer exceeds its
    limit.

    Divide the data.
    """


class RequestIdReusedError(InvalidArgumentError):
    """INVALID_ARGUMENT / REQUEST_ID_REUSED: the request id belongs to another request of the same user within the
    last 300 s.

    One new UUID for each request; the same UUID only for a retry of exactly the same request.
    """


class NotServedError(UnimplementedError):
    """UNIMPLEMENTED / NOT_SERVED: this port, this release, or this Node does not serve the method; or the upgrade
    of the cluster has not ended; `/auth/reset`: the member sends no mail.

    Check the port: administration is on 7403; check the version.
    """


class TokenInvalidError(UnauthenticatedError):
    """UNAUTHENTICATED / TOKEN_INVALID: no token, a damaged one, one of another cluster, or one whose signing key is
    gone; on the admin port: not one of the admin tokens.

    Get a new token; after a restore, every client needs one.
    """


class TokenExpiredError(UnauthenticatedError):
    """UNAUTHENTICATED / TOKEN_EXPIRED: the token, or its API key, has expired.

    Get a new token before the old one ends; create a new API key.
    """


class TokenRevokedError(UnauthenticatedError):
    """UNAUTHENTICATED / TOKEN_REVOKED: the API key was revoked, the user was disabled or deleted, or the password
    was changed.

    Log in again, or ask an administrator.
    """


class InvalidApiKeyError(UnauthenticatedError):
    """UNAUTHENTICATED / INVALID_API_KEY: the API key of ExchangeToken or `POST /auth/token` is wrong, revoked or
    expired.

    Use a valid key.
    """


class InvalidCredentialsError(UnauthenticatedError):
    """UNAUTHENTICATED / INVALID_CREDENTIALS: the address or the password is wrong, or the user is disabled.

    Try again with the right ones; ten failures in a minute cause RATE_LIMITED.
    """


class EmailNotVerifiedError(PermissionDeniedError):
    """PERMISSION_DENIED / EMAIL_NOT_VERIFIED: the user has not confirmed the address.

    `POST /auth/verify` with the token from the mail.
    """


class NamespaceDeniedError(PermissionDeniedError):
    """PERMISSION_DENIED / NAMESPACE_DENIED: the token or its user does not have this namespace.

    Use another namespace, or ask an administrator; do not retry.
    """


class AccessDeniedError(PermissionDeniedError):
    """PERMISSION_DENIED / ACCESS_DENIED: the token or its user lacks the access that the call needs.

    Use a user with a higher role.
    """


class NamespaceNotFoundError(NotFoundError):
    """NOT_FOUND / NAMESPACE_NOT_FOUND: the namespace was never created, or is deleted or being deleted.

    `quoinctl namespace create NAME`.
    """


class KeyNotFoundError(NotFoundError):
    """NOT_FOUND / KEY_NOT_FOUND: the key was never written, was deleted, or has expired.

    Often a normal answer; handle it.
    """


class LockNotFoundError(NotFoundError):
    """NOT_FOUND / LOCK_NOT_FOUND: no lock of this kind has the name; a semaphore is no exclusive lock.

    Create the lock once.
    """


class SessionNotFoundError(NotFoundError):
    """NOT_FOUND / SESSION_NOT_FOUND: the session has ended, by itself or by EndSession, or the id is wrong.

    Create another one, and put its keys again; ids are never used again.
    """


class RegionNotFoundError(NotFoundError):
    """NOT_FOUND / REGION_NOT_FOUND: the memory region was freed, or the id is wrong.

    Allocate another one; ids are never used again.
    """


class LogNotFoundError(NotFoundError):
    """NOT_FOUND / LOG_NOT_FOUND: the log or its namespace was deleted, or the caller may not see the namespace.

    Check the id and the rights.
    """


class UserNotFoundError(NotFoundError):
    """NOT_FOUND / USER_NOT_FOUND: no such user, or one that the caller may not manage.

    Check the id and the rights.
    """


class ApiKeyNotFoundError(NotFoundError):
    """NOT_FOUND / API_KEY_NOT_FOUND: no such API key, or one that the caller may not revoke.

    Check the id and the rights.
    """


class MemberNotFoundError(NotFoundError):
    """NOT_FOUND / MEMBER_NOT_FOUND: no member has this id.

    `quoinctl member list`.
    """


class NamespaceExistsError(AlreadyExistsError):
    """ALREADY_EXISTS / NAMESPACE_EXISTS: the namespace exists.

    Use it.
    """


class NamespaceDeletingError(FailedPreconditionError):
    """FAILED_PRECONDITION / NAMESPACE_DELETING: a namespace of this name is being deleted.

    Create it later, with a new request id.
    """


class LockExistsError(AlreadyExistsError):
    """ALREADY_EXISTS / LOCK_EXISTS: the lock exists.

    Use it: programs create their locks at each start and ignore this.
    """


class LogExistsError(AlreadyExistsError):
    """ALREADY_EXISTS / LOG_EXISTS: the namespace has an event log with this name.

    Use it.
    """


class UserExistsError(AlreadyExistsError):
    """ALREADY_EXISTS / USER_EXISTS: a user that you may see has this e-mail address.

    Change that user.
    """


class MemberExistsError(AlreadyExistsError):
    """ALREADY_EXISTS / MEMBER_EXISTS: a member has this name.

    Remove it first, or choose another name.
    """


class RevisionMismatchError(FailedPreconditionError):
    """FAILED_PRECONDITION / REVISION_MISMATCH: the key is not at `expected_mod_revision`; the detail `mod_revision`
    is the actual one.

    Read the key, decide again.
    """


class VersionMismatchError(FailedPreconditionError):
    """FAILED_PRECONDITION / VERSION_MISMATCH: the memory region is not at `expected_version`.

    Read the region, decide again.
    """


class SequenceConflictError(FailedPreconditionError):
    """FAILED_PRECONDITION / SEQUENCE_CONFLICT: the last event is not `Expected-Sequence`; the header `Last-
    Sequence` is the actual one.

    Read the new events, decide again.
    """


class NotANumberError(FailedPreconditionError):
    """FAILED_PRECONDITION / NOT_A_NUMBER: the value of a key to increment is no decimal number from -2^63 to 2^63 -
    1, or has leading zeros.

    Read the key, then put a number.
    """


class NotLockHolderError(FailedPreconditionError):
    """FAILED_PRECONDITION / NOT_LOCK_HOLDER: the caller does not hold the lock in this way: other owner, other
    token, or free.

    Check subject, owner and token; the hold may have ended.
    """


class LockLostError(FailedPreconditionError):
    """FAILED_PRECONDITION / LOCK_LOST: the hold to renew, or the hold of a repeated request, has ended.

    Stop the guarded work, then acquire the lock again.
    """


class AmbiguousHoldError(FailedPreconditionError):
    """FAILED_PRECONDITION / AMBIGUOUS_HOLD: several holds match a release without a token.

    Send the token of the hold.
    """


class UpgradeWouldDeadlockError(FailedPreconditionError):
    """FAILED_PRECONDITION / UPGRADE_WOULD_DEADLOCK: the reader is not alone, others wait, or the lock delay runs.

    Release the hold and acquire it with mode `WRITE`.
    """


class FencedError(AbortedError):
    """ABORTED / FENCED: the hold of the guard is not live any more, so the write was refused.

    Stop: another client may work already; acquire the lock again.
    """


class MemoryBoundsError(OutOfRangeError):
    """OUT_OF_RANGE / MEMORY_BOUNDS: offset + length exceeds the region.

    Read the size; there are no short reads and no growth by writes.
    """


class NumberOverflowError(OutOfRangeError):
    """OUT_OF_RANGE / NUMBER_OVERFLOW: the sum of an increment is outside of -2^63 to 2^63 - 1; the detail `value`
    is the number before.

    Choose another delta, or put another number: numbers never wrap.
    """


class CompactedError(OutOfRangeError):
    """OUT_OF_RANGE / COMPACTED: the history no longer reaches back to the start of the watch.

    List the keys, then watch from the revision of the list + 1.
    """

    @property
    def compact_revision(self) -> int | None:
        """The oldest revision at which a watch can start. None = the service did not say."""
        text = self.details.get("compact_revision", "")
        return int(text) if text.isdecimal() else None


class RateLimitedError(ResourceExhaustedError):
    """RESOURCE_EXHAUSTED / RATE_LIMITED: too many requests of this user or address.

    Wait for `RetryInfo` or `Retry-After`; send less.
    """


class QuotaError(ResourceExhaustedError):
    """RESOURCE_EXHAUSTED / QUOTA: a quota of the namespace, the user or the lock is used up.

    Delete something, or raise the setting that the message names.
    """


class StorageFullError(ResourceExhaustedError):
    """RESOURCE_EXHAUSTED / STORAGE_FULL: the disks of the members have too little free space for growth.

    Delete data, or give the members more space; deletions still work.
    """


class TooManyStreamsError(ResourceExhaustedError):
    """RESOURCE_EXHAUSTED / TOO_MANY_STREAMS: a member, an address or a user has too many open calls or watches.

    Close some, or use another member.
    """


class NoLeaderError(UnavailableError):
    """UNAVAILABLE / NO_LEADER: an election, a lost majority, a member that lags or serves no data.

    Retry at another member; if it lasts, see troubleshooting.
    """


class LeaderChangedError(UnavailableError):
    """UNAVAILABLE / LEADER_CHANGED: the leadership moved during the call.

    Retry.
    """


class ShuttingDownError(UnavailableError):
    """UNAVAILABLE / SHUTTING_DOWN: the member stops.

    Retry at another member; a watch continues there after its last revision.
    """


class OverloadedError(UnavailableError):
    """UNAVAILABLE / OVERLOADED: too many waiting calls, too many bytes of requests, too many logins, or a client
    that does not read its stream.

    Retry with growing pauses; send fewer requests at once.
    """


class DeadlineError(DeadlineExceededError):
    """DEADLINE_EXCEEDED / DEADLINE: the deadline passed; the outcome is unknown unless it says otherwise.

    Retry with the same request id and a longer deadline.
    """


class ConfigChangedError(FailedPreconditionError):
    """FAILED_PRECONDITION / CONFIG_CHANGED: the membership or the term is not the expected one.

    List the members, decide again.
    """


class ConfigChangeInProgressError(FailedPreconditionError):
    """FAILED_PRECONDITION / CONFIG_CHANGE_IN_PROGRESS: another change of the membership has not ended.

    Wait, and retry.
    """


class LearnerNotReadyError(FailedPreconditionError):
    """FAILED_PRECONDITION / LEARNER_NOT_READY: the learner has not caught up, or the target of a transfer is a
    learner.

    Wait: `quoinctl member list` shows LAG and PROMOTABLE.
    """


class QuorumUnsafeError(FailedPreconditionError):
    """FAILED_PRECONDITION / QUORUM_UNSAFE: the change would leave no majority that is in contact and fit.

    Repair the members that are away or damaged first.
    """


class IsLeaderError(FailedPreconditionError):
    """FAILED_PRECONDITION / IS_LEADER: the leader is among the members to remove.

    `quoinctl leader transfer` first.
    """


class LastVoterError(FailedPreconditionError):
    """FAILED_PRECONDITION / LAST_VOTER: the change would remove the last voter.

    Add and promote another member first.
    """


class NotEmptyError(FailedPreconditionError):
    """FAILED_PRECONDITION / NOT_EMPTY: what is in use is not deleted; a cluster is founded on an empty member.

    Empty it, or use `force` or `recursive`; another data directory.
    """


class LastOwnerError(FailedPreconditionError):
    """FAILED_PRECONDITION / LAST_OWNER: the change would leave no active owner; over HTTP 409 `last_owner`.

    Create another owner first.
    """


class SettingsChangedError(FailedPreconditionError):
    """FAILED_PRECONDITION / SETTINGS_CHANGED: the settings are not at the expected revision.

    Read them, decide again.
    """


class MemberUnreachableError(UnavailableError):
    """UNAVAILABLE / MEMBER_UNREACHABLE: another member does not answer this one, or its release is too old.

    Ask that member itself, or try again later.
    """


class NoBackupStoreError(FailedPreconditionError):
    """FAILED_PRECONDITION / NO_BACKUP_STORE: the member was started without `--backup-store`.

    Set it, or use `quoinctl backup create FILE`.
    """


class OtherBackupStoreError(FailedPreconditionError):
    """FAILED_PRECONDITION / OTHER_BACKUP_STORE: the member has another store than `--if-store` names.

    Name the store of the members: `quoinctl backup status`.
    """


class BackupInProgressError(FailedPreconditionError):
    """FAILED_PRECONDITION / BACKUP_IN_PROGRESS: the member already makes a backup.

    Wait for it.
    """


class BackupStoreUnavailableError(UnavailableError):
    """UNAVAILABLE / BACKUP_STORE_UNAVAILABLE: the store does not answer, or refuses the credentials.

    Check the store; the message has its answer.
    """


class BackupRefusedError(FailedPreconditionError):
    """FAILED_PRECONDITION / BACKUP_REFUSED: the backup to found a cluster from cannot be used; the message says
    why.

    Correct the key, the point or the store.
    """


class ApiKeyLostError(DataLossError):
    """DATA_LOSS / API_KEY_LOST: an API key was created, and the only answer with it was lost.

    Revoke the key that the detail `api_key_id` names, and create another.
    """


class NotAcquiredError(FailedPreconditionError):
    """FAILED_PRECONDITION / NOT_ACQUIRED: another client holds the lock, and the time to wait has passed.

    Try again, or wait longer with `waitMs`.
    """


class NoTokenError(UnauthenticatedError):
    """UNAUTHENTICATED / NO_TOKEN: the file of the token cannot be read, or has no token.

    Write a token into the file.
    """


class SessionLostError(FailedPreconditionError):
    """FAILED_PRECONDITION / SESSION_LOST: the session of `client.session` has ended, or was not renewed until its
    deadline.

    Create another session, and put its keys again.
    """


class TransactionConflictError(AbortedError):
    """ABORTED / TRANSACTION_CONFLICT: other clients were faster in all attempts of `client.transact`.

    Try again later, or let fewer clients change these keys.
    """


BY_CODE: dict[str, type[QuoinError]] = {
    "CANCELLED": CancelledError,
    "UNKNOWN": UnknownError,
    "INVALID_ARGUMENT": InvalidArgumentError,
    "DEADLINE_EXCEEDED": DeadlineExceededError,
    "NOT_FOUND": NotFoundError,
    "ALREADY_EXISTS": AlreadyExistsError,
    "PERMISSION_DENIED": PermissionDeniedError,
    "RESOURCE_EXHAUSTED": ResourceExhaustedError,
    "FAILED_PRECONDITION": FailedPreconditionError,
    "ABORTED": AbortedError,
    "OUT_OF_RANGE": OutOfRangeError,
    "UNIMPLEMENTED": UnimplementedError,
    "INTERNAL": InternalError,
    "UNAVAILABLE": UnavailableError,
    "DATA_LOSS": DataLossError,
    "UNAUTHENTICATED": UnauthenticatedError,
}


BY_REASON: dict[str, type[QuoinError]] = {
    "BAD_METADATA": BadMetadataError,
    "BAD_FIELD": BadFieldError,
    "TOO_LARGE": TooLargeError,
    "REQUEST_ID_REUSED": RequestIdReusedError,
    "NOT_SERVED": NotServedError,
    "TOKEN_INVALID": TokenInvalidError,
    "TOKEN_EXPIRED": TokenExpiredError,
    "TOKEN_REVOKED": TokenRevokedError,
    "INVALID_API_KEY": InvalidApiKeyError,
    "INVALID_CREDENTIALS": InvalidCredentialsError,
    "EMAIL_NOT_VERIFIED": EmailNotVerifiedError,
    "NAMESPACE_DENIED": NamespaceDeniedError,
    "ACCESS_DENIED": AccessDeniedError,
    "NAMESPACE_NOT_FOUND": NamespaceNotFoundError,
    "KEY_NOT_FOUND": KeyNotFoundError,
    "LOCK_NOT_FOUND": LockNotFoundError,
    "SESSION_NOT_FOUND": SessionNotFoundError,
    "REGION_NOT_FOUND": RegionNotFoundError,
    "LOG_NOT_FOUND": LogNotFoundError,
    "USER_NOT_FOUND": UserNotFoundError,
    "API_KEY_NOT_FOUND": ApiKeyNotFoundError,
    "MEMBER_NOT_FOUND": MemberNotFoundError,
    "NAMESPACE_EXISTS": NamespaceExistsError,
    "NAMESPACE_DELETING": NamespaceDeletingError,
    "LOCK_EXISTS": LockExistsError,
    "LOG_EXISTS": LogExistsError,
    "USER_EXISTS": UserExistsError,
    "MEMBER_EXISTS": MemberExistsError,
    "REVISION_MISMATCH": RevisionMismatchError,
    "VERSION_MISMATCH": VersionMismatchError,
    "SEQUENCE_CONFLICT": SequenceConflictError,
    "NOT_A_NUMBER": NotANumberError,
    "NOT_LOCK_HOLDER": NotLockHolderError,
    "LOCK_LOST": LockLostError,
    "AMBIGUOUS_HOLD": AmbiguousHoldError,
    "UPGRADE_WOULD_DEADLOCK": UpgradeWouldDeadlockError,
    "FENCED": FencedError,
    "MEMORY_BOUNDS": MemoryBoundsError,
    "NUMBER_OVERFLOW": NumberOverflowError,
    "COMPACTED": CompactedError,
    "RATE_LIMITED": RateLimitedError,
    "QUOTA": QuotaError,
    "STORAGE_FULL": StorageFullError,
    "TOO_MANY_STREAMS": TooManyStreamsError,
    "NO_LEADER": NoLeaderError,
    "LEADER_CHANGED": LeaderChangedError,
    "SHUTTING_DOWN": ShuttingDownError,
    "OVERLOADED": OverloadedError,
    "DEADLINE": DeadlineError,
    "CONFIG_CHANGED": ConfigChangedError,
    "CONFIG_CHANGE_IN_PROGRESS": ConfigChangeInProgressError,
    "LEARNER_NOT_READY": LearnerNotReadyError,
    "QUORUM_UNSAFE": QuorumUnsafeError,
    "IS_LEADER": IsLeaderError,
    "LAST_VOTER": LastVoterError,
    "NOT_EMPTY": NotEmptyError,
    "LAST_OWNER": LastOwnerError,
    "SETTINGS_CHANGED": SettingsChangedError,
    "MEMBER_UNREACHABLE": MemberUnreachableError,
    "NO_BACKUP_STORE": NoBackupStoreError,
    "OTHER_BACKUP_STORE": OtherBackupStoreError,
    "BACKUP_IN_PROGRESS": BackupInProgressError,
    "BACKUP_STORE_UNAVAILABLE": BackupStoreUnavailableError,
    "BACKUP_REFUSED": BackupRefusedError,
    "INTERNAL": InternalError,
    "API_KEY_LOST": ApiKeyLostError,
    "NOT_ACQUIRED": NotAcquiredError,
    "NO_TOKEN": NoTokenError,
    "SESSION_LOST": SessionLostError,
    "TRANSACTION_CONFLICT": TransactionConflictError,
}


__all__ = [
    "AbortedError",
    "AccessDeniedError",
    "AlreadyExistsError",
    "AmbiguousHoldError",
    "ApiKeyLostError",
    "ApiKeyNotFoundError",
    "BackupInProgressError",
    "BackupRefusedError",
    "BackupStoreUnavailableError",
    "BadFieldError",
    "BadMetadataError",
    "CancelledError",
    "CompactedError",
    "ConfigChangeInProgressError",
    "ConfigChangedError",
    "DataLossError",
    "DeadlineError",
    "DeadlineExceededError",
    "EmailNotVerifiedError",
    "FailedPreconditionError",
    "FencedError",
    "InternalError",
    "InvalidApiKeyError",
    "InvalidArgumentError",
    "InvalidCredentialsError",
    "IsLeaderError",
    "KeyNotFoundError",
    "LastOwnerError",
    "LastVoterError",
    "LeaderChangedError",
    "LearnerNotReadyError",
    "LockExistsError",
    "LockLostError",
    "LockNotFoundError",
    "LogExistsError",
    "LogNotFoundError",
    "MemberExistsError",
    "MemberNotFoundError",
    "MemberUnreachableError",
    "MemoryBoundsError",
    "NamespaceDeletingError",
    "NamespaceDeniedError",
    "NamespaceExistsError",
    "NamespaceNotFoundError",
    "NoBackupStoreError",
    "NoLeaderError",
    "NoTokenError",
    "NotANumberError",
    "NotAcquiredError",
    "NotEmptyError",
    "NotFoundError",
    "NotLockHolderError",
    "NotServedError",
    "NumberOverflowError",
    "OtherBackupStoreError",
    "OutOfRangeError",
    "OverloadedError",
    "PermissionDeniedError",
    "QuorumUnsafeError",
    "QuotaError",
    "RateLimitedError",
    "RegionNotFoundError",
    "RequestIdReusedError",
    "ResourceExhaustedError",
    "RevisionMismatchError",
    "SequenceConflictError",
    "SessionLostError",
    "SessionNotFoundError",
    "SettingsChangedError",
    "ShuttingDownError",
    "StorageFullError",
    "TokenExpiredError",
    "TokenInvalidError",
    "TokenRevokedError",
    "TooLargeError",
    "TooManyStreamsError",
    "TransactionConflictError",
    "UnauthenticatedError",
    "UnavailableError",
    "UnimplementedError",
    "UnknownError",
    "UpgradeWouldDeadlockError",
    "UserExistsError",
    "UserNotFoundError",
    "VersionMismatchError",
]
