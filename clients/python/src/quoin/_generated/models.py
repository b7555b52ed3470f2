# Made by scripts/generate.py from the contract. Do not edit.
"""The answers of the service."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class KeyEntry:
    """A key with its value and its history, as it was at one revision."""

    key: str
    """The key, 1 to 1,024 bytes."""
    value: bytes
    """The value, 0 to 1 MiB. Also empty if the caller asked for keys only."""
    create_revision: int
    """Revision that created the key. A key that was deleted and created again has a new one."""
    mod_revision: int
    """Revision of the latest change of the key."""
    version: int
    """Number of changes since the key was created: 1 at creation."""
    expires_in_ms: int
    """Remaining time to live in milliseconds, at least 1; 0 = the key does not expire."""
    session_id: int
    """Id of the session that the key ends with; 0 = none."""


@dataclass(frozen=True, slots=True)
class GetResult:
    """The key. An empty value is a valid value. A key that does not exist is an error."""

    value: bytes
    """The value, 0 to 1 MiB."""
    create_revision: int
    """Revision that created the key."""
    mod_revision: int
    """Revision of its latest change."""
    version: int
    """Number of changes since its creation: 1 at creation."""
    expires_in_ms: int
    """Remaining time to live in milliseconds, at least 1; 0 = the key does not expire."""
    session_id: int
    """Id of the session that the key ends with; 0 = none."""
    revision: int
    """Cluster revision at which the answer is true."""


@dataclass(frozen=True, slots=True)
class PutResult:
    """The key was written."""

    mod_revision: int
    """Revision of this write."""
    created: bool
    """Whether the key did not exist before."""
    previous: PreviousEntry | None
    """The key as it was before, if requested and if it existed."""
    previous_value_omitted: bool
    """True: the value of `previous` is left out and unknown. This happens only in the answer to a retry, if the
    first answer was larger than 4 KiB and the change history has dropped the value since.
    """
    revision: int
    """Cluster revision at which the answer is true: the revision of this write."""


@dataclass(frozen=True, slots=True)
class DeleteResult:
    """The key was deleted."""

    deleted: bool
    """Always true: a key that does not exist is NOT_FOUND / KEY_NOT_FOUND."""
    previous: PreviousEntry | None
    """The key as it was before, if requested."""
    previous_value_omitted: bool
    """True: the value of `previous` is left out and unknown. This happens only in the answer to a retry, if the
    first answer was larger than 4 KiB and the change history has dropped the value since.
    """
    revision: int
    """Revision of the deletion."""


@dataclass(frozen=True, slots=True)
class KeyPage:
    """One page of keys. A client that reads all pages and then watches from the first page's revision + 1 misses no
    change.
    """

    items: tuple[KeyEntry, ...]
    """The keys in the order of their UTF-8 bytes."""
    next_page_token: str
    """Opaque token of the next page; empty = this is the last page."""
    revision: int
    """Cluster revision at which this page is true."""


@dataclass(frozen=True, slots=True)
class CompareAndSwapResult:
    """Whether the key was as expected, and how it is now."""

    success: bool
    """True: the key was as expected, and the new value was written. False: nothing changed."""
    current_exists: bool
    """Whether the key exists now."""
    current_value: bytes | None
    """The key's value now: the new one after success."""
    mod_revision: int
    """The key's mod_revision now; 0 = the key does not exist."""
    current_value_omitted: bool
    """True: `current_value` is left out and empty, whatever the value was. This happens only in the answer to a
    retry, if success is false, the first answer was larger than 4 KiB, the key has changed since, and the change
    history has dropped the value. GetKey returns the present value.
    """
    revision: int
    """Cluster revision at which the answer is true."""


@dataclass(frozen=True, slots=True)
class TouchResult:
    """The key has the new time to live."""

    mod_revision: int
    """Revision of the key's latest change, which is the same as before."""
    expires_in_ms: int
    """Remaining time to live in milliseconds, at least 1; 0 = the key does not expire. The answer to a retry has
    what is left of the time to live that the first attempt gave.
    """
    revision: int
    """Cluster revision at which the answer is true. This call makes no revision."""


@dataclass(frozen=True, slots=True)
class CountResult:
    """The number of keys."""

    keys: int
    """How many keys there are, 0 to 1,000,000."""
    more: bool
    """Whether there are more keys than that."""
    revision: int
    """Cluster revision at which the answer is true."""


@dataclass(frozen=True, slots=True)
class CreateNamespaceResult:
    """The namespace was created."""

    namespace: str
    """Its name, as in the request."""
    created_at_ms: int
    """When it was created, Unix time in milliseconds."""
    revision: int
    """Revision of its creation."""


@dataclass(frozen=True, slots=True)
class QuotaUse:
    """How much a namespace uses of one quota."""

    name: str
    """Name of the quota, as in the setting `quota.namespace.NAME`: `bytes`, `keys`, `locks`, `memory_bytes`,
    `memory_regions`, `event_bytes`, `event_logs` or `sessions`.
    """
    used: int
    """What the namespace uses now: bytes or a number of objects, by the name of the quota."""
    limit: int
    """The limit, in the same unit. Growth above it is refused with RESOURCE_EXHAUSTED / QUOTA."""


@dataclass(frozen=True, slots=True)
class NamespaceInfo:
    """One namespace."""

    name: str
    """Its name."""
    created_at_ms: int
    """When it was created, Unix time in milliseconds; 0 if the request asked for names only."""
    create_revision: int
    """Revision of its creation; 0 if the request asked for names only."""
    quotas: tuple[QuotaUse, ...]
    """What it uses of each quota, and the limits; empty if the request asked for names only. Watches are not among
    them: each member counts its own.
    """
    deleting: bool
    """Whether it is being deleted. The quotas then show what is not erased yet. False if the request asked for
    names only.
    """


@dataclass(frozen=True, slots=True)
class NamespacePage:
    """One page of namespaces."""

    namespaces: tuple[NamespaceInfo, ...]
    """The namespaces, ordered by name."""
    next_page_token: str
    """Opaque token of the next page; empty = this is the last page."""
    revision: int
    """Cluster revision at which this page is true."""


@dataclass(frozen=True, slots=True)
class KeyVersion:
    """A key as one change left it."""

    type: str
    """What made this version."""
    kv: KeyEntry
    """The key after the change. For DELETE and EXPIRE: the key with its last value; mod_revision is the revision of
    the deletion. `expires_in_ms` is the time to live that was left right after the change.
    """
    age_ms: int | None
    """Cluster time since the change, in milliseconds. Cluster time stands still while the cluster has no leader.
    Absent = unknown: the history has dropped the change, and the version is known from the key itself or from
    the change after it.
    """


