# Made by scripts/generate.py from _async. Do not edit.
"""What all parts of a client are made of."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from quoin._core.context import Context
from quoin._core.effects import Spawn, Steps
from quoin._core.life import Life
from quoin._core.operation import PERSISTENT, Execution, Persistence, execute
from quoin._core.wire import checked_count, checked_timeout
from quoin._io.threads import ThreadIo, caller

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

T = TypeVar("T")
C = TypeVar("C", bound="Closeable")
# The label of the holds of this process, so that the description of a lock shows different holders.
PROCESS_OWNER = str(uuid.uuid4())
DEFAULT_WAIT_MS = 30_000


class Closeable:
    """Something whose `with` block closes it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._left(kind)

    def _left(self, kind: type[BaseException] | None) -> None:
        """The block has ended; with an error of this kind, or None."""
        raise NotImplementedError


class Opening(Generic[C]):
    """Something that a `with` block opens, and closes at its end."""

    def __init__(self, open: Callable[[], C]) -> None:
        self._open = open
        # What is open, and who has opened it: threads or tasks may share this, and blocks may be nested.
        self._opened: list[tuple[object, C]] = []

    def __enter__(self) -> C:
        opened = self._open()
        self._opened.append((caller(), opened))
        return opened

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        mine = [entry for entry in self._opened if entry[0] == caller()]
        entry = (mine or self._opened)[-1]
        self._opened.remove(entry)
        entry[1]._left(kind)


class Calls:
    """A group of calls of a client."""

    def __init__(self, io: ThreadIo, context: Context) -> None:
        self._io = io
        self._context = context

    def _call(
        self,
        decode: Callable[[Any], T],
        method: str,
        given: Mapping[str, object],
        optional: Mapping[str, object],
        options: Mapping[str, Any],
    ) -> T:
        execution = self._execute(method, given, optional, options)
        answer = decode(execution.message)
        if getattr(answer, "acquired", False):
            return replace(answer, deadline_ms=deadline_of(execution))  # type: ignore[type-var]
        return answer

    def _execute(
        self,
        method: str,
        given: Mapping[str, object],
        optional: Mapping[str, object],
        options: Mapping[str, Any],
        persistence: Persistence = Persistence(),  # noqa: B008
    ) -> Execution:
        name = self._context.contract.types_of(method)[0]
        message = self._context.contract.build(name, given, optional)
        wait_ms = optional.get("wait_ms")
        waited_ms = checked_count(wait_ms, "wait_ms") if wait_ms else 0
        if waited_ms > 0:
            # A waiting request is repeated until its time is up, whatever happens to members: it keeps its place.
            timeout_ms = checked_timeout(options.get("timeout_ms", self._context.timeout_ms), "timeout_ms")
            whole_ms = checked_timeout(waited_ms + timeout_ms, "wait_ms")
            options, persistence = {**options, "timeout_ms": whole_ms}, PERSISTENT
        return self._io.run(execute(self._context, method, message, options, persistence))

    def _spawn(self, *steps: Steps[None]) -> None:
        self._io.run(_spawning(steps))


class Lost:
    """Tells that a hold or a session is lost. It looks at the clock, and does not wait for a timer."""

    def __init__(self, io: ThreadIo, life: Life) -> None:
        self._io = io
        self._life = life

    def is_set(self) -> bool:
        """Whether it is lost."""
        return self._life.is_lost()

    def wait(self, timeout_ms: float | None = None) -> bool:
        """Waits until it is lost or ended, or the time has passed. Returns whether it is lost."""
        return self._io.run(self._life.wait_lost(timeout_ms))


def deadline_of(execution: Execution) -> float:
    """When a granted hold ends without renewal. It errs early."""
    return execution.attempt_start_ms + float(execution.message.waited_ms + execution.message.expires_in_ms)


def _spawning(many: tuple[Steps[None], ...]) -> Steps[None]:
    for steps in many:
        yield Spawn(steps)
