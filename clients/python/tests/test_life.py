"""Holds and sessions on a clock of their own: renewed in time, and lost in time."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulation import Simulation, error_of, message

import quoin
from quoin._core.effects import Send, Spawn, Steps
from quoin._core.errors import QuoinError, bad_field
from quoin._core.life import HoldLife
from quoin._core.operation import Persistence, execute
from quoin._core.sessions import Renewer, SessionLife

TTL_MS = 9_000


class LockMember:
    """A cluster of members with one lock, whose hold lives on the clock of the simulation."""

    def __init__(self, simulation: Simulation, delays: list[float]) -> None:
        self.simulation = simulation
        self.ends_ms = float(TTL_MS)
        self.delays = delays
        self.is_forced = False
        simulation.member = self.answer

    def answer(self, send: Send) -> tuple[float, Any]:
        """Half of a delay passes before the execution, and half of it after."""
        delay_ms = self.delays.pop(0) if self.delays else 5.0
        if send.request.method.startswith("LockService/Release"):
            return delay_ms, message("ReleaseLockResponse", released=True)
        executed_ms = self.simulation.now_ms + delay_ms / 2
        if delay_ms < 0:
            return 0, error_of("UNAVAILABLE", "NO_LEADER")
        if self.is_forced or executed_ms > self.ends_ms:
            return delay_ms, error_of("FAILED_PRECONDITION", "LOCK_LOST")
        self.ends_ms = executed_ms + TTL_MS
        return delay_ms, message("AcquireLockResponse", acquired=True, fencing_token=7, expires_in_ms=TTL_MS)


def hold(simulation: Simulation) -> HoldLife:
    context = simulation.context()

    def renew(life: HoldLife, timeout_ms: float, persistence: Persistence) -> Steps[tuple[int, float]]:
        options = {"timeout_ms": timeout_ms}
        done = yield from execute(context, "LockService/AcquireLock", {}, options, persistence, life.ended)
        return done.message.fencing_token, done.attempt_start_ms + done.message.expires_in_ms

    life = HoldLife(context, "l", 7, simulation.now_ms + TTL_MS, renew)
    simulation.spawn(life.watch_deadline())
    simulation.spawn(life.renewals())
    return life


@given(st.lists(st.floats(-1, 20_000), max_size=30))
def test_a_hold_is_never_believed_after_its_end(delays: list[float]) -> None:
    simulation = Simulation(random=0.5)
    member = LockMember(simulation, list(delays))
    life = hold(simulation)
    for _ in range(600):
        simulation.advance(100)
        if life.remaining_ms > 0:
            # The client errs early: what it believes is true in the cluster.
            assert life.deadline_ms <= member.ends_ms
            assert simulation.now_ms < member.ends_ms
    if all(delay < 1_000 for delay in delays) and len(delays) < 3:
        assert not life.is_lost()


def test_a_hold_is_renewed_after_a_third_of_its_life() -> None:
    simulation = Simulation()
    LockMember(simulation, [])
    life = hold(simulation)
    simulation.advance(3 * TTL_MS)
    assert not life.is_lost()
    times = [at_ms for at_ms, _ in simulation.sent]
    assert times[0] == TTL_MS / 3
    assert 8 <= len(times) <= 10


def test_a_hold_that_nobody_renews_is_lost_at_its_deadline_with_the_last_failure() -> None:
    simulation = Simulation(lambda _: (0, error_of("UNAVAILABLE", "NO_LEADER")), random=0.5)
    life = hold(simulation)
    simulation.advance(TTL_MS - 1)
    assert not life.is_lost()
    simulation.advance(1)
    assert life.ended.is_set()
    assert isinstance(life.error, quoin.LockLostError)
    assert isinstance(life.error.__cause__, quoin.NoLeaderError)


def test_a_hold_that_was_taken_away_is_lost_at_the_next_renewal() -> None:
    simulation = Simulation()
    member = LockMember(simulation, [])
    life = hold(simulation)
    member.is_forced = True
    simulation.advance(TTL_MS / 3 + 10)
    assert life.is_lost()
    assert life.remaining_ms == 0


def test_a_caller_without_rights_keeps_the_hold_until_its_deadline() -> None:
    simulation = Simulation(lambda _: (0, error_of("PERMISSION_DENIED", "ACCESS_DENIED")))
    life = hold(simulation)
    simulation.advance(TTL_MS - 1)
    assert not life.is_lost()
    assert len(simulation.sent) == 1
    simulation.advance(2)
    assert life.is_lost()


def test_the_clock_counts_before_any_timer() -> None:
    simulation = Simulation()
    life = hold(simulation)
    # A paused process: time passes, and nothing runs.
    simulation.now_ms += TTL_MS
    assert not life.ended.is_set()
    assert life.is_lost()


def test_a_release_waits_for_a_renewal_and_uses_its_token() -> None:
    simulation = Simulation()
    LockMember(simulation, [500])
    life = hold(simulation)
    released: list[int] = []

    def send(token: int) -> Steps[None]:
        yield from ()
        released.append(token)

    simulation.advance(TTL_MS / 3 + 1)
    assert simulation.run(life.release(send)) is True
    assert simulation.run(life.release(send)) is True
    assert released == [7]
    assert life.error is None
    simulation.advance(3 * TTL_MS)
    assert len(simulation.sent) == 1


def test_a_release_that_failed_may_be_repeated() -> None:
    simulation = Simulation()
    LockMember(simulation, [])
    life = hold(simulation)
    failures = [error_of("UNAVAILABLE", "NO_LEADER")]

    def send(token: int) -> Steps[None]:
        yield from ()
        if failures:
            raise failures.pop()

    with pytest.raises(quoin.NoLeaderError):
        simulation.run(life.release(send))
    assert simulation.run(life.release(send)) is True


def test_changes_of_a_hold_come_one_after_the_other() -> None:
    simulation = Simulation()
    LockMember(simulation, [])
    life = hold(simulation)
    running: list[int] = []

    def change(_: HoldLife, timeout_ms: float, persistence: Persistence) -> Steps[tuple[int, float]]:
        assert running == []
        running.append(1)
        yield from execute(simulation.context(), "LockService/AcquireLock", {}, {})
        running.pop()
        return 9, simulation.now_ms + TTL_MS

    jobs = [simulation.spawn(life.change(change)) for _ in range(5)]
    simulation.until(lambda: all(job.is_done for job in jobs), 10_000)
    assert [job.error for job in jobs] == [None] * 5
    assert life.token == 9


class SessionMember:
    """Members with sessions, which live on the clock of the simulation."""

    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        self.ttl: dict[int, float] = {}
        self.ends_ms: dict[int, float] = {}
        self.calls: list[list[int]] = []
        self.failure: QuoinError | None = None
        simulation.member = self.answer

    def create(self, session_id: int, ttl_ms: float) -> None:
        self.ttl[session_id] = ttl_ms
        self.ends_ms[session_id] = self.simulation.now_ms + ttl_ms

    def answer(self, send: Send) -> tuple[float, Any]:
        message_: Any = send.request.message
        ids = [session.session_id for session in message_.sessions]
        self.calls.append(ids)
        if self.failure is not None:
            return 0, self.failure
        renewed = []
        for one in ids:
            lives = self.ends_ms.get(one, 0) > self.simulation.now_ms
            if lives:
                self.ends_ms[one] = self.simulation.now_ms + self.ttl[one]
            renewed.append(message("RenewedSession", session_id=one, expires_in_ms=int(self.ttl[one]) if lives else 0))
        return 5, message("RenewSessionsResponse", sessions=renewed)


def sessions(simulation: Simulation, ttls: list[float]) -> tuple[SessionMember, list[SessionLife]]:
    member = SessionMember(simulation)
    context = simulation.context()
    renewer = Renewer(context, "n")
    lives = []
    for at, ttl_ms in enumerate(ttls, 1):
        member.create(at, ttl_ms)
        lives.append(SessionLife(context, "n", at, simulation.now_ms + ttl_ms))
        simulation.run(renewer.add(lives[-1]))
    return member, lives


@given(st.lists(st.sampled_from([1_000.0, 2_000.0, 10_000.0, 30_000.0]), min_size=1, max_size=40), st.floats(0, 0.999))
def test_all_sessions_are_renewed_together_and_none_is_lost(ttls: list[float], random: float) -> None:
    simulation = Simulation(random=random)
    member, lives = sessions(simulation, ttls)
    simulation.advance(60_000)
    assert not any(life.is_lost() for life in lives)
    assert all(len(set(ids)) == len(ids) for ids in member.calls)
    # Common calls: hardly more of them than the shortest life needs.
    assert len(member.calls) <= 60_000 / (min(ttls) / 3 * 0.9 / 2) + 2


def test_a_call_has_at_most_500_sessions() -> None:
    simulation = Simulation()
    member, lives = sessions(simulation, [9_000.0] * 1_200)
    simulation.advance(4_000)
    assert [len(ids) for ids in member.calls] == [500, 500, 200]
    assert not any(life.is_lost() for life in lives)


def test_a_session_that_the_service_has_ended_is_lost() -> None:
    simulation = Simulation()
    member, lives = sessions(simulation, [9_000.0, 9_000.0])
    member.ends_ms[1] = 0
    simulation.advance(4_000)
    assert [life.is_lost() for life in lives] == [True, False]
    assert isinstance(lives[0].error, quoin.SessionLostError)


def test_a_session_without_an_answer_is_lost_at_its_deadline() -> None:
    simulation = Simulation(random=0.5)
    member, lives = sessions(simulation, [9_000.0])
    member.failure = error_of("UNAVAILABLE", "NO_LEADER")
    simulation.advance(8_999)
    assert not lives[0].is_lost()
    simulation.advance(1)
    assert lives[0].is_lost()
    assert lives[0].ended.is_set()


def test_a_signal_waits_for_a_loss() -> None:
    simulation = Simulation(lambda _: (0, bad_field("x", "y")))
    life = hold(simulation)
    assert simulation.run(life.wait_lost(100)) is False
    assert simulation.now_ms == 100
    assert simulation.run(life.wait_lost(None)) is True
    assert simulation.now_ms == TTL_MS


def test_a_signal_ends_with_a_release() -> None:
    simulation = Simulation()
    LockMember(simulation, [])
    life = hold(simulation)
    simulation.at(50, life.stop)
    assert simulation.run(life.wait_lost(None)) is False
    assert list(life.watch_deadline()) == []
    assert Spawn(life.renewals()) is not None
