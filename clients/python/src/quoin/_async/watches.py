"""Watches of keys and locks, and what else comes item by item."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from quoin import _types as types
from quoin._async.base import AsyncCloseable
from quoin._async.calls import AsyncWatchCalls
from quoin._core.effects import Signal, Steps
from quoin._core.errors import QuoinError, quoin_error
from quoin._core.streams import PROGRESS_INTERVAL_MS, SILENT_INTERVALS, Source, WatchBatch, WatchReader, steady
from quoin._core.wire import checked_count, checked_text
from quoin._generated import decode, models
from quoin._io.asyncio_io import AsyncIo

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

E = TypeVar("E")


class AsyncItems(AsyncCloseable, Generic[E]):
    """Items as they come, to be read by one reader at a time, until it is closed or its `with` block ends."""

    def __init__(self, io: AsyncIo, read: Callable[[], Steps[E]], end: Callable[[], None], ending: Signal) -> None:
        self._io = io
        self._read = read
        self._end = end
        self._ending = ending
        self._reader = threading.Lock()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> E:
        if not self._reader.acquire(blocking=False):
            raise quoin_error("it has a reader: one reads at a time", code="FAILED_PRECONDITION")
        try:
            return await self._io.run(self._read())
        except QuoinError:
            if self._ending.is_set():
                raise StopAsyncIteration from None
            raise
        finally:
            self._reader.release()

    async def close(self) -> None:
        """Ends it, also while somebody waits for an item: that one gets the end."""
        self._end()

    async def _left(self, kind: type[BaseException] | None) -> None:
        await self.close()


class AsyncWatch(AsyncItems[WatchBatch[E]]):
    """An established watch: batches of changes, each change once and in order.

    If its stream breaks, it continues behind the last revision at another member. Reading it raises CompactedError if
    it cannot continue without leaving changes out.
    """

    def __init__(self, io: AsyncIo, reader: WatchReader[E]) -> None:
        super().__init__(io, reader.next, reader.stream.end, reader.stream.ending)
        self._stream = reader.stream

    @property
    def revision(self) -> int:
        """Everything up to this revision has been delivered, with or without changes."""
        return self._stream.position - 1


class AsyncWatchClient(AsyncWatchCalls):
    """Watches keys and locks."""

    async def keys(
        self,
        namespace: str,
        *,
        prefix: str = "",
        key: str | None = None,
        start_revision: int = 0,
        include_previous: bool = False,
        keys_only: bool = False,
        progress: bool = False,
        progress_interval_ms: int = PROGRESS_INTERVAL_MS,
        **options: Unpack[types.StreamOptions],
    ) -> AsyncWatch[models.KeyEvent]:
        """Watches the keys with a prefix, or one key. The watch is established when it is returned.

        It begins with the first change at or after `start_revision`; 0 = with changes from now on. `include_previous`
        adds the state of each key before the change. `keys_only` leaves values out. With `progress`, batches without
        changes come, too: they only report the revision. A watch that is silent for three `progress_interval_ms`
        continues at another member. Raises CompactedError if the history from `start_revision` on is no longer kept.
        """
        fields = {
            "namespace": namespace,
            "prefix": prefix,
            "include_previous": include_previous,
            "keys_only": keys_only,
        }

        def events(message: Any) -> list[models.KeyEvent]:
            found = [decode.key_event(one) for one in message.events]
            # A member of an earlier release does not know the field, and sends all keys.
            return [event for event in found if key is None or event.kv.key == key]

        fields |= {} if key is None else {"key": key}
        source = _source("WatchService/WatchKeys", fields, start_revision, progress_interval_ms)
        return await self._established(WatchReader(self._context, source, events, progress, options))

    async def locks(
        self,
        namespace: str,
        *,
        name_prefix: str = "",
        start_revision: int = 0,
        progress: bool = False,
        progress_interval_ms: int = PROGRESS_INTERVAL_MS,
        **options: Unpack[types.StreamOptions],
    ) -> AsyncWatch[models.LockEvent]:
        """Watches the beginnings and ends of holds of locks of all kinds, in the same way as `keys`."""

        def events(message: Any) -> list[models.LockEvent]:
            return [decode.lock_event(one) for one in message.events]

        fields = {"namespace": namespace, "name_prefix": name_prefix}
        source = _source("WatchService/WatchLocks", fields, start_revision, progress_interval_ms)
        return await self._established(WatchReader(self._context, source, events, progress, options))

    async def _established(self, reader: WatchReader[E]) -> AsyncWatch[E]:
        await self._io.run(reader.stream.establish())
        return AsyncWatch(self._io, reader)


def _source(method: str, fields: dict[str, Any], start: int, interval_ms: int) -> Source:
    interval_ms = checked_count(interval_ms, "progress_interval_ms")
    return Source(
        title="watch",
        method=method,
        namespace=checked_text(fields["namespace"], "namespace"),
        start=checked_count(start, "start_revision"),
        fields=steady({**fields, "progress_interval_ms": interval_ms}, "start_revision"),
        behind=lambda message: int(message.revision) + 1,
        silence_ms=SILENT_INTERVALS * (interval_ms or PROGRESS_INTERVAL_MS),
    )