@dataclass(frozen=True, slots=True)
class KeyVersionPage:
    """One page of versions."""

    versions: tuple[KeyVersion, ...]
    """The versions, the newest first."""
    next_page_token: str
    """Opaque token of the next page; empty = this is the last page."""
    searched_revision: int
    """This page and the pages before it contain every version from this revision on. On the last page it is
    `compact_revision`, or less if the oldest version is known although the history has dropped its change.
    """
    compact_revision: int
    """Oldest revision from which the change history of the namespace is complete; 0 = it has everything since the
    cluster was founded.
    """
    revision: int
    """Cluster revision at which this page is true."""


@dataclass(frozen=True, slots=True)
class LockHold:
    """One live hold of a lock."""

    owner: str
    """Owner label that the holder gave; its subject if it gave none."""
    subject: str
    """Subject of the access token that acquired it."""
    fencing_token: int
    """Fencing token of the hold: the revision of its grant."""
    acquired_at_ms: int
    """When it was granted, Unix time in milliseconds."""
    expires_in_ms: int
    """Remaining time to live in milliseconds, at least 1. The hold never ends earlier, but may end later. 0 = it
    ends with its session.
    """
    mode: str | None
    """Mode of a read-write lock's hold; RW_MODE_UNSPECIFIED on other locks."""
    permits: int
    """Permits of a semaphore's hold; 0 on other locks."""
    value: bytes
    """Value that the holder of an exclusive lock shows; empty = none."""
    session_id: int
    """Id of the session that the hold ends with; 0 = none."""


@dataclass(frozen=True, slots=True)
class CreateLockResult:
    """A created lock of any kind."""

    name: str
    """Its name, as in the request."""
    created_at_ms: int
    """When it was created, Unix time in milliseconds."""
    revision: int
    """Revision of its creation."""


@dataclass(frozen=True, slots=True)
class DescribeLockResult:
    """State of an exclusive lock."""

    name: str
    """Its name."""
    state: str
    """FREE, HELD or COOLDOWN."""
    holder: LockHold | None
    """The live hold; absent = there is none."""
    waiters: int
    """Number of requests waiting for it."""
    ttl_seconds: int
    """Default time to live of a hold in seconds."""
    lock_delay_seconds: int
    """Delay after an expired or forced hold, in seconds."""
    last_fencing_token: int
    """Token of the latest hold, live or ended; 0 = there was never one."""
    created_at_ms: int
    """When it was created, Unix time in milliseconds."""
    revision: int
    """Cluster revision at which the answer is true."""


@dataclass(frozen=True, slots=True)
class DescribeReadWriteLockResult:
    """State of a read-write lock."""

    name: str
    """Its name."""
    state: str
    """FREE, READ_HELD, WRITE_HELD or COOLDOWN."""
    holders: tuple[LockHold, ...]
    """The live holds: none, one writer, or one or more readers."""
    waiting_readers: int
    """Number of requests waiting to read."""
    waiting_writers: int
    """Number of requests waiting to write."""
    ttl_seconds: int
    """Default time to live of a hold in seconds."""
    lock_delay_seconds: int
    """Delay after an expired or forced hold, in seconds."""
    last_fencing_token: int
    """Token of the latest hold, live or ended; 0 = there was never one."""
    created_at_ms: int
    """When it was created, Unix time in milliseconds."""
    revision: int
    """Cluster revision at which the answer is true."""


@dataclass(frozen=True, slots=True)
class DescribeSemaphoreResult:
    """State of a semaphore."""

    name: str
    """Its name."""
    state: str
    """FREE when nothing is held, or HELD."""
    permits: int
    """Number of its permits."""
    held_permits: int
    """Permits that the live holds have together. They may be more than `permits`, after that was lowered."""
    holders: tuple[LockHold, ...]
    """The live holds in the order of their grants."""
    waiters: int
    """Number of requests waiting for permits."""
    ttl_seconds: int
    """Default time to live of a hold in seconds."""
    last_fencing_token: int
    """Token of the latest hold, live or ended; 0 = there was never one."""
    created_at_ms: int
    """When it was created, Unix time in milliseconds."""
    revision: int
    """Cluster revision at which the answer is true."""


@dataclass(frozen=True, slots=True)
class AcquireLockResult:
    """Whether the lock was acquired. The client computes its own deadline as the time when it sent this attempt +
    waited_ms + expires_in_ms. This deadline may be early, never late.
    """

    acquired: bool
    """Whether the caller holds the lock now."""
    fencing_token: int
    """Token of the caller's hold; 0 = not acquired."""
    ttl_seconds: int
    """Time to live of the hold, in seconds."""
    expires_in_ms: int
    """Remaining time to live of the hold in milliseconds, at least 1; 0 = not acquired, or the hold ends with its
    session.
    """
    holder: LockHold | None
    """The live hold: the caller's hold if acquired, else the hold that blocks the caller. Absent = the lock has no
    holder (its state is COOLDOWN).
    """
    queue_length: int
    """Number of requests waiting for the lock."""
    state: str
    """State of the lock."""
    waited_ms: int
    """Cluster time in milliseconds from the log entry of this attempt to the grant."""
    revision: int
    """Cluster revision at which the answer is true."""
    deadline_ms: float | None = None
    """When the hold ends without renewal, on the clock of `time.monotonic()` in milliseconds. None = not acquired."""


@dataclass(frozen=True, slots=True)
class AcquireReadWriteLockResult:
    """Whether the read-write lock was acquired. The client computes its own deadline as the time when it sent this
    attempt + waited_ms + expires_in_ms. This deadline may be early, never late.
    """

    acquired: bool
    """Whether the caller has the hold that it asked for."""
    fencing_token: int
    """Token of the caller's hold; 0 = not acquired."""
    mode: str | None
    """Mode of the caller's hold."""
    ttl_seconds: int
    """Time to live of the hold, in seconds."""
    expires_in_ms: int
    """Remaining time to live of the hold in milliseconds, at least 1; 0 = not acquired, or the hold ends with its
    session.
    """
    holders: tuple[LockHold, ...]
    """Live holds in the order of their grants: the first 10, and the caller's. DescribeRWLock returns all."""
    queue_length: int
    """Number of requests waiting for the lock."""
    state: str
    """State of the lock."""
    waited_ms: int
    """Cluster time in milliseconds from the log entry of this attempt to the grant."""
    revision: int
    """Cluster revision at which the answer is true."""
    deadline_ms: float | None = None
    """When the hold ends without renewal, on the clock of `time.monotonic()` in milliseconds. None = not acquired."""


