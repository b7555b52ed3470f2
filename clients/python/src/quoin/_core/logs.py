"""Event logs: finding them by name, what requests and answers mean, and following one."""

from __future__ import annotations

import re
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from google.protobuf.message import Message

from quoin._core.context import Context
from quoin._core.effects import Steps
from quoin._core.errors import QuoinError, bad_field, quoin_error
from quoin._core.operation import execute
from quoin._core.streams import ContinuedStream, Source
from quoin._core.wire import checked_count, checked_mapping, checked_text, checked_timeout
from quoin._generated import decode, models

T = TypeVar("T")
REQUEST_BYTES_MAX = 4 * 1024 * 1024
BATCH_EVENTS_MAX = 10_000
NAMES_MAX = 1_000
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_SETTINGS = {
    "duplicate_window_seconds": "queue.duplicate_window_secs",
    "retention_max_age_seconds": "retention.max_age_secs",
    "retention_max_bytes": "retention.max_bytes",
}


@dataclass(frozen=True, slots=True)
class AppendResult:
    """An appended event."""

    sequence: int
    # Whether it was already stored, perhaps by an earlier attempt.
    replayed: bool


@dataclass(frozen=True, slots=True)
class AppendBatchResult:
    """Appended events."""

    # In the order of the payloads. None if the answer belongs to a repeated attempt, and was too large to be kept.
    sequences: tuple[int, ...] | None
    # The greatest sequence.
    last_sequence: int
    # Whether all were already stored, perhaps by an earlier attempt.
    replayed: bool


