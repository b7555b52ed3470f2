# Made by scripts/generate.py from _async. Do not edit.
"""The clients: an application creates one and shares it."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from quoin import _types as types
from quoin._core.context import Context, Discovery
from quoin._core.effects import Surroundings
from quoin._core.endpoints import Endpoints, checked_endpoints
from quoin._core.errors import bad_field
from quoin._core.operation import Persistence, checked_options, execute
from quoin._core.snapshots import SnapshotReader
from quoin._core.tokens import (
    EXCHANGE_SHARE,
    EXCHANGE_TIMEOUT_MS,
    LOGIN_SHARE,
    LOGIN_TIMEOUT_MS,
    GivenToken,
    exchange,
    tokens_of,
)
from quoin._core.transactions import BatchPart
from quoin._core.wire import checked_mapping, checked_timeout
from quoin._generated import decode, models
from quoin._io.channels import CONTRACT, TlsOptions
from quoin._io.threads import ThreadIo
from quoin._sync.accounts import ApiKeyClient, UsageClient, UserClient
from quoin._sync.base import Calls, Closeable, Opening
from quoin._sync.calls import AdminCalls, ClusterCalls
from quoin._sync.elections import Election
from quoin._sync.keys import KeyValueClient
from quoin._sync.locks import Hold, LockClient, ReadWriteHold, ReadWriteLockClient, SemaphoreClient
from quoin._sync.logs import LogClient
from quoin._sync.memory import MemoryClient
from quoin._sync.sessions import Session, SessionClient
from quoin._sync.transactions import ATTEMPTS_DEFAULT, OptimisticTransaction, Transaction, transact, write_batch
from quoin._sync.watches import WatchClient
from quoin.ops import Part

if TYPE_CHECKING:
    from typing_extensions import Unpack

T = TypeVar("T")


class _Connected(Closeable):
    """Connections to members, and credentials."""

    def __init__(self, endpoints: Sequence[str], follow_leader: bool, options: types.ClientOptions) -> None:
        configured = checked_endpoints(endpoints, "endpoints" if follow_leader else "endpoint")
        surroundings = Surroundings(lambda: time.monotonic() * 1e3, random.random)
        first = Endpoints(configured, random.randrange(len(configured)))
        self._context = Context(CONTRACT, first, GivenToken(""), surroundings, follow_leader=follow_leader)
        checked_options(options, tuple(types.ClientOptions.__annotations__))
        if "timeout_ms" in options:
            self._context = replace(self._context, timeout_ms=checked_timeout(options["timeout_ms"], "timeout_ms"))
        self._context = replace(self._context, tokens=tokens_of(self._context, options))
        self._io = ThreadIo(configured, options.get("tls"), options.get("channel"), self._context.closing)

    def close(self) -> None:
        """Ends watches and all connections.

        Operations in flight fail with CANCELLED; the outcome of one that was sent is `unknown`. Holds and sessions are
        no longer renewed; each ends at its deadline.
        """
        self._io.close()

    def _left(self, kind: type[BaseException] | None) -> None:
        self.close()


class Client(_Connected):
    """An client with threads of a cluster. It connects on first use, and is safe to share."""

    def __init__(self, endpoints: Sequence[str], **options: Unpack[types.ClientOptions]) -> None:
        """Creates a client. It sends nothing yet. Raises BadFieldError for arguments that cannot be used.

        `endpoints` are members as `host:port`, at least one. Any member takes every call; the client begins with a
        random one, and learns of the others by itself. The options are those of `ClientOptions`: credentials, `tls`,
        `timeout_ms` and `channel`.
        """
        super().__init__(endpoints, True, options)
        context = replace(self._context, on_answer=Discovery(self._context).on_answer)
        parts = self._io, context
        self._all = Calls(*parts)
        self.kv = KeyValueClient(*parts)
        self.locks = LockClient(*parts)
        self.rw_locks = ReadWriteLockClient(*parts)
        self.semaphores = SemaphoreClient(*parts)
        self.sessions = SessionClient(*parts)
        self.memory = MemoryClient(*parts)
        self.logs = LogClient(*parts)
        self.watch = WatchClient(*parts)
        self.keys = ApiKeyClient(*parts)
        self.users = UserClient(*parts)
        self.usage = UsageClient(*parts)
        self.cluster = ClusterCalls(*parts)

    def lock(self, namespace: str, name: str, **options: Unpack[types.AcquireOptions]) -> Opening[Hold]:
        """An exclusive lock for a `with` block, which gets the hold. See `locks.hold`."""
        return Opening(lambda: self.locks.hold(namespace, name, **options))

    def read_lock(self, namespace: str, name: str, **options: Unpack[types.AcquireOptions]) -> Opening[ReadWriteHold]:
        """A read-write lock in mode READ for a `with` block. See `rw_locks.hold`."""
        return Opening(lambda: self.rw_locks.hold(namespace, name, "READ", **options))

    def write_lock(self, namespace: str, name: str, **options: Unpack[types.AcquireOptions]) -> Opening[ReadWriteHold]:
        """A read-write lock in mode WRITE for a `with` block. See `rw_locks.hold`."""
        return Opening(lambda: self.rw_locks.hold(namespace, name, "WRITE", **options))

    def semaphore(
        self, namespace: str, name: str, *, permits: int = 1, **options: Unpack[types.AcquireOptions]
    ) -> Opening[Hold]:
        """Permits of a semaphore for a `with` block. See `semaphores.hold`."""
        return Opening(lambda: self.semaphores.hold(namespace, name, permits=permits, **options))

    def session(self, namespace: str, **options: Unpack[types.SessionOptions]) -> Opening[Session]:
        """A session for a `with` block. See `sessions.keep`."""
        return Opening(lambda: self.sessions.keep(namespace, **options))

    def election(self, namespace: str, name: str) -> Election:
        """The election of this name: the exclusive lock with that name. Sends no request by itself."""
        return Election(self._io, self._context, self.locks, namespace, name)

    def transaction(self, namespace: str) -> Transaction:
        """A transaction on a namespace: `client.transaction(namespace).if_(…).then(…).else_(…).commit()`."""
        return Transaction(self._all, namespace)

    def transact(
        self,
        namespace: str,
        work: Callable[[OptimisticTransaction], T],
        *,
        max_attempts: int = ATTEMPTS_DEFAULT,
        guard: types.Guarding | None = None,
        **options: Unpack[types.PartOptions],
    ) -> T:
        """Runs a function that reads and writes keys, as one change: what it has read holds when its writes take
        effect.

        If another client was faster, nothing is written, and the function runs again, after a pause, at most
        `max_attempts` times and within `timeout_ms`. So it must change nothing but by its parameter. What it raises is
        raised, and nothing is written. Raises TransactionConflictError if others were faster in all attempts.
        """
        return transact(self.kv, namespace, work, max_attempts, guard, options)

    def batch(
        self,
        namespace: str,
        writes: Iterable[Part] | Iterable[Part],
        *,
        on_part: Callable[[BatchPart], object] | None = None,
        guard: types.Guarding | None = None,
        **options: Unpack[types.PartOptions],
    ) -> list[BatchPart]:
        """Writes many keys in their order, in parts of at most 10,000 writes and about 3.5 MiB.

        Only each part is atomic: if one fails, those before it remain. `on_part` gets each part that is done.
        """
        return write_batch(self.kv, namespace, writes, on_part, guard, options)

    @staticmethod
    def exchange_api_key(
        endpoints: Sequence[str],
        api_key: str,
        *,
        expires_in_seconds: int | None = None,
        tls: TlsOptions | None = None,
        timeout_ms: float = EXCHANGE_TIMEOUT_MS,
    ) -> models.AccessToken:
        """Exchanges an API key for a token. A client with an `api_key` does that itself. Raises InvalidApiKeyError."""
        fields: dict[str, object] = {"api_key": api_key}
        if expires_in_seconds is not None:
            fields["expires_in_seconds"] = expires_in_seconds
        persistence = Persistence(attempt_timeout_ms=checked_timeout(timeout_ms, "timeout_ms") * EXCHANGE_SHARE)
        with _anonymous(endpoints, tls) as connected:
            options = {"timeout_ms": timeout_ms}
            steps = exchange(connected._context, "AccountService/ExchangeToken", fields, options, persistence)
            return decode.access_token(connected._io.run(steps))

    @staticmethod
    def log_in(
        endpoints: Sequence[str],
        email: str,
        password: str,
        *,
        tls: TlsOptions | None = None,
        timeout_ms: float = LOGIN_TIMEOUT_MS,
    ) -> models.Login:
        """Exchanges the password of a person for a token. Raises InvalidCredentialsError, EmailNotVerifiedError."""
        fields: dict[str, object] = {"email": email, "password": password}
        persistence = Persistence(attempt_timeout_ms=checked_timeout(timeout_ms, "timeout_ms") * LOGIN_SHARE)
        with _anonymous(endpoints, tls) as connected:
            options = {"timeout_ms": timeout_ms}
            steps = exchange(connected._context, "AccountService/Login", fields, options, persistence)
            return decode.login(connected._io.run(steps))

    @staticmethod
    def verify_email(
        endpoints: Sequence[str],
        token: str,
        *,
        password: str | None = None,
        tls: TlsOptions | None = None,
        timeout_ms: float = LOGIN_TIMEOUT_MS,
    ) -> None:
        """Verifies the address of a user by the token of a mail, or replaces a forgotten password.

        Only attempts that reach no member are repeated, because a token works once.
        """
        fields = {"token": token} if password is None else {"token": token, "password": password}
        with _anonymous(endpoints, tls) as connected:
            once = Persistence(attempts_max=1)
            steps = execute(connected._context, "AccountService/VerifyEmail", fields, {"timeout_ms": timeout_ms}, once)
            connected._io.run(steps)

    @staticmethod
    def request_password_reset(
        endpoints: Sequence[str], email: str, *, tls: TlsOptions | None = None, timeout_ms: float = LOGIN_TIMEOUT_MS
    ) -> None:
        """Has a token mailed to the address, if it belongs to an active user. Raises NotServedError without mail."""
        options = {"timeout_ms": timeout_ms}
        with _anonymous(endpoints, tls) as connected:
            steps = execute(connected._context, "AccountService/RequestPasswordReset", {"email": email}, options)
            connected._io.run(steps)


def _anonymous(endpoints: Sequence[str], tls: TlsOptions | None) -> _Connected:
    """Connections for the calls that need no token."""
    return _Connected(endpoints, True, {"token": "", "tls": tls})


class AdminClient(_Connected, AdminCalls):
    """Administers a cluster through the public ports of its members, or one member through its admin port.

    With `endpoint` it uses only that member, also on its admin port with an admin token. With `endpoints`, its token
    needs the access `admin` and the namespaces `*`.
    """

    def __init__(
        self,
        endpoints: Sequence[str] | None = None,
        *,
        endpoint: str | None = None,
        **options: Unpack[types.ClientOptions],
    ) -> None:
        if (endpoints is None) == (endpoint is None):
            raise bad_field("endpoints", "must be given, or endpoint instead")
        super().__init__([str(endpoint)] if endpoints is None else endpoints, endpoints is not None, options)

    def put_settings(
        self,
        values: Mapping[str, int | None],
        *,
        if_settings_revision: int | None = None,
        **call: Unpack[types.CallOptions],
    ) -> int:
        """Changes settings of the cluster, all given ones or none; None resets one to its default.

        Returns the new revision of the settings. Raises BadFieldError, SettingsChangedError.
        """
        checked_mapping(values, "values")
        given = {"values": {name: "" if value is None else str(value) for name, value in values.items()}}
        optional = {"if_settings_revision": if_settings_revision}
        method = "ClusterAdminService/PutSettings"
        return (self._call(decode.put_settings_result, method, given, optional, call)).settings_revision

    def snapshot(self, *, silence_ms: float = 60_000.0, **options: Unpack[types.StreamOptions]) -> Iterator[bytes]:
        """Streams the state of the answering member as a backup, only on admin ports. It is not retried.

        The bytes are not encrypted, and contain secrets. The snapshot is complete only after an end without an error.
        `timeout_ms`, by default 20,000, is how long the member may take to begin, and `silence_ms` for each next part.
        """
        reader = SnapshotReader(self._context, silence_ms, options)
        try:
            while not reader.is_complete:
                chunk = self._io.run(reader.next())
                if chunk:
                    yield chunk
        finally:
            reader.end()
