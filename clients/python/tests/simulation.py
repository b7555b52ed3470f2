"""Runs the steps of the core on a clock of its own: no test of the core waits, and each is repeatable."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from quoin._core.context import Context
from quoin._core.effects import Open, Receive, Reply, Send, Signal, Spawn, Steps, Surroundings, Wait
from quoin._core.endpoints import Endpoints
from quoin._core.errors import QuoinError, not_sent
from quoin._core.tokens import GivenToken
from quoin._io.channels import CONTRACT

T = TypeVar("T")
Outcome = Any
# What a member does with a request: after how many milliseconds, and the message or the error.
Member = Callable[[Send], tuple[float, Outcome]]


def message(name: str, /, **fields: Any) -> Any:
    """A message of the contract, with no checks."""
    return CONTRACT.class_of(name)(**fields)


@dataclass
class Job:
    steps: Steps[Any]
    is_done: bool = False
    result: Any = None
    error: BaseException | None = None


@dataclass
class FakeStream:
    """A stream whose next messages a test provides: after how many milliseconds, and the message or the error."""

    endpoint: str
    script: Callable[[], tuple[float, Outcome]]
    is_cancelled: bool = False
    ended: Signal = field(default_factory=Signal)

    def cancel(self) -> None:
        self.is_cancelled = True
        self.ended.set()


class Simulation:
    """A clock, members, and jobs that run side by side."""

    def __init__(self, member: Member | None = None, random: float = 0.0) -> None:
        self.now_ms = 0.0
        self.random = random
        self.member: Member = member or (lambda send: (0, not_sent("UNAVAILABLE", "no member")))
        self.open: Callable[[Open], FakeStream] | None = None
        self.sent: list[tuple[float, Send]] = []
        self.pauses: list[float] = []
        self.jobs: list[Job] = []
        self._queue: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()

    def context(self, endpoints: list[str] | None = None, **fields: Any) -> Context:
        surroundings = Surroundings(lambda: self.now_ms, lambda: self.random)
        known = endpoints or ["a:1", "b:2", "c:3"]
        return replace(Context(CONTRACT, Endpoints(known, 0), GivenToken("t"), surroundings), **fields)

    def run(self, steps: Steps[T], limit_ms: float = 1e9) -> T:
        """Runs steps, and everything beside them, until they have ended."""
        job = self.spawn(steps)
        self.until(lambda: job.is_done, limit_ms)
        if job.error is not None:
            raise job.error
        result: T = job.result
        return result

    def spawn(self, steps: Steps[Any]) -> Job:
        job = Job(steps)
        self.jobs.append(job)
        self._soon(lambda: self._advance(job, None))
        return job

    def advance(self, duration_ms: float) -> None:
        """Lets time pass."""
        end_ms = self.now_ms + duration_ms
        self.until(lambda: not self._queue or self._queue[0][0] > end_ms, 1e12)
        self.now_ms = end_ms

    def until(self, is_true: Callable[[], bool], limit_ms: float = 1e9) -> None:
        end_ms = self.now_ms + limit_ms
        while not is_true():
            assert self._queue, "nothing is left to happen"
            at_ms, _, callback = heapq.heappop(self._queue)
            assert at_ms <= end_ms, f"it has not happened until {end_ms} ms"
            self.now_ms = max(self.now_ms, at_ms)
            callback()

    def at(self, delay_ms: float, callback: Callable[[], Any]) -> None:
        heapq.heappush(self._queue, (self.now_ms + delay_ms, next(self._numbers), callback))

    def _soon(self, callback: Callable[[], None]) -> None:
        self.at(0, callback)

    def _advance(self, job: Job, found: Any) -> None:
        try:
            while True:
                effect = job.steps.throw(found) if isinstance(found, QuoinError) else job.steps.send(found)
                if isinstance(effect, Spawn):
                    self.spawn(effect.steps)
                    found = None
                    continue
                if isinstance(effect, Open):
                    assert self.open is not None
                    found = self.open(effect)
                    continue
                self._begin(effect, self._once(job))
                return
        except StopIteration as stop:
            job.is_done, job.result = True, stop.value
        except BaseException as error:
            job.is_done, job.error = True, error
            if not isinstance(error, QuoinError):
                raise

    def _once(self, job: Job) -> Callable[[Any], None]:
        is_done = False

        def resume(found: Any) -> None:
            nonlocal is_done
            if not is_done:
                is_done = True
                self._soon(lambda: self._advance(job, found))

        return resume

    def _begin(self, effect: Any, resume: Callable[[Any], None]) -> None:
        if isinstance(effect, Wait):
            for signal in effect.signals:
                signal.add(lambda: resume(None))
            if effect.timeout_ms is not None:
                self.pauses.append(effect.timeout_ms)
                self.at(effect.timeout_ms, lambda: resume(None))
        elif isinstance(effect, Send):
            self.sent.append((self.now_ms, effect))
            delay_ms, outcome = self.member(effect)
            if effect.cancel is not None:
                effect.cancel.add(lambda: resume(not_sent("CANCELLED", "cancelled")))
            if delay_ms > effect.timeout_ms:
                late = error_of("DEADLINE_EXCEEDED", "DEADLINE", "unknown")
                self.at(effect.timeout_ms, lambda: resume(late))
            else:
                self.at(delay_ms, lambda: resume(outcome if isinstance(outcome, QuoinError) else Reply(outcome)))
        else:
            assert isinstance(effect, Receive)
            stream = effect.stream
            assert isinstance(stream, FakeStream)
            delay_ms, outcome = stream.script()
            stream.ended.add(lambda: resume(not_sent("CANCELLED", "cancelled")))
            if effect.timeout_ms is not None and delay_ms > effect.timeout_ms:
                self.at(effect.timeout_ms, lambda: resume(None))
            elif delay_ms < float("inf"):
                self.at(delay_ms, lambda: resume(outcome))


def error_of(code: str, reason: str = "", outcome: str = "not-executed", **fields: Any) -> QuoinError:
    """An error as a member answers it."""
    from quoin._core.errors import quoin_error

    return quoin_error(f"{code} {reason}", code=code, reason=reason, outcome=outcome, **fields)
