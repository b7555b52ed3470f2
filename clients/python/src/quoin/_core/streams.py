"""A stream of messages that continues at another member: one stream after the other, each behind the last message.

If a stream ends because there is no member or no leader, or is silent for too long, the next one begins, as often as
necessary. It ends if the service refuses to continue. It is read one message at a time; unread ones wait at the member.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from quoin._core.context import Context
from quoin._core.effects import Open, Receive, Request, Signal, Steps, Stream, Wait
from quoin._core.errors import QuoinError, is_unreached, not_sent, quoin_error
from quoin._core.operation import ATTEMPTS_MAX, backoff_ms, checked_options, metadata_of, unreached_pause_ms
from quoin._core.tracing import Span, Trace, checked_traceparent
from quoin._core.wire import checked_timeout

E = TypeVar("E")

# Only a member that does not answer at all takes longer to begin a stream.
OPEN_TIMEOUT_MS = 4_000.0
SILENT_INTERVALS = 3
PROGRESS_INTERVAL_MS = 1_000


@dataclass(frozen=True)
class Source:
    """What to request."""

    # What it is, for errors.
    title: str
    method: str
    # The first position: a revision or a sequence.
    start: int
    # The fields of the request that begins at a position.
    fields: Callable[[int], Steps[Mapping[str, Any]]]
    # The position behind a message.
    behind: Callable[[Any], int]
    # How long a stream may be silent. None = as long as its connection lives.
    silence_ms: float | None = None
    namespace: str = ""


class ContinuedStream:
    """One stream after the other. It is read by one reader at a time, and ended by anybody."""

    def __init__(self, context: Context, source: Source, options: Mapping[str, Any]) -> None:
        checked_options(options, ("timeout_ms", "traceparent"))
        self._timeout_ms = checked_timeout(options.get("timeout_ms", context.timeout_ms), "timeout_ms")
        self._traceparent = checked_traceparent(options.get("traceparent"))
        self._context = context
        self._source = source
        self._request_name = context.contract.types_of(source.method)[0]
        self.position = source.start
        self.ending = Signal()
        self._ends = (self.ending, context.closing)
        self._stream: Stream | None = None
        self._trace: Trace | None = None
        self._attempt: Span | None = None
        self._endpoint: str | None = None
        self._token: str | None = None
        # Failures since a stream last sent more than its first message, and those that reached no member.
        self._failures = 0
        self._unreached = 0
        self._is_token_refreshed = False
        # Until when the message that is waited for must come.
        self._until_ms = math.inf

    def establish(self) -> Steps[Any]:
        """Establishes the first stream, with as many attempts as an operation has. Returns its first message."""
        return (yield from self._message(ATTEMPTS_MAX, self._context.now_ms() + self._timeout_ms))

    def next(self) -> Steps[Any]:
        """The next message."""
        return (yield from self._message(math.inf, math.inf))

    def end(self) -> None:
        """Ends it from this side. A reader gets CANCELLED."""
        self.ending.set()
        self._leave_stream(None)
        if self._trace is not None:
            self._trace.end(None)

    def _message(self, attempts_max: float, until_ms: float) -> Steps[Any]:
        self._until_ms = until_ms
        if self._trace is None:
            self._trace = Trace(self._source.method, self._source, self._traceparent)
        try:
            while True:
                try:
                    if self._stream is None:
                        return (yield from self._open(until_ms))
                    message = yield from self._read(self._stream, self._source.silence_ms)
                except QuoinError as error:
                    yield from self._prepare_next(error, attempts_max, until_ms)
                else:
                    self._failures = self._unreached = 0
                    return message
        except BaseException as thrown:
            # A reader that is interrupted leaves no stream of which a message may be lost.
            self._leave_stream(thrown)
            if isinstance(thrown, QuoinError):
                self._trace.end(thrown)
            raise

    def _open(self, until_ms: float) -> Steps[Any]:
        """Requests a stream, and reads the message that confirms it."""
        self._assert_open()
        self._endpoint = self._token = None
        fields = yield from self._source.fields(self.position)
        self._token = yield from self._context.tokens.token(self._wait)
        self._assert_open()
        self._endpoint = self._context.endpoints.current()
        self._attempt = self._trace.attempt(self._endpoint) if self._trace else Span(None, {})
        message = self._context.contract.build(self._request_name, fields)
        metadata = metadata_of(self._token, str(uuid.uuid4()), self._attempt.headers)
        left_ms = until_ms - self._context.now_ms()
        if left_ms <= 0:
            raise not_sent("DEADLINE_EXCEEDED", f"no time was left to open the {self._source.title}")
        stream: Stream = yield Open(self._endpoint, Request(self._source.method, message, metadata))
        self._stream = stream
        # `end` may have come before there was a stream to cancel.
        self._assert_open()
        return (yield from self._read(stream, min(left_ms, OPEN_TIMEOUT_MS)))

    def _read(self, stream: Stream, silence_ms: float | None) -> Steps[Any]:
        message = yield Receive(stream, silence_ms)
        if message is None:
            text = f"{stream.endpoint} has sent nothing for {silence_ms or 0:.0f} ms"
            raise quoin_error(text, code="UNAVAILABLE")
        self._is_token_refreshed = False
        self.position = max(self.position, self._source.behind(message))
        return message

    def _prepare_next(self, error: QuoinError, attempts_max: float, until_ms: float) -> Steps[None]:
        """Prepares another stream, or raises the error if there must be none."""
        self._leave_stream(error)
        self._assert_open()
        self._failures += 1
        is_uncounted = is_unreached(error)
        self._unreached += is_uncounted
        if self._failures - self._unreached >= attempts_max:
            raise error
        if error.code == "UNAUTHENTICATED" and self._token and not self._is_token_refreshed:
            self._is_token_refreshed = True
            try:
                token = yield from self._context.tokens.refresh(self._token, self._wait)
            except QuoinError as failure:
                self._endpoint = None
                yield from self._prepare_next(failure, attempts_max, until_ms)
                return
            if token is None:
                raise error
            return
        is_passing = error.code in ("UNAVAILABLE", "CANCELLED") or error.reason in ("TOO_MANY_STREAMS", "RATE_LIMITED")
        if not is_passing:
            raise error
        if self._endpoint is not None:
            self._context.endpoints.leave(self._endpoint, error.leader_endpoint)
        pause = unreached_pause_ms if is_uncounted else backoff_ms
        pause_ms = pause(self._failures, self._context.surroundings.random())
        if self._context.now_ms() + pause_ms >= until_ms:
            raise error
        yield Wait(self._ends, pause_ms)
        self._assert_open()

    def _wait(self, signal: Signal) -> Steps[None]:
        left_ms = max(0.0, self._until_ms - self._context.now_ms())
        yield Wait((signal, *self._ends), None if left_ms == math.inf else left_ms)
        if not signal.is_set():
            self._assert_open()
            raise not_sent("DEADLINE_EXCEEDED", "the deadline passed while waiting for a token")

    def _assert_open(self) -> None:
        if self._context.closing.is_set():
            raise not_sent("CANCELLED", "the client is closed")
        if self.ending.is_set():
            raise not_sent("CANCELLED", f"the {self._source.title} has ended")

    def _leave_stream(self, error: BaseException | None) -> None:
        stream, self._stream = self._stream, None
        attempt, self._attempt = self._attempt, None
        if stream is not None:
            stream.cancel()
        if attempt is not None:
            attempt.end(error)


@dataclass(frozen=True, slots=True)
class WatchBatch(Generic[E]):
    """Changes that come together: all changes of one or more revisions; a revision is never divided."""

    # In order; empty = only progress.
    events: tuple[E, ...]
    # A watch that starts at this revision + 1 misses and repeats nothing.
    revision: int


class WatchReader(Generic[E]):
    """Joins the messages of a watch to batches."""

    def __init__(
        self,
        context: Context,
        source: Source,
        events: Callable[[Any], list[E]],
        progress: bool,
        options: Mapping[str, Any],
    ) -> None:
        self.stream = ContinuedStream(context, source, options)
        self._events = events
        self._progress = progress
        # Changes of a revision that is not complete. Another stream begins it again.
        self._begun: list[E] = []

    def next(self) -> Steps[WatchBatch[E]]:
        while True:
            message = yield from self.stream.next()
            events = ([] if message.created else self._begun) + self._events(message)
            self._begun = events if message.partial else []
            if not message.partial and (events or self._progress):
                return WatchBatch(tuple(events), self.stream.position - 1)


def steady(fields: Mapping[str, Any], position_name: str) -> Callable[[int], Steps[Mapping[str, Any]]]:
    """The fields of a request that differ only in the position."""

    def at(position: int) -> Steps[Mapping[str, Any]]:
        yield from ()
        return {**fields, position_name: position}

    return at
