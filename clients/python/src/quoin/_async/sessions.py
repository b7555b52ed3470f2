"""Sessions, and handles that renew one."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING

from quoin import _types as types
from quoin._async.base import AsyncCalls, AsyncCloseable, AsyncLost
from quoin._async.calls import AsyncSessionCalls
from quoin._core.errors import QuoinError
from quoin._core.operation import PART_OPTIONS, checked_options
from quoin._core.sessions import Renewer, SessionLife
from quoin._core.wire import checked_list
from quoin._generated import decode, models

if TYPE_CHECKING:
    from typing_extensions import Unpack

TTL_SECONDS_DEFAULT = 30


class AsyncSession(AsyncCloseable):
    """A session that is renewed until it is ended or lost. Leaving its `with` block ends it."""

    def __init__(self, calls: AsyncCalls, life: SessionLife) -> None:
        self._calls = calls
        self._life = life
        self._end_id = str(uuid.uuid4())
        self.namespace = life.namespace
        # For `session_id` of puts and of conditions of transactions.
        self.id = life.id
        # Tells that the session has ended, or could not be renewed until its deadline. `end` does not set it.
        self.lost = AsyncLost(calls._io, life)

    @property
    def remaining_ms(self) -> float:
        """The remaining time without renewal, in milliseconds. 0 = it has ended, or may have."""
        return self._life.remaining_ms

    @property
    def is_live(self) -> bool:
        """Whether the session certainly lives now."""
        return self.remaining_ms > 0

    @property
    def error(self) -> QuoinError | None:
        """Why the session is lost. None = it is not."""
        return self._life.error if self.lost.is_set() else None

    @property
    def guard(self) -> types.SessionGuard:
        """Makes a write take effect only while this session lives."""
        return types.SessionGuard(self.id, self.namespace)

    async def end(self, **call: Unpack[types.PartOptions]) -> bool:
        """Ends the session, and everything that belongs to it. Further calls do nothing.

        Returns whether it was live until then. Raises QuoinError if no member answers: the session is no longer
        renewed, and end may be called again.
        """
        checked_options(call, PART_OPTIONS)
        life = self._life
        if life.has_ended is None and life.is_lost():
            return False
        if life.has_ended is None:
            life.stop()
            fields = {"namespace": self.namespace, "session_id": self.id}
            try:
                await self._calls._execute(
                    "SessionService/EndSession", fields, {}, {**call, "request_id": self._end_id}
                )
                life.has_ended = True
            except QuoinError as error:
                if error.reason != "SESSION_NOT_FOUND":
                    raise
                life.report(error)
                life.has_ended = False
        return life.has_ended

    async def _left(self, kind: type[BaseException] | None) -> None:
        # What was done in the session is done. If no member answers, it ends at its deadline.
        with contextlib.suppress(QuoinError):
            await self.end()


class AsyncSessionClient(AsyncSessionCalls):
    """Sessions: single calls, and handles that are renewed."""

    _renewers: dict[str, Renewer] | None = None

    async def renew(
        self, namespace: str, session_ids: Sequence[int], **call: Unpack[types.CallOptions]
    ) -> tuple[models.RenewedSession, ...]:
        """Renews 1 to 500 sessions: each lives for its whole time to live from now.

        A session that has ended, or belongs to another user, is no error: its `expires_in_ms` is 0.
        """
        sessions = [{"session_id": one} for one in checked_list(session_ids, "session_ids")]
        fields = {"namespace": namespace, "sessions": sessions}
        result = await self._call(decode.renew_sessions_result, "SessionService/RenewSessions", fields, {}, call)
        return result.sessions

    async def keep(self, namespace: str, **options: Unpack[types.SessionOptions]) -> AsyncSession:
        """Creates a session, and renews it until it is ended or lost.

        All sessions of a client in one namespace are renewed by common calls.
        """
        optional = {name: options.get(name) for name in ("ttl_seconds", "owner", "metadata")}
        optional["ttl_seconds"] = options.get("ttl_seconds", TTL_SECONDS_DEFAULT)
        call = {name: value for name, value in options.items() if name not in optional}
        execution = await self._execute("SessionService/CreateSession", {"namespace": namespace}, optional, call)
        deadline_ms = execution.attempt_start_ms + execution.message.expires_in_ms
        life = SessionLife(self._context, namespace, execution.message.session_id, deadline_ms)
        self._renewers = self._renewers or {}
        renewer = self._renewers.setdefault(namespace, Renewer(self._context, namespace))
        await self._io.run(renewer.add(life))
        return AsyncSession(self, life)
