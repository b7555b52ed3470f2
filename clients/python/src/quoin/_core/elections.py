"""The leaders of an election, as they follow each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from quoin._core.context import Context
from quoin._core.effects import Signal, Steps
from quoin._core.errors import QuoinError
from quoin._core.operation import checked_options, execute
from quoin._core.streams import Source, WatchReader, steady
from quoin._core.wire import checked_text
from quoin._generated import decode, models

# The longest wait of one request for a lock: with its deadline, less than the allowed hour.
LONGEST_WAIT_MS = 3_000_000


@dataclass(frozen=True, slots=True)
class Leader:
    """A leader of an election."""

    # Its information about itself, such as its address.
    value: str
    # Token of its hold; a later leader has a greater one.
    fencing_token: int


def read_leader(
    context: Context, target: Mapping[str, str], options: Mapping[str, Any]
) -> Steps[tuple[Leader | None, int]]:
    """The leader, and the revision at which that is true. 0 = there is no lock; later events all count."""
    try:
        message = (yield from execute(context, "LockService/DescribeLock", target, options)).message
    except QuoinError as error:
        if error.reason != "LOCK_NOT_FOUND":
            raise
        return None, 0
    return _leader_of(message.holder) if message.HasField("holder") else None, message.revision


class LeaderReader:
    """First the current leader, then every change. None = no leader."""

    def __init__(self, context: Context, namespace: str, name: str, options: Mapping[str, Any]) -> None:
        checked_options(options, ("timeout_ms", "traceparent"))
        self.ending = Signal()
        self._context = context
        self._target = {"namespace": checked_text(namespace, "namespace"), "name": checked_text(name, "name")}
        self._options = options
        self._watch: WatchReader[models.LockEvent] | None = None
        self._revision = 0
        self._leader: Leader | None = None
        self._told: list[Leader | None] = []

    def end(self) -> None:
        self.ending.set()
        if self._watch is not None:
            self._watch.stream.end()

    def next(self) -> Steps[Leader | None]:
        while True:
            try:
                leader = yield from self._changed()
            except QuoinError as error:
                # The history since then is no longer kept, so read the state again.
                if error.reason != "COMPACTED":
                    raise
                self._watch = None
                continue
            if self._told != [leader]:
                self._told = [leader]
                return leader

    def _changed(self) -> Steps[Leader | None]:
        """The leader now, and after each batch of a watch that begins before now."""
        if self._watch is None:
            fields = {"namespace": self._target["namespace"], "name_prefix": self._target["name"]}
            source = Source(
                title="watch",
                method="WatchService/WatchLocks",
                namespace=self._target["namespace"],
                start=0,
                fields=steady(fields, "start_revision"),
                behind=lambda message: int(message.revision) + 1,
                silence_ms=3_000,
            )
            watch = WatchReader(self._context, source, _events, False, self._options)
            self._watch = watch
            if self.ending.is_set():
                watch.stream.end()
            yield from watch.stream.establish()
            self._leader, self._revision = yield from read_leader(self._context, self._target, self._options)
            return self._leader
        batch = yield from self._watch.next()
        for event in batch.events:
            is_mine = event.lock_key == self._target["name"] and not event.rw and event.permits == 0
            if is_mine and event.revision > self._revision:
                if event.action == "ACQUIRED":
                    self._leader = _leader_of(event)
                elif self._leader is not None and self._leader.fencing_token == event.fencing_token:
                    self._leader = None
        return self._leader


def _events(message: Any) -> list[models.LockEvent]:
    return [decode.lock_event(one) for one in message.events]


def _leader_of(hold: Any) -> Leader:
    return Leader(hold.value.decode("utf-8", "replace"), hold.fencing_token)
