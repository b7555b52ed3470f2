"""Types of arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypedDict

if TYPE_CHECKING:
    from typing_extensions import Required

# `linearizable` sees every change that was acknowledged before the read began. `serializable` sees the state of the
# answering member, which may be up to 1 s old.
Consistency = Literal["linearizable", "serializable"]
LockMode = Literal["READ", "WRITE"]
Comparison = Literal["EQUAL", "NOT_EQUAL", "LESS", "GREATER"]
UserRole = Literal["viewer", "member", "admin", "owner"]
UserStatus = Literal["active", "disabled"]
Granularity = Literal["hour", "day"]


class StreamOptions(TypedDict, total=False):
    """Options of every call and every stream."""

    # How long it may take over all attempts, in milliseconds, more than 0. Of a stream: until it is established.
    # Default 5,000.
    timeout_ms: float
    # The header of W3C Trace Context to send. Default: spans below the active one, if OpenTelemetry is installed.
    traceparent: str


class CallOptions(StreamOptions, total=False):
    """Options of every call."""

    # A UUID. Default: a random one. To repeat an operation with an unknown outcome, use the one of its error.
    request_id: str


class AcquireOptions(CallOptions, total=False):
    """Options of a hold that is renewed."""

    # How long a hold lasts without renewal, in seconds, 1 to 86,400. Default: that of the lock.
    ttl_seconds: int
    # Label of the holder, at most 256 bytes. Default: random, the same for all holds of this process.
    owner: str
    # How long to wait while others hold the lock, in milliseconds, at most an hour. 0 = try once. Default 30,000.
    wait_ms: int


class Owner(TypedDict, total=False):
    """The owner of a new cluster."""

    email: Required[str]
    password: Required[str]
    # Default: none.
    api_key: str


@dataclass(frozen=True, slots=True)
class Guard:
    """A hold that must be live, or the write fails with FENCED and changes nothing."""

    lock_name: str
    fencing_token: int
    # Whether it is a read-write lock, whose hold must be in mode WRITE.
    rw: bool = False
    # Where the lock is. None = where the write is.
    namespace: str | None = None


@dataclass(frozen=True, slots=True)
class SessionGuard:
    """A session that must be live, or the write fails with FENCED and changes nothing."""

    session_id: int
    # Where the session is. None = where the write is.
    namespace: str | None = None


class HasGuard(Protocol):
    """A hold, a leadership or a session."""

    @property
    def guard(self) -> Guard | SessionGuard: ...


Guarding = Guard | SessionGuard | HasGuard | Mapping[str, object]