@dataclass(frozen=True, slots=True)
class AcquireSemaphoreResult:
    """Whether the permits were acquired. The client computes its own deadline as the time when it sent this attempt
    + waited_ms + expires_in_ms. This deadline may be early, never late.
    """

    acquired: bool
    """Whether the caller has its permits now."""
    fencing_token: int
    """Token of the caller's hold; 0 = not acquired."""
    ttl_seconds: int
    """Time to live of the hold, in seconds."""
    expires_in_ms: int
    """Remaining time to live of the hold in milliseconds, at least 1; 0 = not acquired, or the hold ends with its
    session.
    """
    permits: int
    """Number of permits of the semaphore."""
    held_permits: int
    """Permits that the live holds have together."""
    holders: tuple[LockHold, ...]
    """Live holds in the order of their grants: the first 10, and the caller's. DescribeSemaphore returns all."""
    queue_length: int
    """Number of requests waiting for permits."""
    state: str
    """State of the semaphore."""
    waited_ms: int
    """Cluster time in milliseconds from the log entry of this attempt to the grant."""
    revision: int
    """Cluster revision at which the answer is true."""
    deadline_ms: float | None = None
    """When the hold ends without renewal, on the clock of `time.monotonic()` in milliseconds. None = not acquired."""


@dataclass(frozen=True, slots=True)
class ReleaseResult:
    """The answer to a release of a lock of any kind."""

    released: bool
    """Always true: any other outcome is an error."""
    revision: int
    """Cluster revision at which the answer is true: the revision of the release."""


@dataclass(frozen=True, slots=True)
class ForceReleaseResult:
    """The hold that ended."""

    released: bool
    """Whether a hold ended. False: there was no hold, or none with the given token."""
    previous: LockHold | None
    """The hold that ended; absent = none. If several holds ended, this is the hold that was granted first."""
    revision: int
    """Cluster revision at which the answer is true."""


@dataclass(frozen=True, slots=True)
class LockWait:
    """A request that waits for a lock. The client keeps its place when it repeats the request with the same
    request-id.
    """

    place: int
    """Its place in the queue: 1 = it is served next."""
    owner: str
    """Owner label that the request gave; its subject if it gave none."""
    subject: str
    """Subject of the access token of the request."""
    mode: str | None
    """Mode that it waits for; RW_MODE_UNSPECIFIED on other locks than read-write locks."""
    ttl_seconds: int
    """Time to live of the hold that it would get, in seconds."""
    waited_ms: int
    """Cluster time since its newest attempt, in milliseconds. Cluster time stands still while the cluster has no
    leader.
    """
    ends_in_ms: int
    """Cluster time until it ends without a hold, in milliseconds, at least 1."""
    permits: int
    """Permits that it waits for; 0 on other locks than semaphores."""


@dataclass(frozen=True, slots=True)
class ListedLock:
    """A lock, and who holds and awaits it."""

    name: str
    """Its name."""
    rw: bool
    """False: an exclusive lock or a semaphore. True: a read-write lock."""
    state: str
    """Its state."""
    holders: tuple[LockHold, ...]
    """Its live holds in the order of their grants, at most the first 10; Describe returns all."""
    holder_count: int
    """Number of live holds."""
    waiting_readers: int
    """Number of requests waiting to read."""
    waiting_writers: int
    """Number of requests waiting for an exclusive lock, for permits, or to write."""
    waits: tuple[LockWait, ...]
    """The first waits in the order in which they are served, at most `waits_max` of the request."""
    ttl_seconds: int
    """Default time to live of a hold in seconds."""
    lock_delay_seconds: int
    """Delay after an expired or forced hold, in seconds."""
    cooldown_ms: int
    """Cluster time in milliseconds until the delay has passed; 0 = no delay runs."""
    last_fencing_token: int
    """Token of the latest hold, live or ended; 0 = there was never one."""
    created_at_ms: int
    """When it was created, Unix time in milliseconds."""
    refused_guards: int
    """Number of writes that the cluster refused with ABORTED / FENCED because their Guard named this lock without a
    live hold. The answering member counts them in memory while it applies entries; see `refused_guards_for_ms`.
    """
    permits: int
    """Permits of a semaphore; 0 = it is no semaphore."""
    held_permits: int
    """Permits that the live holds have together. They may be more than `permits`, after that was lowered."""


@dataclass(frozen=True, slots=True)
class LockPage:
    """One page of locks."""

    locks: tuple[ListedLock, ...]
    """The locks: exclusive ones and semaphores, then read-write locks, each ordered by the UTF-8 bytes of their
    names.
    """
    next_page_token: str
    """Opaque token of the next page; empty = this is the last page."""
    refused_guards_for_ms: int
    """How long the answering member has counted `refused_guards`, in milliseconds: since its process started."""
    revision: int
    """Cluster revision at which this page is true."""


