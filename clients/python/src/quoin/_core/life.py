"""The life of a hold or a session as its client knows it: until when it lives for certain, and whether it is lost.

The deadline is measured from before the request, so it errs early: the client sees the loss before another one gets the
lock. A paused process sees it late; it must guard everything that must not happen then.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable

from quoin._core.context import Context
from quoin._core.effects import Gate, Signal, Steps, Wait
from quoin._core.errors import QuoinError, quoin_error
from quoin._core.operation import Persistence

# Part of its life after which it is renewed: two thirds are left for retries.
RENEW_AT = 1 / 3
# Part of the remaining life that one member has to answer: others must have their turn, too.
ATTEMPT_SHARE = 1 / 4
# Less would abandon members that are only a little slow.
ATTEMPT_TIMEOUT_MIN_MS = 250.0
RENEWAL_PAUSE_MIN_MS = 100.0
# The shortest wait: a timer that comes a little early must not be set again and again.
TICK_MS = 1.0
# Reasons that show for certain that a hold has ended.
LOSS_REASONS = frozenset(["LOCK_LOST", "NOT_LOCK_HOLDER", "LOCK_NOT_FOUND", "NAMESPACE_NOT_FOUND"])


class Life:
    """Deadline and loss."""

    def __init__(self, now_ms: Callable[[], float], deadline_ms: float, loss: Callable[[str], QuoinError]) -> None:
        self._now_ms = now_ms
        self._loss = loss
        self._lock = threading.Lock()
        self.deadline_ms = deadline_ms
        # Set at the loss, and when its client ends it.
        self.ended = Signal()
        # Why it is lost. None = it is not.
        self.error: QuoinError | None = None
        self.last_failure: QuoinError | None = None

    @property
    def remaining_ms(self) -> float:
        """The remaining time without renewal. 0 = it has ended."""
        return 0.0 if self.ended.is_set() else max(0.0, self.deadline_ms - self._now_ms())

    def is_lost(self) -> bool:
        """Whether it is lost. Looks at the clock."""
        if not self.ended.is_set() and self.remaining_ms == 0:
            self.lose()
        return self.error is not None

    def renewed(self, deadline_ms: float) -> None:
        self.last_failure = None
        self.deadline_ms = deadline_ms

    def lose(self, cause: QuoinError | None = None, why: str | None = None) -> None:
        """It is lost, unless it has ended before."""
        with self._lock:
            if self.ended.is_set():
                return
            self.report(cause or self.last_failure, why)
        self.ended.set()

    def report(self, cause: QuoinError | None, why: str | None = None) -> None:
        self.error = self._loss(why or (cause.message if cause else "it was not renewed in time"))
        self.error.__cause__ = cause

    def stop(self) -> None:
        """Its client ends it."""
        with self._lock:
            self.ended.set()

    def watch_deadline(self) -> Steps[None]:
        """Steps to run beside: lose it at the deadline."""
        while not self.ended.is_set():
            remaining_ms = self.remaining_ms
            if remaining_ms == 0:
                self.lose()
            else:
                yield Wait((self.ended,), max(TICK_MS, remaining_ms))

    def wait_lost(self, timeout_ms: float | None) -> Steps[bool]:
        """Waits for the end. Returns whether it is lost."""
        until_ms = math.inf if timeout_ms is None else self._now_ms() + timeout_ms
        while not self.is_lost() and not self.ended.is_set() and self._now_ms() < until_ms:
            yield Wait((self.ended,), max(TICK_MS, min(until_ms - self._now_ms(), self.remaining_ms)))
        return self.is_lost()

    def persistence(self) -> tuple[float, Persistence]:
        """Time limit and persistence of a renewal: until the deadline, at several members."""
        timeout_ms = max(1.0, self.remaining_ms)
        attempt_ms = max(ATTEMPT_TIMEOUT_MIN_MS, timeout_ms * ATTEMPT_SHARE)
        return timeout_ms, Persistence(attempts_max=math.inf, attempt_timeout_ms=attempt_ms)


class HoldLife(Life):
    """A hold that is renewed, and may be changed. Renewals and changes come one after the other."""

    def __init__(
        self,
        context: Context,
        name: str,
        token: int,
        deadline_ms: float,
        renew: Callable[[HoldLife, float, Persistence], Steps[tuple[int, float]]],
    ) -> None:
        super().__init__(context.now_ms, deadline_ms, self._lost)
        self._name = name
        self._renew = renew
        self.token = token
        self.gate = Gate()
        self.released: bool | None = None

    def renewals(self) -> Steps[None]:
        """Steps to run beside: renew it until it ends."""
        while not self.ended.is_set():
            yield Wait((self.ended,), max(RENEWAL_PAUSE_MIN_MS, self.remaining_ms * RENEW_AT))
            if self.is_lost() or self.ended.is_set():
                return
            try:
                yield from self.change(self._renew)
            except QuoinError as error:
                # A retry cannot help a caller without rights. The hold lasts until its deadline.
                if error.code == "PERMISSION_DENIED":
                    return

    def change(self, work: Callable[[HoldLife, float, Persistence], Steps[tuple[int, float]]]) -> Steps[None]:
        """Changes the hold when nothing else does. The work returns its token and its deadline."""
        yield from self.gate.enter()
        try:
            if self.is_lost() or self.ended.is_set():
                raise self.error.replaced() if self.error else self._lost("it was released")
            self.token, deadline_ms = yield from work(self, *self.persistence())
            self.renewed(deadline_ms)
        except QuoinError as error:
            self.last_failure = error
            if error.reason in LOSS_REASONS:
                self.lose(error)
            raise
        finally:
            self.gate.leave()

    def release(self, send: Callable[[int], Steps[object]]) -> Steps[bool]:
        """Releases the hold. Returns whether it was held until then. If it raises, it may be called again."""
        if self.is_lost():
            return False
        self.stop()
        # A change in progress may give the hold another token.
        yield from self.gate.enter()
        try:
            if self.released is None:
                yield from send(self.token)
                self.released = True
        except QuoinError as error:
            if error.reason not in LOSS_REASONS:
                raise
            self.report(error)
            self.released = False
        finally:
            self.gate.leave()
        return self.released or False

    def _lost(self, why: str) -> QuoinError:
        return quoin_error(
            f"the hold of lock {self._name} with token {self.token} has ended: {why}",
            code="FAILED_PRECONDITION",
            reason="LOCK_LOST",
            details={"lock": self._name, "fencing_token": str(self.token)},
        )
