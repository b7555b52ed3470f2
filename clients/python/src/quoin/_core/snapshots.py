"""The state of a member as a stream of bytes, compared with the hash that the member sends at the end."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping
from typing import Any

from quoin._core.context import Context
from quoin._core.effects import Open, Receive, Request, Signal, Steps, Stream, Wait
from quoin._core.errors import not_sent, quoin_error
from quoin._core.operation import checked_options, metadata_of
from quoin._core.tracing import Trace, checked_traceparent
from quoin._core.wire import checked_timeout

# Longer than a member waits for its state to be up to date, on a busy machine.
BEGIN_TIMEOUT_MS = 20_000.0
METHOD = "ClusterAdminService/Snapshot"


class SnapshotReader:
    """One snapshot. A retry would be another one, so there is none."""

    def __init__(self, context: Context, silence_ms: float, options: Mapping[str, Any]) -> None:
        checked_options(options, ("timeout_ms", "traceparent"))
        self._context = context
        self._silence_ms = checked_timeout(silence_ms, "silence_ms")
        self._timeout_ms = checked_timeout(options.get("timeout_ms", BEGIN_TIMEOUT_MS), "timeout_ms")
        self._traceparent = checked_traceparent(options.get("traceparent"))
        self._hash = hashlib.sha256()
        self._stream: Stream | None = None
        self._trace: Trace | None = None
        self.is_complete = False

    def next(self) -> Steps[bytes]:
        """The next bytes; perhaps none."""
        limit_ms = self._silence_ms
        if self._stream is None:
            limit_ms = self._timeout_ms
            yield from self._open()
        assert self._stream is not None
        message = yield Receive(self._stream, limit_ms)
        if message is None:
            text = f"{self._stream.endpoint} has sent nothing for {limit_ms:.0f} ms"
            raise quoin_error(text, code="UNAVAILABLE", outcome="not-executed")
        self._hash.update(message.chunk)
        if message.last:
            if self._hash.hexdigest() != message.sha256:
                text = "the snapshot arrived with other bytes than the member sent; try again"
                raise quoin_error(text, code="DATA_LOSS", outcome="not-executed")
            self.is_complete = True
        return bytes(message.chunk)

    def end(self) -> None:
        if self._stream is not None:
            self._stream.cancel()
        if self._trace is not None:
            self._trace.end(None)

    def _open(self) -> Steps[None]:
        context = self._context

        def wait(signal: Signal) -> Steps[None]:
            yield Wait((signal, context.closing), self._timeout_ms)
            if not signal.is_set():
                raise not_sent("DEADLINE_EXCEEDED", "the deadline passed while waiting for a token")

        token = yield from context.tokens.token(wait)
        if context.closing.is_set():
            raise not_sent("CANCELLED", "the client is closed")
        endpoint = context.endpoints.current()
        message = context.contract.build("SnapshotRequest", {})
        self._trace = Trace(METHOD, message, self._traceparent)
        metadata = metadata_of(token, str(uuid.uuid4()), self._trace.attempt(endpoint).headers)
        self._stream = yield Open(endpoint, Request(METHOD, message, metadata))