@dataclass(frozen=True, slots=True)
class LockWaits:
    """The queue of the lock."""

    waits: tuple[LockWait, ...]
    """All waits in the order in which they are served. A lock has at most 1,000."""
    revision: int
    """Cluster revision at which the answer is true."""


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A session."""

    session_id: int
    """Its id: the revision that created it, which no other session of the cluster ever has."""
    owner: str
    """Label of who uses it, at most 256 bytes."""
    subject: str
    """Id of the user that it belongs to."""
    metadata: bytes
    """For other clients to read, at most 1 KiB."""
    ttl_seconds: int
    """Seconds for which it lives after a renewal."""
    expires_in_ms: int
    """Remaining time to live in milliseconds, at least 1."""
    created_at_ms: int
    """When it was created, for display."""
    objects: int
    """Number of keys and lock holds that belong to it."""


@dataclass(frozen=True, slots=True)
class CreateSessionResult:
    """The session was created."""

    session_id: int
    """Its id."""
    expires_in_ms: int
    """Remaining time to live in milliseconds, at least 1."""
    revision: int
    """Cluster revision of its creation."""


@dataclass(frozen=True, slots=True)
class RenewedSession:
    """A session after an attempt to renew it."""

    session_id: int
    """Its id."""
    expires_in_ms: int
    """Remaining time to live in milliseconds, as of the entry that renewed it: its time to live. 0 = there is no
    such session of the caller's user: it has ended, and what belonged to it is gone.
    """


@dataclass(frozen=True, slots=True)
class RenewSessionsResult:
    """What became of each session."""

    sessions: tuple[RenewedSession, ...]
    """One for each id of the request, in the same order."""
    revision: int
    """Cluster revision at the renewal, which does not change it."""


@dataclass(frozen=True, slots=True)
class EndSessionResult:
    """The session has ended."""

    ended_objects: int
    """Number of keys and lock holds that ended with it."""
    revision: int
    """Cluster revision of its end."""


@dataclass(frozen=True, slots=True)
class SessionHold:
    """A hold of a lock that ends with a session."""

    lock_name: str
    """Name of the lock."""
    fencing_token: int
    """Token of the hold."""
    rw: bool
    """False: an exclusive lock or a semaphore. True: a read-write lock."""


@dataclass(frozen=True, slots=True)
class DescribeSessionResult:
    """A session and what belongs to it."""

    session_id: int
    """Its id: the revision that created it, which no other session of the cluster ever has."""
    owner: str
    """Label of who uses it, at most 256 bytes."""
    subject: str
    """Id of the user that it belongs to."""
    metadata: bytes
    """For other clients to read, at most 1 KiB."""
    ttl_seconds: int
    """Seconds for which it lives after a renewal."""
    expires_in_ms: int
    """Remaining time to live in milliseconds, at least 1."""
    created_at_ms: int
    """When it was created, for display."""
    objects: int
    """Number of keys and lock holds that belong to it."""
    keys: tuple[str, ...]
    """Its keys, ordered by their UTF-8 bytes."""
    holds: tuple[SessionHold, ...]
    """Its holds of locks."""
    revision: int
    """Cluster revision at which the answer is true."""


@dataclass(frozen=True, slots=True)
class SessionPage:
    """A page of sessions."""

    items: tuple[SessionInfo, ...]
    """The sessions."""
    next_page_token: str
    """Token of the next page; empty = this is the last one."""
    revision: int
    """Cluster revision at which the answer is true."""


@dataclass(frozen=True, slots=True)
class MemoryRegionInfo:
    """The properties of a region, without its bytes."""

    region_id: str
    """Id of the region: a UUID that the service generated."""
    namespace: str
    """Namespace of the region."""
    size_bytes: int
    """Size in bytes."""
    version: int
    """1 at allocation. Each write and each resize adds 1."""
    created_at_ms: int
    """When it was allocated, Unix time in milliseconds."""
    updated_at_ms: int
    """When it was last changed, Unix time in milliseconds."""
    label: str
    """Label that the caller gave, possibly empty."""


@dataclass(frozen=True, slots=True)
class AllocateResult:
    """The region was allocated."""

    region_id: str
    """Its id."""
    size_bytes: int
    """Its size in bytes."""
    version: int
    """Its version: 1."""
    revision: int
    """Revision of the allocation."""


@dataclass(frozen=True, slots=True)
class DescribeRegionResult:
    """The properties of the region."""

    region_id: str
    """Id of the region: a UUID that the service generated."""
    namespace: str
    """Namespace of the region."""
    size_bytes: int
    """Size in bytes."""
    version: int
    """1 at allocation. Each write and each resize adds 1."""
    created_at_ms: int
    """When it was allocated, Unix time in milliseconds."""
    updated_at_ms: int
    """When it was last changed, Unix time in milliseconds."""
    label: str
    """Label that the caller gave, possibly empty."""
    revision: int
    """Cluster revision at which the answer is true."""


@dataclass(frozen=True, slots=True)
class ResizeResult:
    """The region has its new size."""

    size_bytes: int
    """New size in bytes."""
    previous_size_bytes: int
    """Previous size in bytes."""
    version: int
    """New version."""
    revision: int
    """Revision of the resize."""


@dataclass(frozen=True, slots=True)
class FreeResult:
    """The region was freed."""

    freed: bool
    """Always true: any other outcome is an error."""
    revision: int
    """Revision of the release."""


@dataclass(frozen=True, slots=True)
class WriteMemoryResult:
    """The bytes were written."""

    bytes_written: int
    """Number of bytes written: the length of `data`."""
    version: int
    """New version."""
    revision: int
    """Revision of the write."""


@dataclass(frozen=True, slots=True)
class ReadMemoryResult:
    """The bytes, all of one version."""

    data: bytes
    """The bytes, exactly `length` of them."""
    version: int
    """Version of the region."""
    size_bytes: int
    """Size of the region in bytes."""
    revision: int
    """Cluster revision at which the answer is true."""


@dataclass(frozen=True, slots=True)
class RegionPage:
    """One page of regions."""

    regions: tuple[MemoryRegionInfo, ...]
    """The regions, ordered by region_id."""
    next_page_token: str
    """Opaque token of the next page; empty = this is the last page."""
    revision: int
    """Cluster revision at which this page is true."""


@dataclass(frozen=True, slots=True)
class LogInfo:
    """The properties of a log, without its events."""

    log_id: str
    """Id of the log: a UUID that the service generated."""
    name: str
    """Its name, unique among the logs of its namespace."""
    namespace: str
    """Its namespace."""
    first_sequence: int
    """Sequence of the oldest kept event, or of the next event if there is none."""
    last_sequence: int
    """Sequence of the last event that was ever appended; 0 = none."""
    event_count: int
    """Number of kept events."""
    size_bytes: int
    """Bytes of all kept payloads."""
    created_at_ms: int
    """When it was created, Unix time in milliseconds."""
    created_by: str
    """Id of the user who created it."""
    settings: Mapping[str, int]
    """The settings that are set, by name; see CreateLogRequest."""


@dataclass(frozen=True, slots=True)
class LogPage:
    """One page of logs."""

    logs: tuple[LogInfo, ...]
    """The logs, ordered by namespace and name."""
    next_page_token: str
    """Opaque token of the next page; empty = this is the last page."""
    revision: int
    """Cluster revision at which this page is true."""


@dataclass(frozen=True, slots=True)
class LogEvent:
    """An event."""

    sequence: int
    """Its sequence: the first event of a log has 1, and there are no gaps."""
    timestamp_ms: int
    """When it was appended, Unix time in milliseconds."""
    payload: bytes
    """Its bytes."""
    key: str | None
    """Its key; empty = none."""


@dataclass(frozen=True, slots=True)
class EventPage:
    """Events in their order."""

    events: tuple[LogEvent, ...]
    """Consecutive events."""
    last_sequence: int
    """The last sequence of the log."""
    revision: int
    """Cluster revision at which the answer is true."""


@dataclass(frozen=True, slots=True)
class KeyEvent:
    """One change of a key."""

    type: str
    """What happened."""
    kv: KeyEntry
    """The key after a PUT. For DELETE and EXPIRE: the key with its last value; mod_revision is the revision of the
    deletion.
    """
    previous: KeyEntry | None
    """The key as it was before, if requested and if it existed."""


@dataclass(frozen=True, slots=True)
class LockEvent:
    """One change of the holds of a lock. A new value is one ACQUIRED event with the same token. A downgrade is one
    ACQUIRED event with mode READ and the same token. An upgrade is two events at one revision: RELEASED with the
    old token, then ACQUIRED with the new token.
    """

    lock_key: str
    """Name of the lock."""
    action: str
    """What happened."""
    owner: str
    """Owner of the hold."""
    reason: str
    """Why it happened."""
    mode: str | None
    """Mode of the hold; RW_MODE_UNSPECIFIED on other locks than read-write locks."""
    fencing_token: int
    """Token of the hold."""
    revision: int
    """Revision of the change."""
    rw: bool
    """False: an exclusive lock or a semaphore. True: a read-write lock."""
    permits: int
    """Permits of a semaphore's hold; 0 on other locks."""
    value: bytes
    """Value that the holder of an exclusive lock shows, or showed until the end of the hold; empty = none."""


