"""The effects that the core asks for, and signals, by which the parts of a client wait for each other.

The core consists of generators (`Steps`). Each yields effects, gets what came of them, and returns its result. So it
needs no threads, no event loop and no network, and tests run it on a clock of their own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from google.protobuf.message import Message

T = TypeVar("T")
Steps = Generator[Any, Any, T]


class Signal:
    """Is set once, by any thread. Callbacks run in the thread that sets it, or at once if it is set already."""

    __slots__ = ("_callbacks", "_is_set", "_lock")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_set = False
        self._callbacks: dict[int, Callable[[], object]] = {}

    def is_set(self) -> bool:
        return self._is_set

    def set(self) -> None:
        with self._lock:
            if self._is_set:
                return
            self._is_set = True
            callbacks = list(self._callbacks.values())
            self._callbacks.clear()
        for callback in callbacks:
            callback()

    def add(self, callback: Callable[[], object]) -> Callable[[], None]:
        """Adds a callback, and returns a function that removes it."""
        key = id(callback)
        with self._lock:
            if not self._is_set:
                self._callbacks[key] = callback
                return lambda: self._remove(key)
        callback()
        return lambda: None

    def _remove(self, key: int) -> None:
        with self._lock:
            self._callbacks.pop(key, None)


class Stream(Protocol):
    """A stream of messages of one member, as a driver has opened it."""

    endpoint: str

    def cancel(self) -> None:
        """Ends it. Somebody who reads gets an error."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request of a method of the contract, such as `KeyValueService/GetKey`."""

    method: str
    message: Message
    metadata: tuple[tuple[str, str], ...] = ()

    @property
    def path(self) -> str:
        return f"/coordination.v1.{self.method}"


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a request."""

    message: Any
    # Whether the member has repeated an earlier answer, and has executed nothing now.
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Send:
    """Sends a request to a member. Comes to a Reply or a QuoinError."""

    endpoint: str
    request: Request
    timeout_ms: float
    # Cancels it, besides the end of the client.
    cancel: Signal | None = None


@dataclass(frozen=True, slots=True)
class Open:
    """Requests a stream of a member. Comes to a Stream, perhaps before there is a connection."""

    endpoint: str
    request: Request


@dataclass(frozen=True, slots=True)
class Receive:
    """Reads the next message of a stream. Comes to the message, None if none came in time, or a QuoinError."""

    stream: Stream
    timeout_ms: float | None


@dataclass(frozen=True, slots=True)
class Wait:
    """Waits until one of the signals is set or the time has passed. None = without a limit."""

    signals: tuple[Signal, ...]
    timeout_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Spawn:
    """Runs steps beside the caller, until they end or the client is closed. Their errors are dropped."""

    steps: Steps[object]


class Gate:
    """Lets one pass at a time, in the order in which they came."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_taken = False
        self._queue: list[Signal] = []

    def enter(self) -> Steps[None]:
        with self._lock:
            if not self._is_taken:
                self._is_taken = True
                return
            turn = Signal()
            self._queue.append(turn)
        try:
            yield Wait((turn,))
        except BaseException:
            with self._lock:
                waits = turn in self._queue
                if waits:
                    self._queue.remove(turn)
            if not waits:
                self.leave()
            raise

    def leave(self) -> None:
        with self._lock:
            turn = self._queue.pop(0) if self._queue else None
            self._is_taken = turn is not None
        if turn is not None:
            turn.set()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """A clock that only moves forward, in milliseconds, and random numbers from 0 to below 1."""

    now_ms: Callable[[], float]
    random: Callable[[], float]


def pause(duration_ms: float, *ends: Signal) -> Steps[None]:
    """Waits for a while, or until one of the signals is set."""
    yield Wait(ends, duration_ms)
