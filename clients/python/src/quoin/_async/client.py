"""The clients: an application creates one and shares it."""

from __future__ import annotations

import random
import time
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from quoin import _types as types
from quoin._async.accounts import AsyncApiKeyClient, AsyncUsageClient, AsyncUserClient
from quoin._async.base import AsyncCalls, AsyncCloseable, AsyncOpening
from quoin._async.calls import AsyncAdminCalls, AsyncClusterCalls
from quoin._async.elections import AsyncElection
from quoin._async.keys import AsyncKeyValueClient
from quoin._async.locks import (
    AsyncHold,
    AsyncLockClient,
    AsyncReadWriteHold,
    AsyncReadWriteLockClient,
    AsyncSemaphoreClient,
)
from quoin._async.logs import AsyncLogClient
from quoin._async.memory import AsyncMemoryClient
from quoin._async.sessions import AsyncSession, AsyncSessionClient
from quoin._async.transactions import (
    ATTEMPTS_DEFAULT,
    AsyncOptimisticTransaction,
    AsyncTransaction,
    transact,
    write_batch,
)
from quoin._async.watches import AsyncWatchClient
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
from quoin._io.asyncio_io import AsyncIo
from quoin._io.channels import CONTRACT, TlsOptions
from quoin.ops import Part

if TYPE_CHECKING:
    from typing_extensions import Unpack

T = TypeVar("T")


class _AsyncConnected(AsyncCloseable):
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
        self._io = AsyncIo(configured, options.get("tls"), options.get("channel"), self._context.closing)

    async def close(self) -> None:
        """Ends watches and all connections.

        Operations in flight fail with CANCELLED; the outcome of one that was sent is `unknown`. Holds and sessions are
        no longer renewed; each ends at its deadline.
        """
        await self._io.close()

    async def _left(self, kind: type[BaseException] | None) -> None:
        await self.close()


