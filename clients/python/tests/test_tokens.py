"""Tokens: one exchange for all calls, early replacement, and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulation import Simulation, error_of, message

import quoin
from quoin._core.effects import Send, Signal, Steps, Wait
from quoin._core.tokens import ExchangedTokens, FileToken, GivenToken, exchanged_tokens

LIFE_MS = 100_000


class Exchange:
    def __init__(self, simulation: Simulation) -> None:
        self.count = 0
        self.failure: Any = None
        simulation.member = self.answer

    def answer(self, send: Send) -> tuple[float, Any]:
        assert send.request.method == "AccountService/ExchangeToken"
        assert all(name != "authorization" for name, _ in send.request.metadata)
        self.count += 1
        if self.failure is not None:
            return 10, self.failure
        return 10, message("ExchangeTokenResponse", access_token=f"t{self.count}", expires_in_seconds=LIFE_MS // 1_000)


def wait(signal: Signal) -> Steps[None]:
    yield Wait((signal,), 5_000)


def source() -> tuple[Simulation, Exchange, ExchangedTokens]:
    simulation = Simulation()
    return simulation, Exchange(simulation), exchanged_tokens(simulation.context(), {"api_key": "key"})


@given(st.integers(1, 50))
def test_calls_together_share_one_exchange(calls: int) -> None:
    simulation, exchange, tokens = source()
    jobs = [simulation.spawn(tokens.token(wait)) for _ in range(calls)]
    simulation.until(lambda: all(job.is_done for job in jobs))
    assert {job.result for job in jobs} == {"t1"}
    assert exchange.count == 1


@given(st.integers(1, 50))
def test_calls_that_are_refused_together_share_one_exchange(calls: int) -> None:
    simulation, exchange, tokens = source()
    simulation.run(tokens.token(wait))
    jobs = [simulation.spawn(tokens.refresh("t1", wait)) for _ in range(calls)]
    simulation.until(lambda: all(job.is_done for job in jobs))
    assert {job.result for job in jobs} == {"t2"}
    assert exchange.count == 2
    # Somebody who comes late with the old token gets the new one.
    assert simulation.run(tokens.refresh("t1", wait)) == "t2"
    assert exchange.count == 2


def test_a_token_is_replaced_in_the_background_at_80_percent_of_its_life() -> None:
    simulation, exchange, tokens = source()
    simulation.run(tokens.token(wait))
    simulation.advance(0.79 * LIFE_MS)
    assert simulation.run(tokens.token(wait)) == "t1"
    assert exchange.count == 1
    simulation.advance(0.02 * LIFE_MS)
    before_ms = simulation.now_ms
    assert simulation.run(tokens.token(wait)) == "t1"
    assert simulation.now_ms == before_ms
    simulation.advance(20)
    assert simulation.run(tokens.token(wait)) == "t2"


def test_a_token_that_cannot_be_replaced_is_used_to_its_end() -> None:
    simulation, exchange, tokens = source()
    simulation.run(tokens.token(wait))
    exchange.failure = error_of("UNAVAILABLE", "NO_LEADER")
    simulation.advance(0.9 * LIFE_MS)
    for _ in range(5):
        assert simulation.run(tokens.token(wait)) == "t1"
        simulation.advance(100)
    # A second must pass between two trials.
    assert exchange.count == 2
    simulation.advance(0.1 * LIFE_MS)
    with pytest.raises(quoin.NoLeaderError):
        simulation.run(tokens.token(wait))


def test_a_member_that_is_too_slow_is_one_that_is_unavailable() -> None:
    simulation, exchange, tokens = source()
    exchange.failure = error_of("DEADLINE_EXCEEDED", "DEADLINE", "unknown")
    with pytest.raises(quoin.UnavailableError) as caught:
        simulation.run(tokens.token(wait))
    assert caught.value.outcome == "not-executed"


def test_a_token_that_cannot_be_sent_is_refused_without_being_quoted() -> None:
    with pytest.raises(quoin.BadFieldError) as caught:
        GivenToken("se cret")
    assert "se cret" not in str(caught.value)
    simulation, _, _ = source()
    tokens = exchanged_tokens(simulation.context(), {"api_key": "key"})
    simulation.member = lambda _: (0, message("ExchangeTokenResponse", access_token="se\ncret", expires_in_seconds=9))
    with pytest.raises(quoin.InternalError) as internal:
        simulation.run(tokens.token(wait))
    assert "cret" not in str(internal.value)


def test_an_empty_key_is_refused() -> None:
    with pytest.raises(quoin.BadFieldError):
        exchanged_tokens(Simulation().context(), {"api_key": ""})


def test_a_file_is_read_again_after_a_refusal(tmp_path: Path) -> None:
    simulation, path = Simulation(), tmp_path / "token"
    tokens = FileToken(str(path))
    with pytest.raises(quoin.NoTokenError):
        simulation.run(tokens.token(wait))
    path.write_text("\n  one  \nrest")
    assert simulation.run(tokens.token(wait)) == "one"
    path.write_text("two")
    assert simulation.run(tokens.token(wait)) == "one"
    assert simulation.run(tokens.refresh("one", wait)) == "two"
    assert simulation.run(tokens.refresh("two", wait)) is None
    path.write_text("not a token")
    with pytest.raises(quoin.NoTokenError) as caught:
        simulation.run(tokens.refresh("two", wait))
    assert "not a token" not in str(caught.value)


def test_a_file_that_cannot_have_a_token_is_told() -> None:
    with quoin.Client(["127.0.0.1:1"], token_file="\0") as client, pytest.raises(quoin.NoTokenError):
        client.kv.get("default", "k")
