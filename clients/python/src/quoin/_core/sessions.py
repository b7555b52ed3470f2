"""Renews all sessions of a client in one namespace, many in one call.

A session is due after a third of its remaining life, a little earlier by chance. A call renews those that are due, and
those that are due soon. Without an answer it is repeated until the first deadline among its sessions.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence

from quoin._core.context import Context
from quoin._core.effects import Signal, Spawn, Steps, Wait
from quoin._core.errors import QuoinError, quoin_error
from quoin._core.life import ATTEMPT_SHARE, ATTEMPT_TIMEOUT_MIN_MS, RENEW_AT, RENEWAL_PAUSE_MIN_MS, TICK_MS, Life
from quoin._core.operation import Persistence, execute

SESSIONS_PER_CALL = 500
JITTER_SHARE = 0.1
# Part of the time until it is due after which a session goes with a call for others.
SOON_AT = 1 / 2
# Pause between two calls of more sessions than one may have: a member takes so many of a user in it.
CALL_PAUSE_MS = 100.0


class SessionLife(Life):
    """A session that is renewed."""

    def __init__(self, context: Context, namespace: str, session_id: int, deadline_ms: float) -> None:
        super().__init__(context.now_ms, deadline_ms, self._lost)
        self.namespace = namespace
        self.id = session_id
        self.due_ms = self.soon_ms = 0.0
        self.has_ended: bool | None = None

    def _lost(self, why: str) -> QuoinError:
        return quoin_error(
            f"session {self.id} of namespace {self.namespace} has ended: {why}",
            code="FAILED_PRECONDITION",
            reason="SESSION_LOST",
            details={"session_id": str(self.id)},
        )


class Renewer:
    """Renews the sessions of one namespace."""

    def __init__(self, context: Context, namespace: str) -> None:
        self._context = context
        self._namespace = namespace
        self._lock = threading.Lock()
        # Sessions that are not being renewed now.
        self._waiting: set[SessionLife] = set()
        self._changed = Signal()
        self._runs = False

    def add(self, life: SessionLife) -> Steps[None]:
        """Renews a live session until it ends or is lost."""
        yield Spawn(life.watch_deadline())
        self._schedule(life)
        with self._lock:
            begins, self._runs = not self._runs, True
            changed, self._changed = self._changed, Signal()
        changed.set()
        if begins:
            yield Spawn(self._run())

    def _schedule(self, life: SessionLife) -> None:
        jitter = 1 - JITTER_SHARE * self._context.surroundings.random()
        pause_ms = max(RENEWAL_PAUSE_MIN_MS, life.remaining_ms * RENEW_AT * jitter)
        now_ms = self._context.now_ms()
        with self._lock:
            life.due_ms, life.soon_ms = now_ms + pause_ms, now_ms + pause_ms * SOON_AT
            self._waiting.add(life)

    def _run(self) -> Steps[None]:
        next_call_ms = -math.inf
        while True:
            with self._lock:
                self._waiting = {life for life in self._waiting if not life.ended.is_set()}
                due_ms = min((life.due_ms for life in self._waiting), default=math.inf)
                changed = self._changed
            delay_ms = max(due_ms, next_call_ms) - self._context.now_ms()
            if delay_ms > 0:
                yield Wait((changed,), None if delay_ms == math.inf else max(TICK_MS, delay_ms))
                continue
            now_ms = self._context.now_ms()
            with self._lock:
                due = sorted((life for life in self._waiting if life.soon_ms <= now_ms), key=lambda life: life.due_ms)
                together = due[:SESSIONS_PER_CALL]
                self._waiting.difference_update(together)
            if len(due) > SESSIONS_PER_CALL:
                next_call_ms = now_ms + CALL_PAUSE_MS
            yield Spawn(self._renew_together(together))

    def _renew_together(self, together: Sequence[SessionLife]) -> Steps[None]:
        try:
            yield from self._call(together)
        except QuoinError as error:
            for life in together:
                life.last_failure = error
            # A retry cannot help a caller without rights. The session lasts until its deadline.
            if error.code == "PERMISSION_DENIED":
                return
        for life in together:
            if not life.ended.is_set():
                self._schedule(life)
        with self._lock:
            changed, self._changed = self._changed, Signal()
        changed.set()

    def _call(self, together: Sequence[SessionLife]) -> Steps[None]:
        timeout_ms = max(1.0, min(life.remaining_ms for life in together))
        attempt_ms = max(ATTEMPT_TIMEOUT_MIN_MS, timeout_ms * ATTEMPT_SHARE)
        persistence = Persistence(attempts_max=math.inf, attempt_timeout_ms=attempt_ms)
        fields = {"namespace": self._namespace, "sessions": [{"session_id": life.id} for life in together]}
        options = {"timeout_ms": timeout_ms}
        answer = yield from execute(self._context, "SessionService/RenewSessions", fields, options, persistence)
        remaining = {session.session_id: session.expires_in_ms for session in answer.message.sessions}
        for life in together:
            expires_in_ms = remaining.get(life.id, 0)
            if expires_in_ms == 0:
                life.lose(why="the service has no such session of this user")
            else:
                life.renewed(answer.attempt_start_ms + expires_in_ms)