@dataclass(frozen=True, slots=True)
class OpenStream:
    """An open stream."""

    id: str
    """Number of the stream in the process of its member, as a decimal string."""
    kind: str
    """What it delivers."""
    namespace: str
    """Its namespace."""
    prefix: str
    """Prefix of the keys or of the names of the locks; empty = all of the namespace, or a stream of events."""
    log_id: str
    """Id of the event log; empty = not a stream of events."""
    user_id: str
    """Id of the user whose token opened it."""
    email: str
    """E-mail address of that user; empty if the user is gone, or if the caller may not manage the user."""
    api_key_id: str
    """Id of the API key of that token; empty = the user logged in with a password."""
    open_ms: int
    """How long it has been open, in milliseconds."""
    start: int
    """The revision with which it began; for a stream of events, the sequence."""
    delivered: int
    """It has delivered everything up to this revision; for a stream of events, up to this sequence."""
    behind: int
    """How many revisions (or sequences) its member has applied beyond `delivered`; 0 = it is up to date. The
    changes of these revisions may concern other streams.
    """
    sending: bool
    """Whether a message is on its way to the client, which has not taken it yet."""
    exact: bool
    """Whether `prefix` is the only key that is watched."""


@dataclass(frozen=True, slots=True)
class OpenStreamPage:
    """One page of streams."""

    streams: tuple[OpenStream, ...]
    """The streams, ordered by their numbers: the oldest first."""
    next_page_token: str
    """Opaque token of the next page; empty = this is the last page."""
    member_id: str
    """Id of the member that serves the streams."""
    revision: int
    """Cluster revision that this member had applied."""


@dataclass(frozen=True, slots=True)
class MemberInfo:
    """A member as clients see it."""

    id: str
    """Id of the member: the log index of the entry that added it, as a decimal string. Never used again."""
    name: str
    """Name of the member, given when it was added."""
    grpc_endpoint: str
    """Its gRPC address, as host:port; empty = no process has claimed the member yet."""
    http_endpoint: str
    """Its HTTP address, as host:port; empty = no process has claimed the member yet."""
    learner: bool
    """Whether it is a learner: it receives the log but has no vote."""
    leader: bool
    """Whether it leads the cluster."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """The members of the cluster."""

    cluster_id: str
    """Id of the cluster, set when the cluster was founded."""
    members: tuple[MemberInfo, ...]
    """All members, learners included."""
    leader_id: str
    """Id of the leader; empty = none is known."""
    term: int
    """Raft term in which the answer is true."""
    revision: int
    """Cluster revision at which the answer is true."""


@dataclass(frozen=True, slots=True)
class UserInfo:
    """A user."""

    user_id: str
    """Id of the user: a UUID that the service generated."""
    email: str
    """The e-mail address, as given at the creation."""
    role: str
    """What the user may do."""
    namespaces: tuple[str, ...]
    """Where the user may do it; `*` = in all namespaces."""
    status: str
    """Whether the user can log in."""
    created_at_ms: int
    """When the user was created, Unix time in milliseconds."""


@dataclass(frozen=True, slots=True)
class UserPage:
    """One page of users."""

    users: tuple[UserInfo, ...]
    """The users, ordered by their ids."""
    next_page_token: str
    """Opaque token of the next page; empty = this is the last page."""
    revision: int
    """Cluster revision at which this page is true."""


@dataclass(frozen=True, slots=True)
class ApiKeyInfo:
    """An API key without its secret."""

    api_key_id: str
    """Id of the key: a UUID that the service generated."""
    name: str
    """A name for people."""
    key_prefix: str
    """The part of the key that is not secret."""
    user_id: str
    """Id of the user for whom it acts."""
    created_at_ms: int
    """When it was created, Unix time in milliseconds."""
    expires_at_ms: int | None
    """When it expires, Unix time in milliseconds; 0 = never."""
    last_used_at_ms: int | None
    """When it was last used, Unix time in milliseconds, accurate to the minute; 0 = never. A member reports uses
    once a second, so a first use shows a moment later.
    """
    revoked_at_ms: int | None
    """When it was revoked, Unix time in milliseconds; 0 = it is not revoked."""


@dataclass(frozen=True, slots=True)
class ApiKeyPage:
    """One page of API keys."""

    keys: tuple[ApiKeyInfo, ...]
    """The keys of one user ordered by their creation, those of several users by their ids."""
    next_page_token: str
    """Opaque token of the next page; empty = this is the last page."""
    revision: int
    """Cluster revision at which this page is true."""


@dataclass(frozen=True, slots=True)
class CreatedApiKey:
    """The API key was created."""

    api_key: ApiKeyInfo
    """The key without its secret."""
    key: str = field(repr=False)
    """The key in plain text. No other answer contains it: in the answer to a retry it is empty."""
    revision: int
    """Cluster revision at which the answer is true."""


@dataclass(frozen=True, slots=True)
class RevokedApiKey:
    """The API key is revoked, now or before."""

    revoked_at_ms: int
    """When it was revoked first, Unix time in milliseconds."""
    revision: int
    """Cluster revision at which the answer is true."""


@dataclass(frozen=True, slots=True)
class AccessToken:
    """An access token."""

    access_token: str = field(repr=False)
    """The token, for the metadata `authorization: Bearer TOKEN`."""
    expires_in_seconds: int
    """Its lifetime in seconds, never longer than that of the key."""


@dataclass(frozen=True, slots=True)
class Login:
    """An access token and its user."""

    access_token: str = field(repr=False)
    """The token, for the metadata `authorization: Bearer TOKEN`."""
    expires_in_seconds: int
    """Its lifetime in seconds."""
    user: UserInfo
    """The user."""


@dataclass(frozen=True, slots=True)
class UsageCounts:
    """Counts of a period."""

    requests: int
    """Requests."""
    append_requests: int
    """Requests that append events."""
    events_appended: int
    """Events that were stored."""
    bytes_appended: int
    """Bytes of their payloads."""
    bytes_stored: int | None
    """Stored bytes at the end of the period; absent if not known for the caller's namespaces."""
    kv_operations: int
    """Requests about keys."""
    lock_operations: int
    """Requests about locks."""
    memory_operations: int
    """Requests about memory regions."""
    memory_bytes: int | None
    """Bytes of memory regions at the end of the period; absent if not known for the caller's namespaces."""


