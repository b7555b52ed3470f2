"""Runs the steps of the core in the event loop of the caller."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from typing import Any, TypeVar

import grpc
import grpc.aio

from quoin._core.effects import Open, Receive, Reply, Send, Signal, Spawn, Steps, Wait
from quoin._core.errors import QuoinError, quoin_error
from quoin._io.channels import Channel, ChannelOptions, Channels, TlsOptions, closed_channel, failure
from quoin._io.threads import foreign_process, reply

T = TypeVar("T")
_END: Any = getattr(grpc.aio, "EOF")  # noqa: B009 - the stubs do not have it
log = logging.getLogger("quoin")


class AsyncIo:
    """The I/O of one client. It belongs to the event loop of its first call."""

    def __init__(
        self, endpoints: list[str], tls: TlsOptions | None, options: ChannelOptions | None, closing: Signal
    ) -> None:
        self._pid = os.getpid()
        self._closing = closing
        self._channels = Channels(_open_channel, self._dispose, endpoints, tls, options)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        # Calls without an answer, and streams. gRPC keeps a connection as long as somebody refers to a call on it, if
        # only the traceback of an error. So nothing may do so after their end.
        self._calls: set[Any] = set()

    async def run(self, steps: Steps[T]) -> T:
        """Runs steps to their end. If the task is cancelled, what they have sent is cancelled, too."""
        self._assert_loop()
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
                result = await self._perform(effect)
            except BaseException as error:  # noqa: BLE001 - thrown into the steps
                thrown = error

    async def close(self) -> None:
        """Ends everything that is under way."""
        if self._pid != os.getpid():
            return
        self._closing.set()
        channels = self._channels.close()
        for call in list(self._calls):
            call.cancel()
        tasks = [task for task in self._tasks if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*(channel.close() for channel in channels), *tasks, return_exceptions=True)

    def _assert_loop(self) -> None:
        if self._pid != os.getpid():
            raise foreign_process(self._pid)
        loop = asyncio.get_running_loop()
        if self._loop is None:
            self._loop = loop
        elif self._loop is not loop:
            raise quoin_error(
                "this client belongs to another event loop: make one in each loop", code="FAILED_PRECONDITION"
            )

    async def _perform(self, effect: object) -> object:
        if isinstance(effect, Send):
            return await self._send(effect)
        if isinstance(effect, Receive):
            return await self._receive(effect)
        if isinstance(effect, Open):
            return self._open(effect)
        if isinstance(effect, Spawn):
            self._begin(self._background(effect.steps))
        else:
            assert isinstance(effect, Wait)
            await self._wait(effect)
        return None

    async def _send(self, effect: Send) -> Reply:
        channel = self._channels.take(effect.endpoint)
        since = time.monotonic()
        silent_since: float | None = None
        call: Any = None
        remove: Any = None
        try:
            method = channel.method(effect.request, "unary_unary")
            timeout, metadata = effect.timeout_ms / 1e3, effect.request.metadata
            call = method(effect.request.message, timeout=timeout, metadata=metadata)
            self._calls.add(call)
            if effect.cancel is not None:
                remove = effect.cancel.add(lambda: self._soon(call.cancel))
            # Unlike the call itself, its code tells a cancelled call from a cancelled task.
            code = await call.code()
            if code is grpc.StatusCode.OK:
                return reply(channel, await call, await call.initial_metadata())
            if code is grpc.StatusCode.DEADLINE_EXCEEDED:
                silent_since = since
            raise await self._failure(call, code, channel)
        except grpc.aio.UsageError:
            raise closed_channel(channel, self._closing.is_set()) from None
        finally:
            if remove is not None:
                remove()
            if call is not None:
                self._calls.discard(call)
                call.cancel()
            call = remove = None
            self._channels.give_back(channel, silent_since)

    def _open(self, effect: Open) -> AsyncStream:
        channel = self._channels.take(effect.endpoint)
        try:
            call = channel.method(effect.request, "unary_stream")(
                effect.request.message, metadata=effect.request.metadata
            )
        except grpc.aio.UsageError:
            self._channels.give_back(channel)
            raise closed_channel(channel, self._closing.is_set()) from None
        stream = AsyncStream(call, channel, self._channels, self._calls)
        self._calls.add(stream)
        return stream

    async def _receive(self, effect: Receive) -> object:
        stream = effect.stream
        assert isinstance(stream, AsyncStream)
        since = time.monotonic()
        call = stream.call
        if call is None:
            raise closed_channel(stream.channel, self._closing.is_set())
        reader = asyncio.ensure_future(call.read())
        try:
            done, _ = await asyncio.wait([reader], timeout=_seconds(effect.timeout_ms))
            if not done:
                stream.silent_since = since
                call.cancel()
                await asyncio.wait([reader])
                return None
            failed = reader.cancelled() or isinstance(reader.exception(), grpc.RpcError)
            if not failed and reader.result() is not _END:
                stream.channel.heard()
                return reader.result()
            code = await call.code()
            if code is grpc.StatusCode.OK:
                raise quoin_error("the stream has ended", code="UNAVAILABLE")
            raise await self._failure(call, code, stream.channel, stream.call is None)
        finally:
            if not reader.done():
                call.cancel()
            call = reader = None

    async def _wait(self, effect: Wait) -> None:
        woken = asyncio.get_running_loop().create_future()

        def wake() -> None:
            self._soon(lambda: None if woken.done() else woken.set_result(None))

        removals = [signal.add(wake) for signal in effect.signals]
        try:
            await asyncio.wait([woken], timeout=_seconds(effect.timeout_ms))
        finally:
            for remove in removals:
                remove()

    async def _failure(self, call: Any, code: Any, channel: Channel, is_cancelled: bool = True) -> QuoinError:
        details, trailers = await call.details(), await call.trailing_metadata()
        return failure(code, details, trailers, channel, self._closing.is_set(), is_cancelled)

    async def _background(self, steps: Steps[object]) -> None:
        try:
            await self.run(steps)
        except QuoinError as error:
            log.debug("background work has failed: %s", error)
        except Exception:
            log.exception("background work has failed")

    def _begin(self, work: Any) -> None:
        if self._channels.is_closed and self._closing.is_set():
            work.close()
            return
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _dispose(self, channel: Any) -> None:
        self._tasks.add(task := asyncio.ensure_future(channel.close()))
        task.add_done_callback(self._tasks.discard)

    def _soon(self, callback: Any) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(callback)


class AsyncStream:
    """A stream of one member."""

    def __init__(self, call: Any, channel: Channel, channels: Channels, open_: set[Any]) -> None:
        # None = it is cancelled.
        self.call = call
        self.channel = channel
        self.endpoint = channel.endpoint
        self.silent_since: float | None = None
        self._channels = channels
        self._open = open_

    def cancel(self) -> None:
        call, self.call = self.call, None
        if call is not None:
            call.cancel()
            self._open.discard(self)
            self._channels.give_back(self.channel, self.silent_since)


def caller() -> object:
    """Who runs this: the task."""
    return asyncio.current_task()


def _seconds(duration_ms: float | None) -> float | None:
    return None if duration_ms is None else duration_ms / 1e3


def _open_channel(endpoint: str, options: list[tuple[str, Any]], credentials: Any) -> Any:
    if credentials is None:
        return grpc.aio.insecure_channel(endpoint, options=options)
    return grpc.aio.secure_channel(endpoint, credentials, options=options)
