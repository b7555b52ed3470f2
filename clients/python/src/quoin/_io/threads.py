"""Runs the steps of the core in the thread of the caller, and background work in one thread of the client."""

from __future__ import annotations

import heapq
import itertools
import logging
import os
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import grpc

from quoin._core.effects import Open, Receive, Reply, Send, Signal, Spawn, Steps, Wait
from quoin._core.errors import QuoinError, quoin_error
from quoin._io.channels import Channel, ChannelOptions, Channels, TlsOptions, closed_channel, failure

T = TypeVar("T")
log = logging.getLogger("quoin")


class ThreadIo:
    """The I/O of one client."""

    def __init__(
        self, endpoints: list[str], tls: TlsOptions | None, options: ChannelOptions | None, closing: Signal
    ) -> None:
        self._pid = os.getpid()
        self._closing = closing
        self._channels = Channels(_open_channel, _close_channel, endpoints, tls, options)
        self._background = Background(self)

    def run(self, steps: Steps[T]) -> T:
        """Runs steps to their end, and blocks meanwhile."""
        result: Any = None
        thrown: BaseException | None = None
        while True:
            try:
                effect = steps.send(result) if thrown is None else steps.throw(thrown)
            except StopIteration as stop:
                value: T = stop.value
                return value
            result = thrown = None
            try:
                self.assert_process()
                result = self._perform(effect)
            except BaseException as error:  # noqa: BLE001 - thrown into the steps
                thrown = error

    def close(self) -> None:
        """Ends everything that is under way."""
        if self._pid != os.getpid():
            return
        self._closing.set()
        for channel in self._channels.close():
            _close_channel(channel)
        self._background.close()

    def assert_process(self) -> None:
        if self._pid != os.getpid():
            raise foreign_process(self._pid)

    def _perform(self, effect: object) -> object:
        if isinstance(effect, Send):
            return self._send(effect)
        if isinstance(effect, Receive):
            return self._receive(effect)
        if isinstance(effect, Open):
            return self._open(effect)
        if isinstance(effect, Spawn):
            self._background.spawn(effect.steps)
        else:
            assert isinstance(effect, Wait)
            _wait(effect)
        return None

    def _send(self, effect: Send) -> Reply:
        if effect.cancel is not None:
            return self._send_cancellable(effect)
        channel = self._channels.take(effect.endpoint)
        since = time.monotonic()
        silent_since: float | None = None
        try:
            method = channel.method(effect.request, "unary_unary")
            timeout, metadata = effect.timeout_ms / 1e3, effect.request.metadata
            message, call = method.with_call(effect.request.message, timeout=timeout, metadata=metadata)
        except grpc.RpcError as error:
            if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
                silent_since = since
            raise self._failure(error, channel) from None
        except ValueError:
            raise closed_channel(channel, self._closing.is_set()) from None
        finally:
            self._channels.give_back(channel, silent_since)
        return reply(channel, message, call.initial_metadata())

    def _send_cancellable(self, effect: Send) -> Reply:
        found: queue.SimpleQueue[Reply | QuoinError] = queue.SimpleQueue()
        self.begin(effect, found.put)
        outcome = found.get()
        if isinstance(outcome, QuoinError):
            raise outcome
        return outcome

    def begin(self, effect: Send, done: Callable[[Reply | QuoinError], None]) -> None:
        """Sends a request without waiting. Another thread gets what comes of it."""
        try:
            channel = self._channels.take(effect.endpoint)
        except QuoinError as error:
            done(error)
            return
        since = time.monotonic()
        try:
            method = channel.method(effect.request, "unary_unary")
            timeout, metadata = effect.timeout_ms / 1e3, effect.request.metadata
            future = method.future(effect.request.message, timeout=timeout, metadata=metadata)
        except ValueError:
            self._channels.give_back(channel)
            done(closed_channel(channel, self._closing.is_set()))
            return
        remove = effect.cancel.add(future.cancel) if effect.cancel is not None else None

        def ended(call: Any) -> None:
            if remove is not None:
                remove()
            code = call.code()
            is_ok = code is grpc.StatusCode.OK
            found = reply(channel, call.result(), call.initial_metadata()) if is_ok else self._failure(call, channel)
            self._channels.give_back(channel, since if code is grpc.StatusCode.DEADLINE_EXCEEDED else None)
            done(found)

        future.add_done_callback(ended)

    def _open(self, effect: Open) -> ThreadStream:
        channel = self._channels.take(effect.endpoint)
        try:
            call = channel.method(effect.request, "unary_stream")(
                effect.request.message, metadata=effect.request.metadata
            )
        except ValueError:
            self._channels.give_back(channel)
            raise closed_channel(channel, self._closing.is_set()) from None
        return ThreadStream(call, channel, self._channels)

    def _receive(self, effect: Receive) -> object:
        stream = effect.stream
        assert isinstance(stream, ThreadStream)
        since = time.monotonic()
        timer: Callable[[], None] | None = None
        if effect.timeout_ms is not None:
            timer = self._background.after(effect.timeout_ms, stream.fall_silent)
        try:
            message = next(stream.call)
        except StopIteration:
            raise quoin_error("the stream has ended", code="UNAVAILABLE") from None
        except grpc.RpcError as error:
            if stream.is_silent:
                stream.silent_since = since
                return None
            raise self._failure(error, stream.channel, stream.is_cancelled) from None
        finally:
            if timer is not None:
                timer()
        stream.channel.heard()
        return message

    def _failure(self, call: Any, channel: Channel, is_cancelled: bool = True) -> QuoinError:
        return failure(
            call.code(), call.details(), call.trailing_metadata(), channel, self._closing.is_set(), is_cancelled
        )