@dataclass(frozen=True, slots=True)
class UsageBucket:
    """Counts of an hour or a day."""

    start_ms: int
    """Its begin, Unix time in milliseconds."""
    counts: UsageCounts
    """Its counts."""


@dataclass(frozen=True, slots=True)
class ApiKeyUsage:
    """Counts of an API key."""

    api_key_id: str
    """Id of the key."""
    requests: int
    """Requests."""
    events_appended: int
    """Events that were stored."""
    bytes_appended: int
    """Bytes of their payloads."""


@dataclass(frozen=True, slots=True)
class NamespaceUse:
    """What a namespace uses now."""

    namespace: str
    """The namespace."""
    quotas: tuple[QuotaUse, ...]
    """What it uses of each quota."""


@dataclass(frozen=True, slots=True)
class Usage:
    """The usage of the cluster, or of what the caller may see."""

    start_ms: int
    """Begin and end of the period, Unix time in milliseconds."""
    end_ms: int
    """End of the period, exclusive."""
    totals: UsageCounts
    """Counts of the whole period."""
    buckets: tuple[UsageBucket, ...]
    """Hours or days in which something was counted, ascending."""
    api_keys: tuple[ApiKeyUsage, ...]
    """By API key, ordered by id."""
    namespaces: tuple[NamespaceUse, ...]
    """The caller's namespaces that are not empty now, the namespace nearest to a limit first; at most 1,000."""
    requests_per_minute: int
    """Requests per minute that one principal may send to one member by HTTP; 0 = no limit."""
    as_of_ms: int
    """When the answer was made, Unix time in milliseconds."""
    revision: int
    """Cluster revision at which the answer is true."""


@dataclass(frozen=True, slots=True)
class TransactedPut:
    """The key was written, at the revision of the transaction."""

    created: bool
    """Whether the key did not exist before."""
    previous: PreviousEntry | None
    """The key as it was before, if requested and if it existed."""


@dataclass(frozen=True, slots=True)
class TransactedDelete:
    """The key does not exist any more."""

    deleted: bool
    """Whether it existed."""
    previous: PreviousEntry | None
    """The key as it was before, if requested and if it existed."""


@dataclass(frozen=True, slots=True)
class TransactedDeletePrefix:
    """No key has the prefix any more."""

    deleted_keys: int
    """Number of keys that were deleted."""


@dataclass(frozen=True, slots=True)
class TransactedTouch:
    """The key has the new time to live."""

    expires_in_ms: int
    """Remaining time to live in milliseconds, at least 1; 0 = the key does not expire."""


@dataclass(frozen=True, slots=True)
class TransactedIncrement:
    """The key has the new number."""

    value: int
    """The number."""
    created: bool
    """Whether the key did not exist before."""


@dataclass(frozen=True, slots=True)
class TransactedGet:
    """The key as the transaction has seen it."""

    kv: PreviousEntry | None
    """The key; absent = it does not exist."""


@dataclass(frozen=True, slots=True)
class TransactedList:
    """Keys as the transaction has seen them."""

    items: tuple[PreviousEntry, ...]
    """The keys, ordered by their UTF-8 bytes."""
    more: bool
    """Whether keys with the prefix follow."""


@dataclass(frozen=True, slots=True)
class TransactedWriteMemory:
    """The bytes were written."""

    version: int
    """The region's new version."""


@dataclass(frozen=True, slots=True)
class TransactedReadMemory:
    """Bytes of the region as the transaction has seen them."""

    data: bytes | None
    """The bytes."""
    version: int
    """The region's version."""


@dataclass(frozen=True, slots=True)
class SequenceRun:
    """Events with consecutive sequences."""

    first_sequence: int
    """Sequence of the first event."""
    count: int
    """Number of events."""


@dataclass(frozen=True, slots=True)
class TransactedAppend:
    """The events are stored, now or before."""

    runs: tuple[SequenceRun, ...]
    """Sequences of all events, in their order."""
    last_sequence: int
    """The greatest of these sequences."""


@dataclass(frozen=True, slots=True)
class TransactedRelease:
    """The hold ends with the transaction."""


@dataclass(frozen=True, slots=True)
class MemberStatus:
    """State of one member, as it reports it."""

    id: str
    """Id of the member; empty = it has not joined."""
    name: str
    """Its configured name."""
    state: str
    """State of its process."""
    state_for_ms: int
    """How long it has been in this state, in milliseconds."""
    role: str
    """Its role in Raft."""
    term: int
    """Its Raft term."""
    leader_id: str
    """Id of the leader that it knows; empty = none."""
    commit_index: int
    """Highest log index that it knows to be committed."""
    applied_index: int
    """Highest log index that it has applied."""
    first_index: int
    """Lowest index in its log."""
    last_index: int
    """Highest index in its log."""
    revision: int
    """Cluster revision that it has applied."""
    db_size_bytes: int
    """Size of its stores, in bytes."""
    disk_free_bytes: int
    """Free space of its disk, in bytes."""
    version: str
    """Version of its program."""
    downgrade_floor: str
    """Oldest version of the program that can still read its data."""
    uptime_ms: int
    """How long its process has run, in milliseconds."""
    incarnation: str
    """Id of its data directory."""
    cluster_id: str
    """Id of its cluster; empty = none yet."""
    alarms: tuple[str, ...]
    """Names of its active alarms; none = healthy."""
    state_hash: str
    """Hash of its state at state_hash_index, in hexadecimal, for comparing members; empty = none computed yet."""
    state_hash_index: int
    """Log index at which state_hash was computed."""
    certificate_serial: str
    """Serial number of the certificate that it presents to peers, in lower-case hexadecimal; empty = none."""
    trusted_cas: tuple[str, ...]
    """SHA-256 fingerprints of the certificate authorities that it trusts for peers, in lower-case hexadecimal."""
    settings_revision: int
    """Revision of the replicated settings that it has applied."""
    last_term: int
    """Raft term of the entry at last_index; 0 = its log was never written, or its release does not report the term."""
    founded_from: str
    """The backup from which this process founded the cluster, as text for people; empty = it did not do so."""
    clock_ms: int
    """Its time of day when it answered, Unix time in milliseconds; 0 = its release does not report it. Clocks that
    differ by many seconds make tokens expire early, late or at once.
    """


