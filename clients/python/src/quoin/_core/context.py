"""What the operations of one client share, and the discovery of members."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

from quoin._core.effects import Signal, Spawn, Steps, Surroundings
from quoin._core.endpoints import Endpoints
from quoin._core.wire import Contract

# Deadline of operations without their own: that of the service.
DEFAULT_TIMEOUT_MS = 5_000.0

# Waits until a signal is set, within the deadline of an operation.
Waiting = Callable[[Signal], Steps[None]]


class Tokens(Protocol):
    """The source of the tokens of calls."""

    def token(self, wait: Waiting) -> Steps[str]:
        """The token to send now; empty = none."""
        ...

    def refresh(self, refused: str, wait: Waiting) -> Steps[str | None]:
        """A new token instead of the refused one. None = there is none."""
        ...


@dataclass(frozen=True)
class Context:
    """The shared parts of one client."""

    contract: Contract
    endpoints: Endpoints
    tokens: Tokens
    surroundings: Surroundings
    timeout_ms: float = DEFAULT_TIMEOUT_MS
    # Whether an attempt may go to the leader's endpoint; not for methods of one particular member.
    follow_leader: bool = True
    # Set when the client is closed.
    closing: Signal = field(default_factory=Signal)
    # Called after each answered operation.
    on_answer: Callable[[], Steps[None]] | None = None

    def now_ms(self) -> float:
        return self.surroundings.now_ms()


class Discovery:
    """Asks for the members of the cluster now and then, beside the operations of a client, and never fails."""

    FIRST_DELAY_MS = 1_000.0
    INTERVAL_MS = 60_000.0
    TIMEOUT_MS = 2_000.0

    def __init__(self, context: Context) -> None:
        self._context = replace(context, on_answer=None)
        self._lock = threading.Lock()
        self._due_ms = context.now_ms() + self.FIRST_DELAY_MS

    def on_answer(self) -> Steps[None]:
        """An operation was answered, so the cluster is reachable."""
        now_ms = self._context.now_ms()
        if now_ms < self._due_ms:
            return
        with self._lock:
            if now_ms < self._due_ms:
                return
            self._due_ms = now_ms + self.INTERVAL_MS
        yield Spawn(self._ask())

    def _ask(self) -> Steps[None]:
        from quoin._core.operation import Persistence, execute

        once = Persistence(attempts_max=1, counts_unreached=True)
        options = {"timeout_ms": self.TIMEOUT_MS}
        message = (yield from execute(self._context, "ClusterService/GetCluster", {}, options, once)).message
        voters = sorted((member for member in message.members if not member.learner), key=lambda one: not one.leader)
        self._context.endpoints.learn(member.grpc_endpoint for member in voters)