class ThreadStream:
    """A stream of one member."""

    def __init__(self, call: Any, channel: Channel, channels: Channels) -> None:
        self.call = call
        self.channel = channel
        self.endpoint = channel.endpoint
        self.is_silent = self.is_cancelled = False
        self.silent_since: float | None = None
        self._channels = channels
        self._is_given_back = False

    def fall_silent(self) -> None:
        self.is_silent = True
        self.call.cancel()

    def cancel(self) -> None:
        self.is_cancelled = True
        self.call.cancel()
        if not self._is_given_back:
            self._is_given_back = True
            self._channels.give_back(self.channel, self.silent_since)


@dataclass(order=True, slots=True)
class Timer:
    """A callback at a time of the clock."""

    at: float
    number: int
    # None = it has been called, or is cancelled.
    callback: Callable[[], None] | None = field(compare=False)


class Background:
    """One thread that runs steps beside the callers, and timers. It begins with the first of them."""

    def __init__(self, io: ThreadIo) -> None:
        self._io = io
        self._condition = threading.Condition()
        self._timers: list[Timer] = []
        # How many of them are cancelled.
        self._cancelled = 0
        self._numbers = itertools.count()
        self._jobs: set[Job] = set()
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def spawn(self, steps: Steps[object]) -> None:
        job = Job(self._io, self, steps)
        with self._condition:
            if self._is_closed:
                return
            self._jobs.add(job)
        self.after(0, job.advance)

    def after(self, delay_ms: float, callback: Callable[[], None]) -> Callable[[], None]:
        """Calls back in the thread, unless the returned function is called before."""
        timer = Timer(time.monotonic() + delay_ms / 1e3, next(self._numbers), callback)

        def cancel() -> None:
            with self._condition:
                if timer.callback is None:
                    return
                timer.callback = None
                self._cancelled += 1
                # Their times may be a day away.
                if self._cancelled > len(self._timers) / 2:
                    self._timers = [one for one in self._timers if one.callback is not None]
                    heapq.heapify(self._timers)
                    self._cancelled = 0

        with self._condition:
            if not self._is_closed:
                heapq.heappush(self._timers, timer)
                if self._thread is None:
                    self._thread = threading.Thread(target=self._run, name="quoin-background", daemon=True)
                    self._thread.start()
                self._condition.notify()
        return cancel

    def ended(self, job: Job) -> None:
        with self._condition:
            self._jobs.discard(job)

    def close(self) -> None:
        with self._condition:
            self._is_closed = True
            thread = self._thread
            self._condition.notify()
        if thread is not None and thread is not threading.current_thread():
            thread.join()
        for job in list(self._jobs):
            job.steps.close()
        self._jobs.clear()

    def _run(self) -> None:
        while True:
            with self._condition:
                while not self._is_closed and (not self._timers or self._timers[0].at > time.monotonic()):
                    self._condition.wait(self._timers[0].at - time.monotonic() if self._timers else None)
                if self._is_closed:
                    return
                timer = heapq.heappop(self._timers)
                callback, timer.callback = timer.callback, None
                self._cancelled -= callback is None
            if callback is not None:
                callback()
            # It must not live until the next one.
            del timer, callback


class Job:
    """Steps that run in the background thread. They never block it."""

    def __init__(self, io: ThreadIo, background: Background, steps: Steps[object]) -> None:
        self._io = io
        self._background = background
        self.steps = steps

    def advance(self, found: object = None) -> None:
        """Continues with what came of the last effect. Runs in the background thread."""
        try:
            while True:
                effect = self.steps.throw(found) if isinstance(found, QuoinError) else self.steps.send(found)
                found = None
                if isinstance(effect, Spawn):
                    self._background.spawn(effect.steps)
                elif isinstance(effect, Send):
                    self._io.begin(effect, self._resume)
                    return
                else:
                    assert isinstance(effect, Wait)
                    self._wait(effect)
                    return
        except StopIteration:
            pass
        except QuoinError as error:
            log.debug("background work has failed: %s", error)
        except Exception:
            log.exception("background work has failed")
        self._background.ended(self)

    def _resume(self, found: object) -> None:
        self._background.after(0, lambda: self.advance(found))

    def _wait(self, effect: Wait) -> None:
        first = threading.Lock()
        cancels: list[Callable[[], None]] = []

        def wake() -> None:
            if first.acquire(blocking=False):
                for cancel in cancels:
                    cancel()
                self._resume(None)

        if effect.timeout_ms is not None:
            cancels.append(self._background.after(effect.timeout_ms, wake))
        for signal in effect.signals:
            cancels.append(signal.add(wake))


def caller() -> object:
    """Who runs this: the thread."""
    return threading.get_ident()


def _wait(effect: Wait) -> None:
    event = threading.Event()
    removals = [signal.add(event.set) for signal in effect.signals]
    try:
        event.wait(None if effect.timeout_ms is None else effect.timeout_ms / 1e3)
    finally:
        for remove in removals:
            remove()


def reply(channel: Channel, message: Any, headers: Any) -> Reply:
    """The answer of a member."""
    channel.heard()
    return Reply(message, any(name == "replayed" for name, _ in headers or ()))


def foreign_process(pid: int) -> QuoinError:
    """The error of a client that was made by another process."""
    text = (
        f"this client belongs to process {pid}, and a fork of it cannot use its connections: make a client in the child"
    )
    return quoin_error(text, code="FAILED_PRECONDITION")


def _open_channel(endpoint: str, options: list[tuple[str, Any]], credentials: Any) -> Any:
    if credentials is None:
        return grpc.insecure_channel(endpoint, options=options)
    return grpc.secure_channel(endpoint, credentials, options=options)


def _close_channel(channel: Any) -> None:
    channel.close()