class AsyncClient(_AsyncConnected):
    """An asyncio client of a cluster. It connects on first use, and is safe to share."""

    def __init__(self, endpoints: Sequence[str], **options: Unpack[types.ClientOptions]) -> None:
        """Creates a client. It sends nothing yet. Raises BadFieldError for arguments that cannot be used.

        `endpoints` are members as `host:port`, at least one. Any member takes every call; the client begins with a
        random one, and learns of the others by itself. The options are those of `ClientOptions`: credentials, `tls`,
        `timeout_ms` and `channel`.
        """
        super().__init__(endpoints, True, options)
        context = replace(self._context, on_answer=Discovery(self._context).on_answer)
        parts = self._io, context
        self._all = AsyncCalls(*parts)
        self.kv = AsyncKeyValueClient(*parts)
        self.locks = AsyncLockClient(*parts)
        self.rw_locks = AsyncReadWriteLockClient(*parts)
        self.semaphores = AsyncSemaphoreClient(*parts)
        self.sessions = AsyncSessionClient(*parts)
        self.memory = AsyncMemoryClient(*parts)
        self.logs = AsyncLogClient(*parts)
        self.watch = AsyncWatchClient(*parts)
        self.keys = AsyncApiKeyClient(*parts)
        self.users = AsyncUserClient(*parts)
        self.usage = AsyncUsageClient(*parts)
        self.cluster = AsyncClusterCalls(*parts)

    def lock(self, namespace: str, name: str, **options: Unpack[types.AcquireOptions]) -> AsyncOpening[AsyncHold]:
        """An exclusive lock for a `with` block, which gets the hold. See `locks.hold`."""
        return AsyncOpening(lambda: self.locks.hold(namespace, name, **options))

    def read_lock(
        self, namespace: str, name: str, **options: Unpack[types.AcquireOptions]
    ) -> AsyncOpening[AsyncReadWriteHold]:
        """A read-write lock in mode READ for a `with` block. See `rw_locks.hold`."""
        return AsyncOpening(lambda: self.rw_locks.hold(namespace, name, "READ", **options))

    def write_lock(
        self, namespace: str, name: str, **options: Unpack[types.AcquireOptions]
    ) -> AsyncOpening[AsyncReadWriteHold]:
        """A read-write lock in mode WRITE for a `with` block. See `rw_locks.hold`."""
        return AsyncOpening(lambda: self.rw_locks.hold(namespace, name, "WRITE", **options))

    def semaphore(
        self, namespace: str, name: str, *, permits: int = 1, **options: Unpack[types.AcquireOptions]
    ) -> AsyncOpening[AsyncHold]:
        """Permits of a semaphore for a `with` block. See `semaphores.hold`."""
        return AsyncOpening(lambda: self.semaphores.hold(namespace, name, permits=permits, **options))

    def session(self, namespace: str, **options: Unpack[types.SessionOptions]) -> AsyncOpening[AsyncSession]:
        """A session for a `with` block. See `sessions.keep`."""
        return AsyncOpening(lambda: self.sessions.keep(namespace, **options))

    def election(self, namespace: str, name: str) -> AsyncElection:
        """The election of this name: the exclusive lock with that name. Sends no request by itself."""
        return AsyncElection(self._io, self._context, self.locks, namespace, name)

    def transaction(self, namespace: str) -> AsyncTransaction:
        """A transaction on a namespace: `client.transaction(namespace).if_(…).then(…).else_(…).commit()`."""
        return AsyncTransaction(self._all, namespace)

    async def transact(
        self,
        namespace: str,
        work: Callable[[AsyncOptimisticTransaction], Awaitable[T]],
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
        return await transact(self.kv, namespace, work, max_attempts, guard, options)

    async def batch(
        self,
        namespace: str,
        writes: Iterable[Part] | AsyncIterable[Part],
        *,
        on_part: Callable[[BatchPart], object] | None = None,
        guard: types.Guarding | None = None,
        **options: Unpack[types.PartOptions],
    ) -> list[BatchPart]:
        """Writes many keys in their order, in parts of at most 10,000 writes and about 3.5 MiB.

        Only each part is atomic: if one fails, those before it remain. `on_part` gets each part that is done.
        """
        return await write_batch(self.kv, namespace, writes, on_part, guard, options)

    @staticmethod
    async def exchange_api_key(
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
        async with _anonymous(endpoints, tls) as connected:
            options = {"timeout_ms": timeout_ms}
            steps = exchange(connected._context, "AccountService/ExchangeToken", fields, options, persistence)
            return decode.access_token(await connected._io.run(steps))

    @staticmethod
    async def log_in(
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
        async with _anonymous(endpoints, tls) as connected:
            options = {"timeout_ms": timeout_ms}
            steps = exchange(connected._context, "AccountService/Login", fields, options, persistence)
            return decode.login(await connected._io.run(steps))

    @staticmethod
    async def verify_email(
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
        async with _anonymous(endpoints, tls) as connected:
            once = Persistence(attempts_max=1)
            steps = execute(connected._context, "AccountService/VerifyEmail", fields, {"timeout_ms": timeout_ms}, once)
            await connected._io.run(steps)

    @staticmethod
    async def request_password_reset(
        endpoints: Sequence[str], email: str, *, tls: TlsOptions | None = None, timeout_ms: float = LOGIN_TIMEOUT_MS
    ) -> None:
        """Has a token mailed to the address, if it belongs to an active user. Raises NotServedError without mail."""
        options = {"timeout_ms": timeout_ms}
        async with _anonymous(endpoints, tls) as connected:
            steps = execute(connected._context, "AccountService/RequestPasswordReset", {"email": email}, options)
            await connected._io.run(steps)


def _anonymous(endpoints: Sequence[str], tls: TlsOptions | None) -> _AsyncConnected:
    """Connections for the calls that need no token."""
    return _AsyncConnected(endpoints, True, {"token": "", "tls": tls})


class AsyncAdminClient(_AsyncConnected, AsyncAdminCalls):
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

    async def put_settings(
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
        return (await self._call(decode.put_settings_result, method, given, optional, call)).settings_revision

    async def snapshot(
        self, *, silence_ms: float = 60_000.0, **options: Unpack[types.StreamOptions]
    ) -> AsyncIterator[bytes]:
        """Streams the state of the answering member as a backup, only on admin ports. It is not retried.

        The bytes are not encrypted, and contain secrets. The snapshot is complete only after an end without an error.
        `timeout_ms`, by default 20,000, is how long the member may take to begin, and `silence_ms` for each next part.
        """
        reader = SnapshotReader(self._context, silence_ms, options)
        try:
            while not reader.is_complete:
                chunk = await self._io.run(reader.next())
                if chunk:
                    yield chunk
        finally:
            reader.end()
