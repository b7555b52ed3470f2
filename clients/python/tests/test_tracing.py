"""Spans and headers of OpenTelemetry."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from simulation import Simulation, error_of, message

import quoin
from quoin._core.operation import execute

_EXPORTER = InMemorySpanExporter()


@pytest.fixture
def spans() -> Iterator[InMemorySpanExporter]:
    if not isinstance(trace.get_tracer_provider(), TracerProvider):
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(_EXPORTER))
        trace.set_tracer_provider(provider)
    _EXPORTER.clear()
    yield _EXPORTER
    _EXPORTER.clear()


def headers(simulation: Simulation) -> list[str]:
    return [dict(send.request.metadata).get("traceparent", "") for _, send in simulation.sent]


def call(simulation: Simulation, **options: Any) -> None:
    fields = {"namespace": "n", "key": "secret"}
    simulation.run(execute(simulation.context(), "KeyValueService/GetKey", fields, options))


def test_an_operation_and_its_attempts_have_spans(spans: InMemorySpanExporter) -> None:
    answers = iter([error_of("UNAVAILABLE", "NO_LEADER"), message("GetKeyResponse")])
    simulation = Simulation(lambda _: (1, next(answers)))
    with trace.get_tracer("test").start_as_current_span("mine") as mine:
        call(simulation)
    first, second, whole, _ = spans.get_finished_spans()
    assert [one.name for one in (first, second, whole)] == ["coordination.v1.KeyValueService/GetKey"] * 2 + [
        "quoin GetKey"
    ]
    assert first.attributes is not None
    assert first.attributes["server.address"] == "a:1"
    assert first.attributes["quoin.reason"] == "NO_LEADER"
    assert whole.parent is not None
    assert whole.parent.span_id == mine.get_span_context().span_id
    # Each member continues the trace with the span of its attempt.
    for span, header in zip((first, second), headers(simulation), strict=True):
        context = span.get_span_context()
        assert context is not None
        assert header == f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"
    assert "secret" not in "".join(one.to_json() for one in spans.get_finished_spans())


def test_a_failed_operation_has_its_reason(spans: InMemorySpanExporter) -> None:
    simulation = Simulation(lambda _: (1, error_of("NOT_FOUND", "KEY_NOT_FOUND")))
    with pytest.raises(quoin.KeyNotFoundError):
        call(simulation)
    whole = spans.get_finished_spans()[-1]
    assert whole.attributes is not None
    assert (whole.status.description, whole.attributes["quoin.outcome"]) == ("KEY_NOT_FOUND", "not-executed")


def test_a_given_header_is_sent_as_it_is(spans: InMemorySpanExporter) -> None:
    simulation = Simulation(lambda _: (1, message("GetKeyResponse")))
    header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    call(simulation, traceparent=header)
    assert headers(simulation) == [header]
    assert spans.get_finished_spans() == ()
