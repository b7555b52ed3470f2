# Made by scripts/generate.py from _async. Do not edit.
"""Event logs: appending, once for each key, reading, and following."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from quoin import _types as types
from quoin._core.context import Context
from quoin._core.effects import Steps
from quoin._core.logs import (
    AppendBatchResult,
    AppendResult,
    LogNames,
    TailReader,
    assert_fits,
    checked_payloads,
    given_text,
    log_info,
    sequences_of,
    settings_fields,
)
from quoin._core.operation import Execution, execute
from quoin._core.wire import INT32_MAX, checked_count, checked_timeout
from quoin._generated import decode, models
from quoin._io.threads import ThreadIo
from quoin._sync.calls import LogCalls
from quoin._sync.watches import Items

if TYPE_CHECKING:
    from typing_extensions import Unpack


class LogClient(LogCalls):
    """Event logs. A log is given by its id, as `NAMESPACE/NAME`, or as `NAME` if only one visible namespace has it."""

    def __init__(self, io: ThreadIo, context: Context) -> None:
        super().__init__(io, context)
        self._names = LogNames(context)

    def create(
        self,
        name: str,
        *,
        namespace: str | None = None,
        settings: Mapping[str, int] | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.LogInfo:
        """Creates a log; by default in the namespace `default`.

        Settings are `duplicate_window_seconds`, for how long keys of events are remembered, `retention_max_age_seconds`
        and `retention_max_bytes`. Raises LogExistsError if a live log of the namespace has the name.
        """
        given = {"name": name, "settings": settings_fields({} if settings is None else settings)["settings"]}
        optional = {"namespace": None if namespace is None else given_text(namespace, "namespace")}
        execution = self._execute("EventLogService/CreateLog", given, optional, call)
        return log_info(execution.message.log)

    def describe(self, log: str, **call: Unpack[types.CallOptions]) -> models.LogInfo:
        """Reads the properties of a log. Raises LogNotFoundError, also for a log that is not visible."""
        return log_info((self._with_id("GetLog", log, {}, call)).message.log)

    def find(
        self, name: str, *, namespace: str = "default", **call: Unpack[types.CallOptions]
    ) -> models.LogInfo | None:
        """The live log of this name in one namespace. None = there is none."""
        found = self._io.run(self._names.named(name, given_text(namespace, "namespace"), call))
        return found[0] if found else None

    def update_settings(
        self, log: str, settings: Mapping[str, int | None], **call: Unpack[types.CallOptions]
    ) -> models.LogInfo:
        """Changes the given settings; None removes one. The caller must be its creator, or an administrator."""
        return log_info((self._with_id("UpdateLog", log, settings_fields(settings), call)).message.log)

    def delete(self, log: str, **call: Unpack[types.CallOptions]) -> None:
        """Deletes a log and its events, at once and for ever. The caller must be its creator, or an administrator."""
        self._with_id("DeleteLog", log, {}, call)

    def append(
        self,
        log: str,
        payload: bytes | str,
        *,
        key: str | None = None,
        expected_sequence: int | None = None,
        guard: types.Guarding | None = None,
        **call: Unpack[types.CallOptions],
    ) -> AppendResult:
        """Appends an event of at most 1 MiB.

        `key` is an idempotency key: while the log remembers it, an append with the same key stores nothing and gets the
        first answer. `expected_sequence` is the last sequence that the log must have, else SequenceConflictError.
        `guard` is the hold that must be live, else FencedError.
        """
        fields = {"payload": payload, "expected_sequence": expected_sequence, "guard": guard}
        fields["idempotency_key"] = None if key is None else given_text(key, "key")
        execution = self._with_id("AppendEvent", log, fields, call)
        return AppendResult(execution.message.sequence, execution.replayed)

    def append_batch(
        self,
        log: str,
        payloads: Sequence[bytes | str],
        *,
        key: str | None = None,
        expected_sequence: int | None = None,
        guard: types.Guarding | None = None,
        **call: Unpack[types.CallOptions],
    ) -> AppendBatchResult:
        """Appends all events or none: 1 to 10,000 of them, in a request of at most 4 MiB.

        Event i has the key `{key}:{i}`. Without a `key`, the request id is the key. Otherwise like `append`.
        """
        fields = {"payloads": checked_payloads(payloads), "expected_sequence": expected_sequence, "guard": guard}
        request_id = call.setdefault("request_id", str(uuid.uuid4()))
        fields["idempotency_key"] = request_id if key is None else given_text(key, "key")
        execution = self._with_id("AppendEvents", log, fields, call)
        sequences = sequences_of(execution.message, len(payloads))
        return AppendBatchResult(sequences, execution.message.last_sequence, execution.replayed)

    def read(
        self,
        log: str,
        *,
        from_sequence: int = 1,
        limit: int | None = None,
        wait_seconds: int = 0,
        **call: Unpack[types.CallOptions],
    ) -> models.EventPage:
        """Reads a page of events: at most `limit`, 1 to 1,000, by default 100, and at most 1 MiB or one larger event.

        If there are none, it waits `wait_seconds` for some, up to 60, in addition to `timeout_ms`.
        """
        fields = {"from_sequence": from_sequence, "page_size": limit, "wait_seconds": wait_seconds}
        if checked_count(wait_seconds, "wait_seconds") > 0:
            timeout_ms = checked_timeout(call.get("timeout_ms", self._context.timeout_ms), "timeout_ms")
            call["timeout_ms"] = min(INT32_MAX, timeout_ms + wait_seconds * 1e3)
        return decode.event_page((self._with_id("ReadEvents", log, fields, call)).message)

    def events(
        self, log: str, *, from_sequence: int = 1, **call: Unpack[types.PartOptions]
    ) -> Iterator[models.LogEvent]:
        """The events that there are, page by page. `tail` also waits for new ones."""
        while True:
            page = self.read(log, from_sequence=from_sequence, limit=1_000, **call)
            for event in page.events:
                yield event
            if not page.events:
                return
            from_sequence = page.events[-1].sequence + 1

    def tail(
        self, log: str, *, from_sequence: int = 1, **options: Unpack[types.StreamOptions]
    ) -> Items[models.LogEvent]:
        """Follows a log from a sequence on: existing and new events, each once and in order, until it is closed.

        If a member is gone, it continues after the last event at another one. Events that retention has removed are
        left out. Reading it raises the refusal, such as LogNotFoundError when the log is deleted.
        """
        reader = TailReader(self._context, self._names, log, from_sequence, options)
        return Items(self._io, reader.next, reader.stream.end, reader.stream.ending)

    def _with_id(self, rpc: str, log: str, optional: Mapping[str, object], options: Mapping[str, Any]) -> Execution:
        request = self._context.contract.types_of(f"EventLogService/{rpc}")[0]

        def work(log_id: str, rest: Mapping[str, Any]) -> Steps[Execution]:
            message = self._context.contract.build(request, {"log_id": log_id}, optional)
            if rpc == "AppendEvents":
                assert_fits(message)
            return execute(self._context, f"EventLogService/{rpc}", message, rest)

        return self._io.run(self._names.with_id(log, options, work))