@dataclass(frozen=True, slots=True)
class MemberSlot:
    """A slot in the membership, claimed by a process or not, as the leader sees it."""

    id: str
    """Id of the member."""
    name: str
    """Name of the member, unique in the cluster."""
    peer_endpoint: str
    """Its address for other members, as host:port; empty = unclaimed."""
    grpc_endpoint: str
    """Its gRPC address, as host:port; empty = unclaimed."""
    http_endpoint: str
    """Its HTTP address, as host:port; empty = unclaimed."""
    voter: bool
    """Whether it votes; otherwise it is a learner."""
    incarnation: str
    """Id of the data directory that claimed it; empty = unclaimed."""
    lag_ms: int
    """Age of the oldest committed entry that it has not acknowledged, in milliseconds; 0 = there is none."""
    contact_age_ms: int
    """Time since the leader last received a message from it, in milliseconds."""
    promotable: bool
    """Whether PromoteMembers would promote it now."""


@dataclass(frozen=True, slots=True)
class Membership:
    """The membership."""

    cluster_id: str
    """Id of the cluster."""
    term: int
    """Raft term in which the answer is true."""
    config_index: int
    """Log index of the entry that set this membership."""
    commit_index: int
    """Highest committed log index."""
    changing: bool
    """Whether a membership change is in progress."""
    leader_id: str
    """Id of the leader; empty = none is known."""
    members: tuple[MemberSlot, ...]
    """All members, claimed or not, learners included."""


@dataclass(frozen=True, slots=True)
class StatusResult:
    """State of the member."""

    status: MemberStatus
    """Its own state."""
    known: Membership | None
    """The membership that it has applied, which may be out of date; absent = none."""


@dataclass(frozen=True, slots=True)
class RequestCounts:
    """The requests of one kind that ended in an interval, over gRPC and HTTP."""

    kind: str
    """The kind."""
    ok: int
    """Requests that succeeded."""
    refused: int
    """Requests that were refused for their contents, their caller, a limit, or the state of what they concern, and
    requests that their clients gave up: gRPC codes other than those of `failed`, and HTTP 4xx.
    """
    failed: int
    """Requests that failed: UNKNOWN, DEADLINE_EXCEEDED, INTERNAL, UNAVAILABLE and DATA_LOSS; HTTP 5xx."""
    p50_us: int
    """Median duration in microseconds, estimated from a histogram; 0 = none was measured. Requests that may wait
    for a lock or for events are not measured.
    """
    p99_us: int
    """99th percentile of the durations in microseconds, likewise."""


@dataclass(frozen=True, slots=True)
class CounterSample:
    """A member's counters over one interval. Counts and maxima are those of the interval; all other values are
    those at its end.
    """

    at_ms: int
    """End of the interval by the member's clock, Unix time in milliseconds."""
    interval_ms: int
    """Length of the interval in milliseconds: about 5,000."""
    requests: tuple[RequestCounts, ...]
    """Requests that ended in the interval, by kind; kinds without any are left out."""
    lag_ms: int
    """Age of the oldest committed entry that the member had not applied, in milliseconds."""
    role: str
    """Role of the member in Raft."""
    loop_delay_us: int
    """Largest delay of the member's event loop, in microseconds."""
    processor_us: int
    """Processor time that all threads of the process used, in microseconds."""
    memory_bytes: int
    """Memory of the process (its resident set), in bytes."""
    db_size_bytes: int
    """Size of the table files of its stores, in bytes. Unlike in MemberStatus, the files of the newest writes do
    not count.
    """
    disk_free_bytes: int
    """Free space of its disk, in bytes."""
    streams: int
    """Open streams: watches, and followers of event logs."""
    connections: int
    """Open connections of clients."""


@dataclass(frozen=True, slots=True)
class MemberCounters:
    """The state of one member, and its counters of the last minutes."""

    id: str
    """Id of the member."""
    name: str
    """Name of the member."""
    problem: str
    """Why it did not answer, as text for people; empty = it did. With a problem, the fields below are empty."""
    status: MemberStatus | None
    """Its state."""
    samples: tuple[CounterSample, ...]
    """Samples of its counters, the oldest first. A member takes a sample every 5 s, and a later one while it is
    busy. Samples do not survive a restart.
    """


@dataclass(frozen=True, slots=True)
class MemberCountersResult:
    """The members, in the order of the request or of the membership."""

    members: tuple[MemberCounters, ...]
    """The members."""
    answered_by: str
    """Id of the member that answered; empty = it has not joined."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting."""

    name: str
    """Its name, as in PutSettings."""
    value: str
    """Its value in decimal; empty = not set, so its default applies."""
    default_value: str
    """Its default in decimal; empty = it depends on the flags of each member."""
    min: int
    """Its least value."""
    max: int
    """Its greatest value."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings."""

    settings: tuple[Setting, ...]
    """All settings, ordered by name, and then the limits that are set for single namespaces."""
    settings_revision: int
    """Revision of the settings, for `if_settings_revision` of PutSettings; 0 = no setting was ever changed."""


@dataclass(frozen=True, slots=True)
class BootstrapResult:
    """The cluster was founded."""

    member_id: str
    """Id of its first member."""


@dataclass(frozen=True, slots=True)
class ResetOwnerResult:
    """The owner can log in."""

    user_id: str
    """Id of the user."""
    created: bool
    """Whether the call created the user, because no user had the address."""


@dataclass(frozen=True, slots=True)
class AddMemberResult:
    """The slot was added."""

    member: MemberSlot
    """The new learner. No process has claimed it yet."""
    config_index: int
    """Log index of the entry that added it."""


@dataclass(frozen=True, slots=True)
class ChangeResult:
    """A changed membership."""

    config_index: int
    """Log index of the entry that set the present membership."""


