"""Spans of operations, for applications that use OpenTelemetry, and the headers by which members continue their traces.

An operation has a span in the active context, and below it one for each attempt. Without the package
`opentelemetry-api`, or without a tracer provider, nothing is made. Spans never contain keys, values or tokens.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from typing import Any

from quoin._core.errors import QuoinError, bad_field

_api: Any
try:
    _api = importlib.import_module("opentelemetry.trace")
    _context: Any = importlib.import_module("opentelemetry.context")
except ImportError:
    _api = None

_TRACEPARENT = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")


def checked_traceparent(text: object) -> str | None:
    """The header, if it can be one of W3C Trace Context."""
    if text is None:
        return None
    if not isinstance(text, str) or not _TRACEPARENT.fullmatch(text):
        raise bad_field("traceparent", "is not a header of W3C Trace Context, such as 00-<32 digits>-<16 digits>-01")
    return text


class Span:
    """One span, or none. Only its first end counts."""

    def __init__(self, span: Any, headers: Mapping[str, str]) -> None:
        self._span = span
        self.headers = headers

    def end(self, thrown: BaseException | None) -> None:
        """Ends it; None = with success, or by this side."""
        span, self._span = self._span, None
        if span is None or not span.is_recording():
            return
        if isinstance(thrown, QuoinError):
            # The message may name a key. Code, reason and outcome are words of the contract.
            words = {"quoin.code": thrown.code, "quoin.reason": thrown.reason, "quoin.outcome": thrown.outcome}
            span.set_attributes(words)
            span.set_status(_api.Status(_api.StatusCode.ERROR, thrown.reason or thrown.code))
        span.end()


class Trace:
    """The trace of one operation, or of one stream."""

    def __init__(self, method: str, message: Any, traceparent: str | None, request_id: str | None = None) -> None:
        self._method = method
        self._headers: Mapping[str, str] = {} if traceparent is None else {"traceparent": traceparent}
        self._attempts = 0
        self._span = Span(None, {})
        self._tracer: Any = None
        if _api is None or traceparent is not None:
            return
        attributes = {"quoin.request_id": request_id} if request_id else {}
        namespace = getattr(message, "namespace", "")
        if namespace:
            attributes["quoin.namespace"] = namespace
        self._tracer = _api.get_tracer("quoin")
        active = _context.get_current()
        name = f"quoin {method.rpartition('/')[2]}"
        span = self._tracer.start_span(name, active, _api.SpanKind.INTERNAL, attributes)
        self._parent = _api.set_span_in_context(span, active)
        self._span = Span(span, {})

    def attempt(self, endpoint: str) -> Span:
        """The span of an attempt at an endpoint, which begins now."""
        self._attempts += 1
        if self._tracer is None:
            return Span(None, self._headers)
        attributes = {"rpc.system": "grpc", "server.address": endpoint, "quoin.attempt": self._attempts}
        name = f"coordination.v1.{self._method}"
        span = self._tracer.start_span(name, self._parent, _api.SpanKind.CLIENT, attributes)
        return Span(span, _headers_of(span.get_span_context()))

    def end(self, thrown: BaseException | None) -> None:
        self._span.end(thrown)


def _headers_of(context: Any) -> Mapping[str, str]:
    if not context.is_valid:
        return {}
    headers = {"traceparent": f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"}
    state = context.trace_state.to_header() if context.trace_state else ""
    return {**headers, "tracestate": state} if state else headers
