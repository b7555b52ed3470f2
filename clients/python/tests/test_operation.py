"""The attempts of an operation, for any sequence of what members may answer."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulation import Simulation, error_of, message

import quoin
from quoin._core.effects import Send, Steps
from quoin._core.errors import QuoinError
from quoin._core.operation import PERSISTENT, Persistence, backoff_ms, execute, unreached_pause_ms

ANSWER = message("GetKeyResponse", value=b"v")
PASSING = [("UNAVAILABLE", "NO_LEADER"), ("UNAVAILABLE", "")]
FINAL = [
    ("NOT_FOUND", "KEY_NOT_FOUND"),
    ("FAILED_PRECONDITION", "REVISION_MISMATCH"),
    ("PERMISSION_DENIED", "ACCESS_DENIED"),
    ("INTERNAL", "INTERNAL"),
    ("RESOURCE_EXHAUSTED", "QUOTA"),
    ("INVALID_ARGUMENT", "BAD_FIELD"),
]
DECIDED = {"NOT_FOUND", "FAILED_PRECONDITION"}

outcomes = st.sampled_from(["not-executed", "unknown"])
errors = st.builds(
    lambda pair, outcome, leader: error_of(pair[0], pair[1], outcome, leader_endpoint=leader),
    st.sampled_from(PASSING + FINAL),
    outcomes,
    st.sampled_from([None, "a:1", "b:2", "z:9", "nonsense"]),
)
answers = st.lists(st.tuples(st.floats(0, 400), st.one_of(errors, st.just(ANSWER))), max_size=12)


def call(simulation: Simulation, context: Any, **options: Any) -> Any:
    fields = {"namespace": "n", "key": "k"}
    return simulation.run(execute(context, "KeyValueService/GetKey", fields, options))


def header(send: Send, name: str) -> list[str]:
    return [value for key, value in send.request.metadata if key == name]


def scripted(script: list[tuple[float, Any]], random: float = 0.0) -> Simulation:
    remaining = itertools.chain(script, itertools.repeat((0.0, ANSWER)))
    return Simulation(lambda _: next(remaining), random)


@given(answers, st.floats(0, 0.999), st.floats(1, 3_000))
def test_any_sequence_of_answers_keeps_the_rules(script: list[Any], random: float, timeout_ms: float) -> None:
    simulation = scripted(script, random)
    context = simulation.context()
    failure: QuoinError | None = None
    try:
        call(simulation, context, timeout_ms=timeout_ms)
    except QuoinError as error:
        failure = error
    sent = [send for _, send in simulation.sent]
    # One request id, and one content.
    assert len({header(send, "request-id")[0] for send in sent}) == 1
    assert len({send.request.message.SerializeToString() for send in sent}) == 1
    assert all(header(send, "api-version") == ["v1"] and header(send, "authorization") == ["Bearer t"] for send in sent)
    # One deadline over all attempts and pauses.
    assert all(0 < send.timeout_ms <= timeout_ms - at_ms + 1e-6 for at_ms, send in simulation.sent)
    assert simulation.now_ms <= timeout_ms + 1e-6
    # At most four attempts that have reached a member.
    done = [outcome for _, outcome in script[: len(sent)]]
    reached = [
        one for one in done if not (isinstance(one, QuoinError) and one.reason == "" and one.outcome == "not-executed")
    ]
    assert len(reached) <= 4
    # Nothing follows a refusal or an answer.
    assert all(isinstance(one, QuoinError) and one.code == "UNAVAILABLE" for one in done[:-1])
    if failure is not None:
        assert failure.request_id == header(sent[0], "request-id")[0]
        seen_unknown = any(isinstance(one, QuoinError) and one.outcome == "unknown" for one in done)
        is_settled = failure.code in DECIDED or failure.reason == "QUOTA"
        if seen_unknown and not is_settled:
            assert failure.outcome == "unknown"
        if not seen_unknown and failure.code != "DEADLINE_EXCEEDED":
            assert failure.outcome == "not-executed"


@given(st.integers(1, 60), st.floats(0, 0.999))
def test_pauses_are_bounded(attempt: int, random: float) -> None:
    most = min(1_000, 50 * 2 ** (attempt - 1))
    assert 0 <= backoff_ms(attempt, random) <= most
    assert most / 2 <= unreached_pause_ms(attempt, random) <= most


def test_unavailable_goes_to_the_next_endpoint_or_the_leader() -> None:
    simulation = scripted(
        [(0, error_of("UNAVAILABLE", "NO_LEADER")), (0, error_of("UNAVAILABLE", "NO_LEADER", leader_endpoint="z:9"))]
    )
    assert call(simulation, simulation.context()).message is ANSWER
    assert [send.endpoint for _, send in simulation.sent] == ["a:1", "b:2", "z:9"]


def test_a_client_of_one_member_stays_with_it() -> None:
    simulation = scripted([(0, error_of("UNAVAILABLE", "NO_LEADER", leader_endpoint="z:9"))])
    call(simulation, simulation.context(["a:1"], follow_leader=False))
    assert [send.endpoint for _, send in simulation.sent] == ["a:1", "a:1"]


def test_attempts_that_reach_no_member_do_not_count() -> None:
    simulation = scripted([(0, error_of("UNAVAILABLE"))] * 9, 0.0)
    call(simulation, simulation.context())
    assert len(simulation.sent) == 10
    # No tight loop, though the random part of each pause is 0.
    assert all(pause >= 25 for pause in simulation.pauses)


def test_a_rate_limit_is_repeated_after_its_pause_at_the_same_member() -> None:
    limited = error_of("RESOURCE_EXHAUSTED", "RATE_LIMITED", retry_delay_ms=700)
    simulation = scripted([(0, limited)])
    call(simulation, simulation.context())
    assert simulation.pauses == [700]
    assert [send.endpoint for _, send in simulation.sent] == ["a:1", "a:1"]


def test_a_rate_limit_beyond_the_deadline_is_final() -> None:
    simulation = scripted([(0, error_of("RESOURCE_EXHAUSTED", "RATE_LIMITED", retry_delay_ms=6_000))])
    with pytest.raises(quoin.RateLimitedError) as caught:
        call(simulation, simulation.context())
    assert caught.value.retryable
    assert len(simulation.sent) == 1


class Tokens:
    def __init__(self, fresh: str | None) -> None:
        self.current = "old"
        self.fresh = fresh
        self.refused: list[str] = []

    def token(self, wait: object) -> Steps[str]:
        yield from ()
        return self.current

    def refresh(self, refused: str, wait: object) -> Steps[str | None]:
        yield from ()
        self.refused.append(refused)
        self.current = self.fresh or self.current
        return self.fresh


def test_a_refused_token_is_replaced_once() -> None:
    refusal = error_of("UNAUTHENTICATED", "TOKEN_EXPIRED")
    simulation, tokens = scripted([(0, refusal)] * 9), Tokens("new")
    with pytest.raises(quoin.TokenExpiredError):
        call(simulation, simulation.context(tokens=tokens))
    assert [header(send, "authorization")[0] for _, send in simulation.sent] == ["Bearer old", "Bearer new"]
    assert tokens.refused == ["old"]


def test_without_a_new_token_the_refusal_is_final() -> None:
    simulation = scripted([(0, error_of("UNAUTHENTICATED", "TOKEN_EXPIRED"))] * 9)
    with pytest.raises(quoin.TokenExpiredError):
        call(simulation, simulation.context(tokens=Tokens(None)))
    assert len(simulation.sent) == 1


def test_a_persistent_operation_continues_until_its_deadline() -> None:
    simulation = scripted([(10, error_of("UNAVAILABLE", "NO_LEADER"))] * 500, 0.5)
    with pytest.raises(quoin.NoLeaderError):
        simulation.run(execute(simulation.context(), "KeyValueService/GetKey", {}, {"timeout_ms": 20_000}, PERSISTENT))
    assert len(simulation.sent) > 30


def test_a_slow_member_loses_its_turn() -> None:
    simulation = scripted([(9_999, ANSWER)])
    persistence = Persistence(attempt_timeout_ms=250)
    simulation.run(execute(simulation.context(), "KeyValueService/GetKey", {}, {}, persistence))
    assert [(send.endpoint, send.timeout_ms) for _, send in simulation.sent] == [("a:1", 250), ("b:2", 250)]


def test_a_pause_ends_with_the_client() -> None:
    simulation = scripted([(0, error_of("UNAVAILABLE", "NO_LEADER"))] * 9, 0.999)
    context = simulation.context()
    simulation.at(10, context.closing.set)
    with pytest.raises(quoin.CancelledError, match="closed"):
        call(simulation, context)
    assert simulation.now_ms == 10


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"timeout_ms": 0}, "timeout_ms"),
        ({"timeout_ms": -1}, "timeout_ms"),
        ({"timeout_ms": 2**31}, "timeout_ms"),
        ({"timeout_ms": "5"}, "timeout_ms"),
        ({"timeout_ms": float("nan")}, "timeout_ms"),
        ({"request_id": "x"}, "request_id"),
        ({"request_id": 7}, "request_id"),
        ({"traceparent": "00-1-2-3"}, "traceparent"),
    ],
)
def test_bad_options_are_refused_before_anything_is_sent(options: dict[str, Any], field: str) -> None:
    simulation = scripted([])
    with pytest.raises(quoin.BadFieldError) as caught:
        call(simulation, simulation.context(), **options)
    assert caught.value.details["field"] == field
    assert simulation.sent == []


def test_a_misspelt_option_is_a_type_error() -> None:
    simulation = scripted([])
    with pytest.raises(TypeError, match="timeout_m"):
        call(simulation, simulation.context(), timeout_m=5)
