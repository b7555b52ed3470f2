"""One operation from the caller's point of view: up to four attempts with one request id, within one deadline.

- UNAVAILABLE is retried, on the leader if the member named it, else on the next endpoint. That is safe for mutations,
  because the service executes a request id once and replays its answer.
- UNAUTHENTICATED is retried once with a new token, if there is one.
- RATE_LIMITED is retried at the same member, after the pause that it asks for.
- Attempts that reach no member do not count: they are repeated as long as the deadline allows.
- Everything else is final.

An operation that must not end before its deadline, such as the renewal of a hold, gets more than four attempts.
"""

from __future__ import annotations

import math
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.message import Message

from quoin._core.context import Context
from quoin._core.effects import Reply, Request, Send, Signal, Steps, Wait
from quoin._core.errors import QuoinError, bad_field, is_unreached, not_sent
from quoin._core.tracing import Trace, checked_traceparent
from quoin._core.wire import checked_timeout, kind_of

# The options of what makes several calls.
PART_OPTIONS = ("timeout_ms", "traceparent", "cancel")
ATTEMPTS_MAX = 4
FIRST_PAUSE_MS = 50.0
PAUSE_MS_MAX = 1_000.0
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
# Errors that are decided where the request is executed, so they also settle earlier attempts with the same request id.
_DECIDED = frozenset(["NOT_FOUND", "ALREADY_EXISTS", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE"])


@dataclass(frozen=True, slots=True)
class Persistence:
    """How long an operation continues while members fail."""

    # The most attempts that reach a member.
    attempts_max: float = ATTEMPTS_MAX
    # Whether attempts that reach no member count, too.
    counts_unreached: bool = False
    # How long a member may take for one attempt before the next one is tried; only for immediate answers.
    attempt_timeout_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Execution(Reply):
    """The answer to an operation."""

    # When the answered attempt began: its request was not sent earlier.
    attempt_start_ms: float = field(default=0.0, kw_only=True)


PERSISTENT = Persistence(attempts_max=math.inf)


def backoff_ms(attempt: int, random: float) -> float:
    """The pause after a failed attempt, from 1: exponential from 50 ms, at most 1 s, with full jitter."""
    return random * min(PAUSE_MS_MAX, FIRST_PAUSE_MS * 2.0 ** min(attempt - 1, 10))


def unreached_pause_ms(attempt: int, random: float) -> float:
    """The pause after an attempt that reached no member: at least half of the maximum."""
    return backoff_ms(attempt, 0.5 + random / 2)


def metadata_of(token: str, request_id: str, trace: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The metadata of every call. An empty token = none."""
    authorization = (("authorization", f"Bearer {token}"),) if token else ()
    return (*authorization, ("api-version", "v1"), ("request-id", request_id), *trace.items())


def checked_options(options: Mapping[str, Any], known: tuple[str, ...] = (*PART_OPTIONS, "request_id")) -> None:
    """Raises TypeError, as Python does, for a keyword that no call has."""
    for name in options:
        if name not in known:
            raise TypeError(f"there is no argument {name!r}; every call has {', '.join(known)}")


def execute(
    context: Context,
    method: str,
    fields: Mapping[str, Any] | Message,
    options: Mapping[str, Any],
    persistence: Persistence = Persistence(),
    cancel: Signal | None = None,
) -> Steps[Execution]:
    """Executes one operation. Raises a QuoinError with the request id, and the outcome over all attempts."""
    return (yield from Operation(context, method, fields, options, persistence, cancel).run())


class Operation:
    """The attempts of one operation."""

    def __init__(
        self,
        context: Context,
        method: str,
        fields: Mapping[str, Any] | Message,
        options: Mapping[str, Any],
        persistence: Persistence,
        cancel: Signal | None,
    ) -> None:
        checked_options(options)
        given_ms = options.get("timeout_ms")
        timeout_ms = checked_timeout(context.timeout_ms if given_ms is None else given_ms, "timeout_ms")
        request_id = options.get("request_id")
        if request_id is not None and not (isinstance(request_id, str) and _UUID.fullmatch(request_id)):
            raise bad_field(
                "request_id", "is not a UUID" if isinstance(request_id, str) else f"cannot be {kind_of(request_id)}"
            )
        self._context = context
        self._method = method
        self._traceparent = checked_traceparent(options.get("traceparent"))
        name = context.contract.types_of(method)[0]
        self._message = fields if isinstance(fields, Message) else context.contract.build(name, fields)
        self._persistence = persistence
        cancel = options.get("cancel") if cancel is None else cancel
        if cancel is not None and not isinstance(cancel, Signal):
            raise bad_field("cancel", f"must be a Signal, not {kind_of(cancel)}")
        self._interrupts = (context.closing,) if cancel is None else (context.closing, cancel)
        self._cancel = cancel
        self._request_id = request_id.lower() if request_id else str(uuid.uuid4())
        self._deadline_ms = context.now_ms() + timeout_ms
        self._token: str | None = None
        self._is_token_refreshed = False
        self._counted = 0
        self._outcome = "not-executed"

    def run(self) -> Steps[Execution]:
        trace = Trace(self._method, self._message, self._traceparent, self._request_id)
        try:
            execution = yield from self._run(trace)
        except BaseException as thrown:
            trace.end(thrown)
            raise
        trace.end(None)
        return execution

    def _run(self, trace: Trace) -> Steps[Execution]:
        attempt = 0
        while True:
            attempt += 1
            endpoint: str | None = None
            try:
                self._assert_open()
                if self._cancel is not None and self._cancel.is_set():
                    raise not_sent("CANCELLED", "the operation was cancelled")
                self._token = None
                self._token = yield from self._context.tokens.token(self._wait)
                self._assert_open()
                # Only now: the exchange of an API key may have left an endpoint that fails.
                endpoint = self._context.endpoints.current()
                execution = yield from self._attempt(endpoint, self._token, trace)
            except QuoinError as failure:
                error = self._concluded(failure)
                self._outcome = error.outcome
                if error.code in _DECIDED and self._context.on_answer is not None:
                    yield from self._context.on_answer()
                yield from self._prepare_next(attempt, endpoint, error, self._is_uncounted(failure))
                continue
            if self._context.on_answer is not None:
                yield from self._context.on_answer()
            return execution

    def _attempt(self, endpoint: str, token: str, trace: Trace) -> Steps[Execution]:
        remaining_ms = self._remaining_ms()
        if remaining_ms <= 0:
            raise not_sent("DEADLINE_EXCEEDED", "no time was left to send the request")
        start_ms = self._context.now_ms()
        span = trace.attempt(endpoint)
        timeout_ms = min(remaining_ms, self._persistence.attempt_timeout_ms or remaining_ms)
        request = Request(self._method, self._message, metadata_of(token, self._request_id, span.headers))
        try:
            reply: Reply = yield Send(endpoint, request, timeout_ms, self._cancel)
        except BaseException as thrown:
            span.end(thrown)
            raise
        span.end(None)
        return Execution(reply.message, reply.replayed, attempt_start_ms=start_ms)

    def _prepare_next(self, attempt: int, endpoint: str | None, error: QuoinError, is_uncounted: bool) -> Steps[None]:
        """Prepares another attempt, or raises the error if there must be none."""
        is_passing = error.code == "UNAVAILABLE" or self._is_late_attempt(error)
        # Also after the last attempt: the next operation then begins elsewhere.
        if is_passing and endpoint is not None:
            self._context.endpoints.leave(endpoint, error.leader_endpoint if self._context.follow_leader else None)
        if not is_uncounted:
            self._counted += 1
        if self._counted >= self._persistence.attempts_max:
            raise error
        if error.code == "UNAUTHENTICATED" and self._token and not self._is_token_refreshed:
            self._is_token_refreshed = True
            failure = yield from self._refresh_token(self._token, error)
            # Without a new token, the reason of this failure is the missing token.
            if failure is not None:
                yield from self._prepare_next(attempt, None, failure, is_unreached(failure))
            return
        limited_ms = error.retry_delay_ms if error.reason == "RATE_LIMITED" else None
        if not is_passing and limited_ms is None:
            raise error
        pause = unreached_pause_ms if is_uncounted else backoff_ms
        pause_ms = pause(attempt, self._context.surroundings.random()) + (limited_ms or 0)
        if pause_ms >= self._remaining_ms():
            raise error
        yield Wait(self._interrupts, pause_ms)
        # The pause may have taken longer. The earlier error says more than the passed deadline.
        is_interrupted = any(signal.is_set() for signal in self._interrupts)
        if self._remaining_ms() <= 0 and not is_interrupted:
            raise error

    def _is_uncounted(self, failure: QuoinError) -> bool:
        return is_unreached(failure) and self._context.follow_leader and not self._persistence.counts_unreached

    def _is_late_attempt(self, error: QuoinError) -> bool:
        """Whether only the member was too slow, and the operation still has time."""
        is_bounded = self._persistence.attempt_timeout_ms is not None
        return error.code == "DEADLINE_EXCEEDED" and is_bounded and self._remaining_ms() > 0

    def _refresh_token(self, refused: str, refusal: QuoinError) -> Steps[QuoinError | None]:
        """Why there is no new token for the next attempt. None = there is one."""
        try:
            token = yield from self._context.tokens.refresh(refused, self._wait)
        except QuoinError as error:
            return self._concluded(error)
        return refusal if token is None else None

    def _wait(self, signal: Signal) -> Steps[None]:
        """Waits for work that operations may share. The work continues if this operation stops waiting."""
        yield Wait((signal, *self._interrupts), max(0.0, self._remaining_ms()))
        if signal.is_set():
            return
        self._assert_open()
        if self._cancel is not None and self._cancel.is_set():
            raise not_sent("CANCELLED", "the operation was cancelled")
        raise not_sent("DEADLINE_EXCEEDED", "the deadline passed while waiting for a token")

    def _assert_open(self) -> None:
        if self._context.closing.is_set():
            raise not_sent("CANCELLED", "the client is closed")

    def _remaining_ms(self) -> float:
        return self._deadline_ms - self._context.now_ms()

    def _concluded(self, error: QuoinError) -> QuoinError:
        """The error with the certain outcome of all attempts: only a decided answer settles an unknown outcome."""
        is_settled = error.code in _DECIDED or error.reason == "QUOTA"
        outcome = "unknown" if self._outcome == "unknown" and not is_settled else error.outcome
        return error.replaced(outcome=outcome, request_id=self._request_id)