@dataclass(frozen=True, slots=True)
class TransferResult:
    """Another member leads."""

    leader_id: str
    """Id of the new leader."""
    term: int
    """Its term."""


@dataclass(frozen=True, slots=True)
class PutSettingsResult:
    """The settings were changed."""

    settings_revision: int
    """Revision of the settings. It does not change if all values are the same as before."""


@dataclass(frozen=True, slots=True)
class StartBackupResult:
    """The backup has begun."""

    id: str
    """Id of the backup: 32 hexadecimal digits, the same as in the name of its object."""


@dataclass(frozen=True, slots=True)
class BackupRun:
    """One snapshot that a member takes or has taken."""

    id: str
    """Id of the backup: 32 hexadecimal digits."""
    phase: str
    """Its phase."""
    object: str
    """Name of its object in the store; empty = not known yet."""
    index: int
    """Log index of the state that it contains; 0 = not known yet."""
    revision: int
    """Cluster revision of that state."""
    wall_ms: int
    """Wall clock of the last entry in that state, in milliseconds since 1970."""
    bytes: int
    """Bytes that it has written so far, before encryption."""
    rows: int
    """Rows of the state that it has written so far."""
    started_ms: int
    """When it began, by the member's clock, in milliseconds since 1970."""
    ended_ms: int
    """When it ended, by the member's clock, in milliseconds since 1970; 0 = it has not ended."""
    error: str
    """Why it failed, and what to do; empty = it has not failed."""
    leaderless: bool
    """True: the member had no leader when the backup began, so the backup may miss acknowledged writes."""


@dataclass(frozen=True, slots=True)
class ArchiveStatus:
    """The continuous archive of the cluster, as this member knows it."""

    enabled: bool
    """Whether archiving is on: `--backup-archive` of this member."""
    archiver_id: str
    """Id of the member that archives; empty = none is known."""
    archived_index: int
    """The archive contains every entry up to this log index; 0 = none."""
    archived_revision: int
    """Cluster revision at that index."""
    archived_wall_ms: int
    """Wall clock of the last archived entry, in milliseconds since 1970."""
    lag_ms: int
    """Age of the oldest committed entry that is not archived, in milliseconds; 0 = all are archived. If all volumes
    are lost, the acknowledged writes of this time are lost.
    """
    chain_index: int
    """Log index of the snapshot that began the present chain; 0 = there is no chain."""
    chain_broken: bool
    """Whether the chain is broken: the log was compacted past the last archived entry, and no snapshot has begun
    another chain yet.
    """
    chain_breaks: int
    """How many times a chain broke since the process of the archiving member started."""
    last_success_ms: int
    """When the last snapshot or segment became durable in the store, in milliseconds since 1970; 0 = never."""
    failures: int
    """Number of failed attempts to write since the last success."""
    last_error: str
    """Why the last attempt failed, and what to do; empty = it did not fail. Only the archiving member knows it."""


@dataclass(frozen=True, slots=True)
class BackupStatus:
    """State of backups."""

    store: str
    """The store of this member, without secrets; empty = the member was started without a store."""
    encrypted: bool
    """Whether this member encrypts the objects that it writes there."""
    run: BackupRun | None
    """The backup; absent = the member knows none with the id. It knows its last 16 backups since its process
    started.
    """
    archive: ArchiveStatus | None
    """The continuous archive."""
    next_snapshot_ms: int
    """When this member plans to take its next snapshot, in milliseconds since 1970; 0 = it plans none, or another
    member archives.
    """
    verified_ms: int
    """When this member last read its backups back from the store and found no damage, in milliseconds since 1970; 0
    = not since its process started. A member does that after each snapshot that it takes.
    """
    damage_found_ms: int
    """When this member last read its backups back and found damage, in milliseconds since 1970; 0 = not since its
    process started.
    """
    damaged_objects: tuple[str, ...]
    """Names of the objects that the last verification found damaged, at most 100."""


@dataclass(frozen=True, slots=True)
class BackupEntry:
    """A snapshot in the store, and what can be restored from it."""

    id: str
    """Id of the backup: 32 hexadecimal digits."""
    object: str
    """Name of its object in the store."""
    index: int
    """Log index of the state that it contains."""
    revision: int
    """Cluster revision of that state. It is the first revision that can be restored."""
    wall_ms: int
    """Wall clock of the last entry in that state, in milliseconds since 1970. It is the first time that can be
    restored.
    """
    size_bytes: int
    """Size of the snapshot in the store, in bytes."""
    segments: int
    """Number of segments that follow it without a gap."""
    segment_bytes: int
    """Size of these segments in the store, in bytes."""
    end_index: int
    """Log index of the last entry that can be restored from it."""
    end_revision: int
    """Cluster revision at that index: the last revision that can be restored; 0 = not known from the store."""
    end_wall_ms: int
    """Wall clock of that entry, in milliseconds since 1970: the last time that can be restored; 0 = not known from
    the store.
    """


@dataclass(frozen=True, slots=True)
class BackupList:
    """The contents of the store."""

    store: str
    """The store, without secrets."""
    cluster_id: str
    """Id of the cluster."""
    backups: tuple[BackupEntry, ...]
    """The snapshots, oldest first. If there are more than 1,000, only the newest 1,000."""
    problems: tuple[str, ...]
    """Problems in the list of objects, such as a gap before a segment; at most 100."""
    cluster_ids: tuple[str, ...]
    """Ids of all clusters that have backups in the store, on the admin port; the cluster of this member on others."""


@dataclass(frozen=True, slots=True)
class CompactResult:
    """The history was dropped."""

    compact_revision: int
    """Oldest revision from which a watch can now start."""


@dataclass(frozen=True, slots=True)
class Changed:
    """The answer to a change that has nothing else to report."""

    revision: int
    """Revision of the first request for this deletion."""


@dataclass(frozen=True, slots=True)
class PreviousEntry:
    """A key before a change, or as a transaction has seen it."""

    key: str
    """The key, 1 to 1,024 bytes."""
    value: bytes | None
    """None if the service has left the value out of the answer to a retry."""
    create_revision: int
    """Revision that created the key. A key that was deleted and created again has a new one."""
    mod_revision: int
    """Revision of the latest change of the key."""
    version: int
    """Number of changes since the key was created: 1 at creation."""
    expires_in_ms: int
    """Remaining time to live in milliseconds, at least 1; 0 = the key does not expire."""
    session_id: int
    """Id of the session that the key ends with; 0 = none."""
