"""Types of arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypedDict

from quoin._core.effects import Signal

if TYPE_CHECKING:
    from typing_extensions import Required

    from quoin._io.channels import ChannelOptions, TlsOptions

# `linearizable` sees every change that was acknowledged before the read began. `serializable` sees the state of the
# answering member, which may be up to 1 s old.
Consistency = Literal["linearizable", "serializable"]
LockMode = Literal["READ", "WRITE"]
Comparison = Literal["EQUAL", "NOT_EQUAL", "LESS", "GREATER"]
UserRole = Literal["viewer", "member", "admin", "owner"]
UserStatus = Literal["active", "disabled"]
Granularity = Literal["hour", "day"]


class ClientOptions(TypedDict, total=False):
    """Options of a client. The credentials are one of `token`, `token_file`, `api_key`, and `email` with `password`."""

    # A token, sent as it is.
    token: str
    # A file whose first non-empty line is the token. It is read again when the token is refused.
    token_file: str
    # An API key, exchanged for tokens.
    api_key: str
    # Address and password of a user, exchanged for tokens.
    email: str
    password: str
    # None = not encrypted; `TlsOptions()` = with the authorities of the system.
    tls: TlsOptions | None
    # Deadline of operations without their own, in milliseconds. Default 5,000.
    timeout_ms: float
    # Settings of each connection.
    channel: ChannelOptions


class StreamOptions(TypedDict, total=False):
    """Options of every stream."""

    # How long a call may take over all attempts, and a stream until it is established, in milliseconds, more than 0.
    # Default 5,000.
    timeout_ms: float
    # The header of W3C Trace Context to send. Default: spans below the active one, if OpenTelemetry is installed.
    traceparent: str


class PartOptions(StreamOptions, total=False):
    """Options of what makes several calls."""

    # Cancels the call when another thread sets it: the call then fails with CANCELLED.
    cancel: Signal


class CallOptions(PartOptions, total=False):
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


class SessionOptions(CallOptions, total=False):
    """Options of a session that is renewed."""

    # How long it lives without renewal, in seconds, 1 to 86,400. Default 30.
    ttl_seconds: int
    # Label of who uses it, at most 256 bytes. Default: the subject of the token.
    owner: str | None
    # For other clients to read, at most 1 KiB. Default: empty.
    metadata: bytes | str | None


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
