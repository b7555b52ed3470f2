"""Leader election: an exclusive lock decides who leads, and the value of its hold shows the leader to everyone else.

Two leaders never hold the lock at the same time, but a paused leader may still believe that it leads. It must use its
guard for everything that it must not do then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from quoin import _types as types
from quoin._async.base import AsyncCloseable
from quoin._async.locks import AsyncHold, AsyncLockClient
from quoin._async.watches import AsyncItems
from quoin._core.context import Context
from quoin._core.elections import LONGEST_WAIT_MS, Leader, LeaderReader, read_leader
from quoin._core.errors import QuoinError
from quoin._core.wire import checked_text
from quoin._io.asyncio_io import AsyncIo

if TYPE_CHECKING:
    from typing_extensions import Unpack


class AsyncLeadership(AsyncCloseable):
    """A candidate that leads, until it resigns or loses the lock. Leaving its `with` block resigns."""

    def __init__(self, locks: AsyncLockClient, hold: AsyncHold) -> None:
        self._locks = locks
        # The hold of the lock.
        self.hold = hold
        # Tells that the leadership is lost. Resigning does not set it.
        self.lost = hold.lost

    @property
    def token(self) -> int:
        """Token of the leadership: greater than those of all earlier leaders."""
        return self.hold.token

    @property
    def guard(self) -> types.Guard:
        """Makes a write take effect only while this candidate leads."""
        return self.hold.guard

    async def proclaim(self, value: str, **call: Unpack[types.CallOptions]) -> None:
        """Replaces the information about this leader, at most 1,024 bytes in UTF-8."""
        checked_text(value, "value")
        hold = self.hold
        await self._locks.set_value(hold.namespace, hold.name, hold.token, value, owner=hold.owner, **call)

    async def resign(self, **call: Unpack[types.PartOptions]) -> bool:
        """Ends the leadership, and lets the next candidate lead at once. Returns whether it lasted until then."""
        return await self.hold.release(**call)

    async def _left(self, kind: type[BaseException] | None) -> None:
        await self.hold._left(kind)


class AsyncElection:
    """An election by its name: the exclusive lock with that name in a namespace."""

    def __init__(self, io: AsyncIo, context: Context, locks: AsyncLockClient, namespace: str, name: str) -> None:
        self._io = io
        self._context = context
        self._locks = locks
        self.namespace = checked_text(namespace, "namespace")
        self.name = checked_text(name, "name")

    async def campaign(
        self,
        value: str,
        *,
        ttl_seconds: int | None = None,
        wait_ms: int | None = None,
        **call: Unpack[types.PartOptions],
    ) -> AsyncLeadership:
        """Waits until this candidate leads. Creates the lock if it is missing.

        `value` is for others to read, at most 1,024 bytes in UTF-8. `ttl_seconds` is how long a dead leader remains the
        leader, 1 to 86,400; by default that of the lock, which is 30. `wait_ms` is how long to wait; by default without
        a limit. Raises NotAcquiredError if others led for all of it.
        """
        options: types.AcquireOptions = {**call}  # type: ignore[typeddict-item]
        if ttl_seconds is not None:
            options["ttl_seconds"] = ttl_seconds
        options["wait_ms"] = LONGEST_WAIT_MS if wait_ms is None else wait_ms
        checked_text(value, "value")
        while True:
            try:
                return AsyncLeadership(
                    self._locks, await self._locks.hold(self.namespace, self.name, value=value, **options)
                )
            except QuoinError as error:
                if error.reason == "LOCK_NOT_FOUND":
                    await self._create_lock(call)
                elif wait_ms is not None or error.reason not in ("NOT_ACQUIRED", "LOCK_LOST"):
                    raise

    async def leader(self, **call: Unpack[types.CallOptions]) -> Leader | None:
        """The current leader. None = there is none."""
        target = {"namespace": self.namespace, "name": self.name}
        return (await self._io.run(read_leader(self._context, target, call)))[0]

    def observe(self, **options: Unpack[types.StreamOptions]) -> AsyncItems[Leader | None]:
        """The leaders: first the current one, then every change, until it is closed. None = no leader.

        Changes that come together are one. It continues at another member by itself, as watches do.
        """
        reader = LeaderReader(self._context, self.namespace, self.name, options)
        return AsyncItems(self._io, reader.next, reader.end, reader.ending)

    async def _create_lock(self, call: types.PartOptions) -> None:
        try:
            await self._locks.create(self.namespace, self.name, **call)
        except QuoinError as error:
            if error.reason != "LOCK_EXISTS":
                raise