class LogNames:
    """The ids of logs by name. If the log of a known id is gone, its name is looked up again."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._lock = threading.Lock()
        self._ids: dict[str, str] = {}

    def with_id(
        self, log: str, options: Mapping[str, Any], work: Callable[[str, Mapping[str, Any]], Steps[T]]
    ) -> Steps[T]:
        """Runs work with the id of a log, which is given by its id, as NAMESPACE/NAME, or as NAME if it is clear."""
        if _ID.fullmatch(checked_text(log, "log")):
            return (yield from work(log, options))
        timeout_ms = checked_timeout(options.get("timeout_ms", self._context.timeout_ms), "timeout_ms")
        until_ms = self._context.now_ms() + timeout_ms
        known = self._ids.get(log)
        if known is not None:
            try:
                return (yield from work(known, options))
            except QuoinError as error:
                if error.reason != "LOG_NOT_FOUND":
                    raise
        lookup = {name: value for name, value in options.items() if name != "request_id"}
        log_id = yield from self._look_up(log, lookup)
        with self._lock:
            self._ids[log] = log_id
            if len(self._ids) > NAMES_MAX:
                del self._ids[next(iter(self._ids))]
        return (yield from work(log_id, {**options, "timeout_ms": max(1.0, until_ms - self._context.now_ms())}))

    def named(self, name: str, namespace: str | None, options: Mapping[str, Any]) -> Steps[list[models.LogInfo]]:
        """The live logs of a name, in one namespace or all of them: at least two, if there are as many."""
        found: list[models.LogInfo] = []
        token: str | None = None
        while token != "" and len(found) < 2:
            fields = {"name": given_text(name, "name"), "namespace": namespace or "", "page_token": token or ""}
            message = (yield from execute(self._context, "EventLogService/ListLogs", fields, options)).message
            found += [log_info(one) for one in message.logs]
            token = message.next_page_token
        return found

    def _look_up(self, log: str, options: Mapping[str, Any]) -> Steps[str]:
        # A namespace has no slash, and a name may have more.
        namespace, slash, name = log.partition("/") if "/" in log else ("", "", log)
        found = yield from self.named(name, namespace if slash else None, options)
        if not found:
            text = f"there is no event log named {log!r} in your namespaces"
            raise quoin_error(text, code="NOT_FOUND", reason="LOG_NOT_FOUND")
        if len(found) > 1:
            choices = f"{found[0].namespace}/{log} or {found[1].namespace}/{log}"
            raise bad_field("log", f"is ambiguous: several namespaces have an event log named {log}; give {choices}")
        return found[0].log_id


class TailReader:
    """The events of a log, one by one."""

    def __init__(self, context: Context, names: LogNames, log: str, start: int, options: Mapping[str, Any]) -> None:
        checked_text(log, "log")
        lookup = {name: value for name, value in options.items() if name == "traceparent"}
        # One log from the beginning to the end, also if a new one gets its name.
        log_id: str | None = None

        def fields(position: int) -> Steps[Mapping[str, Any]]:
            nonlocal log_id
            log_id = log_id or (yield from names.with_id(log, lookup, _same))
            return {"log_id": log_id, "from_sequence": position}

        source = Source(
            title="tail",
            method="EventLogService/TailEvents",
            start=checked_count(start, "from_sequence"),
            fields=fields,
            behind=lambda message: int(message.events[-1].sequence) + 1 if message.events else 0,
        )
        self.stream = ContinuedStream(context, source, options)
        self._events: deque[models.LogEvent] = deque()

    def next(self) -> Steps[models.LogEvent]:
        while not self._events:
            message = yield from self.stream.next()
            self._events.extend(decode.log_event(one) for one in message.events)
        return self._events.popleft()


def _same(log_id: str, options: Mapping[str, Any]) -> Steps[str]:
    yield from ()
    return log_id


def given_text(value: object, path: str) -> str:
    """A text that is empty on the wire if it is not given. So a given one must not be empty."""
    if not checked_text(value, path):
        raise bad_field(path, "must not be empty")
    return str(value)


def log_info(message: Any) -> models.LogInfo:
    """A log, with the names of settings that arguments have."""
    info = decode.log_info(message)
    return replace(
        info, settings={name: info.settings[wire] for name, wire in _SETTINGS.items() if wire in info.settings}
    )


def settings_fields(settings: Mapping[str, int | None]) -> dict[str, object]:
    """The fields of a request for settings: those with values, and the names of those to remove."""
    for name in checked_mapping(settings, "settings"):
        if name not in _SETTINGS:
            raise bad_field(f"settings.{name}", f"is unknown: there are {', '.join(_SETTINGS)}")
    values = {
        _SETTINGS[name]: checked_count(value, f"settings.{name}")
        for name, value in settings.items()
        if value is not None
    }
    return {
        "settings": values,
        "unset_settings": [_SETTINGS[name] for name, value in settings.items() if value is None],
    }


def sequences_of(message: Any, count: int) -> tuple[int, ...] | None:
    """The sequences of an appended batch. None = they are not known any more."""
    if message.runs_omitted:
        return None
    found = tuple(run.first_sequence + at for run in message.runs for at in range(run.count))
    if len(found) != count:
        raise quoin_error(f"the answer has the sequences of {len(found)} events, not of {count}", code="INTERNAL")
    return found


def checked_payloads(payloads: Sequence[bytes | str]) -> Sequence[bytes | str]:
    """1 to 10,000 payloads."""
    if (
        not isinstance(payloads, Sequence)
        or isinstance(payloads, (str, bytes))
        or not 1 <= len(payloads) <= BATCH_EVENTS_MAX
    ):
        raise bad_field("payloads", "must be a list of 1 to 10,000 events")
    return payloads


def assert_fits(message: Message) -> None:
    """Raises TOO_LARGE for a batch that the service would not take."""
    size = message.ByteSize()
    if size > REQUEST_BYTES_MAX:
        raise quoin_error(
            f"payloads make a request of {size} bytes; at most {REQUEST_BYTES_MAX} are allowed",
            code="INVALID_ARGUMENT",
            reason="TOO_LARGE",
            details={"field": "payloads", "limit": str(REQUEST_BYTES_MAX)},
        )
