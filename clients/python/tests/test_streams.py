"""Watches and tails over any number of broken streams: each change once, in order, and no gap."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulation import FakeStream, Simulation, error_of, message

import quoin
from quoin._core.effects import Open, Steps, Wait
from quoin._core.logs import LogNames, TailReader
from quoin._core.streams import Source, WatchReader, steady
from quoin._core.tokens import ExchangedTokens

PASSING = [
    error_of("UNAVAILABLE", "NO_LEADER"),
    error_of("UNAVAILABLE"),
    error_of("UNAVAILABLE", "", "unknown"),
    error_of("CANCELLED", "", "unknown"),
    error_of("RESOURCE_EXHAUSTED", "TOO_MANY_STREAMS"),
]
LAST_REVISION = 12


def created(revision: int) -> Any:
    return message("WatchKeysResponse", created=True, revision=revision)


def changes(revision: int, part: int = 0, partial: bool = False) -> Any:
    """A part of the changes of a revision."""
    kv = message("KeyValue", key=f"{revision}.{part}", mod_revision=revision)
    return message(
        "WatchKeysResponse", events=[message("KeyEvent", kv=kv)], revision=revision - partial, partial=partial
    )


class Member:
    """Has two changes for each revision, and streams that break as the test wants."""

    def __init__(self, breaks: list[tuple[int, Any]]) -> None:
        self.breaks = breaks
        self.opened: list[tuple[str, int]] = []

    def open(self, effect: Open) -> FakeStream:
        request: Any = effect.request.message
        start = request.start_revision or 1
        self.opened.append((effect.endpoint, start))
        messages: list[Any] = [created(start - 1)]
        for revision in range(start, LAST_REVISION + 1):
            messages += [changes(revision, 0, True), changes(revision, 1)]
        if self.breaks:
            after, failure = self.breaks.pop(0)
            messages[after:] = [failure]
        waiting = iter(messages)
        # A silent stream, and one without further changes, sends nothing more.
        return FakeStream(effect.endpoint, lambda: next(((1.0, one) for one in waiting), (float("inf"), None)))


def watch(
    simulation: Simulation,
    member: Member,
    start: int = 1,
    options: Mapping[str, Any] = types.MappingProxyType({}),
    **fields: Any,
) -> WatchReader[str]:
    simulation.open = member.open
    source = Source(
        title="watch",
        method="WatchService/WatchKeys",
        start=start,
        fields=steady({"namespace": "n"}, "start_revision"),
        behind=lambda one: int(one.revision) + 1,
        silence_ms=3_000,
    )
    context = simulation.context(**fields)
    return WatchReader(context, source, lambda one: [event.kv.key for event in one.events], False, options)


@given(st.lists(st.tuples(st.integers(1, 20), st.sampled_from(PASSING)), max_size=12), st.floats(0, 0.999))
def test_no_change_is_missed_or_repeated(breaks: list[tuple[int, Any]], random: float) -> None:
    simulation = Simulation(random=random)
    reader = watch(simulation, Member(list(breaks)))
    simulation.run(reader.stream.establish())
    found: list[str] = []
    revisions: list[int] = []
    while not revisions or revisions[-1] < LAST_REVISION:
        batch = simulation.run(reader.next())
        found += batch.events
        revisions.append(batch.revision)
    assert found == [f"{revision}.{part}" for revision in range(1, LAST_REVISION + 1) for part in (0, 1)]
    assert revisions == sorted(set(revisions))


def test_a_silent_stream_is_left_after_three_intervals() -> None:
    simulation = Simulation()
    # The message None stands for silence: the stream has no further one.
    member = Member([(3, None)])
    silent = member.open

    def open_(effect: Open) -> FakeStream:
        stream = silent(effect)
        script = stream.script

        def until_silent() -> tuple[float, Any]:
            delay_ms, one = script()
            return (float("inf") if one is None else delay_ms), one

        stream.script = until_silent
        return stream

    member.open = open_  # type: ignore[method-assign]
    reader = watch(simulation, member)
    simulation.run(reader.stream.establish())
    assert [simulation.run(reader.next()).revision for _ in range(3)] == [1, 2, 3]
    assert member.opened == [("a:1", 1), ("b:2", 2)]
    assert 3_000 <= simulation.now_ms < 3_200


def test_compaction_is_told() -> None:
    simulation = Simulation()
    member = Member([(3, PASSING[0]), (0, error_of("OUT_OF_RANGE", "COMPACTED", details={"compact_revision": "9"}))])
    reader = watch(simulation, member)
    simulation.run(reader.stream.establish())
    simulation.run(reader.next())
    with pytest.raises(quoin.CompactedError) as caught:
        simulation.run(reader.next())
    assert caught.value.compact_revision == 9


def test_establishing_has_as_many_attempts_as_an_operation() -> None:
    simulation = Simulation()
    member = Member([(0, error_of("UNAVAILABLE", "NO_LEADER"))] * 9)
    with pytest.raises(quoin.NoLeaderError):
        simulation.run(watch(simulation, member).stream.establish())
    assert len(member.opened) == 4


def test_an_established_watch_never_gives_up() -> None:
    simulation = Simulation()
    reader = watch(simulation, Member([(2, PASSING[0]), *[(0, error_of("UNAVAILABLE", "NO_LEADER"))] * 300]))
    simulation.run(reader.stream.establish())
    assert simulation.run(reader.next()).events == ("1.0", "1.1")


def exchanged(exchange: Callable[[], Steps[Any]]) -> tuple[Simulation, dict[str, Any]]:
    simulation = Simulation()
    return simulation, {"tokens": ExchangedTokens(exchange, lambda: simulation.now_ms)}


def test_an_established_watch_survives_that_its_next_token_is_late() -> None:
    failures = [error_of("UNAVAILABLE", "NO_LEADER")] * 2
    exchanges = 0

    def exchange() -> Steps[Any]:
        nonlocal exchanges
        yield Wait((), 10)
        exchanges += 1
        if exchanges > 1 and failures:
            raise failures.pop()
        return message("ExchangeTokenResponse", access_token=f"t{exchanges}", expires_in_seconds=900)

    simulation, tokens = exchanged(exchange)
    reader = watch(simulation, Member([(2, error_of("UNAUTHENTICATED", "TOKEN_EXPIRED"))]), **tokens)
    simulation.run(reader.stream.establish())
    assert simulation.run(reader.next()).events == ("1.0", "1.1")
    assert exchanges == 4


def test_establishing_waits_for_a_token_no_longer_than_its_deadline() -> None:
    def exchange() -> Steps[Any]:
        yield Wait((), 2_000)
        return message("ExchangeTokenResponse", access_token="t", expires_in_seconds=900)

    simulation, tokens = exchanged(exchange)
    reader = watch(simulation, Member([]), options={"timeout_ms": 300}, **tokens)
    with pytest.raises(quoin.DeadlineExceededError) as caught:
        simulation.run(reader.stream.establish())
    assert simulation.now_ms == 300
    assert caught.value.outcome == "not-executed"


@pytest.mark.parametrize("waits", [True, False])
def test_the_end_is_seen_by_a_reader(waits: bool) -> None:
    simulation = Simulation()
    reader = watch(simulation, Member([]), start=LAST_REVISION + 1)
    simulation.run(reader.stream.establish())
    if waits:
        simulation.at(500, reader.stream.end)
    else:
        reader.stream.end()
    with pytest.raises(quoin.CancelledError):
        simulation.run(reader.next())
    assert reader.stream.ending.is_set()


@given(st.lists(st.tuples(st.integers(0, 6), st.sampled_from(PASSING)), max_size=8))
def test_a_tail_continues_behind_its_last_event(breaks: list[tuple[int, Any]]) -> None:
    simulation = Simulation()
    breaks = list(breaks)

    def open_(effect: Open) -> FakeStream:
        request: Any = effect.request.message
        start = request.from_sequence
        messages: list[Any] = [message("TailEventsResponse", created=True)]
        messages += [
            message("TailEventsResponse", events=[message("LogEvent", sequence=at)]) for at in range(start, 10)
        ]
        if breaks:
            after, failure = breaks.pop(0)
            messages[after:] = [failure]
        waiting = iter(messages)
        return FakeStream(effect.endpoint, lambda: next(((1.0, one) for one in waiting), (float("inf"), None)))

    simulation.open = open_
    context = simulation.context()
    log_id = "00000000-0000-0000-0000-000000000001"
    reader = TailReader(context, LogNames(context), log_id, 3, {})
    assert [simulation.run(reader.next()).sequence for _ in range(7)] == list(range(3, 10))


def test_a_name_is_looked_up_again_when_its_log_is_gone() -> None:
    ids = iter(["00000000-0000-0000-0000-00000000000a", "00000000-0000-0000-0000-00000000000b"])

    def member(_: object) -> tuple[float, Any]:
        return 0, message("ListLogsResponse", logs=[message("EventLog", log_id=next(ids), name="l", namespace="n")])

    simulation = Simulation(member)
    names = LogNames(simulation.context())
    gone: set[str] = set()

    def work(log_id: str, options: object) -> Steps[str]:
        yield from ()
        if log_id in gone:
            raise error_of("NOT_FOUND", "LOG_NOT_FOUND")
        return log_id

    run: Callable[[], str] = lambda: simulation.run(names.with_id("n/l", {}, work))  # noqa: E731
    first = run()
    assert run() == first
    gone.add(first)
    assert run() != first
    assert len(simulation.sent) == 2
