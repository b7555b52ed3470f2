"""The tokens of calls: a given one, one in a file, or those of an API key or a password."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from quoin._core.context import Context, Tokens, Waiting
from quoin._core.effects import Signal, Spawn, Steps
from quoin._core.errors import QuoinError, bad_field, quoin_error
from quoin._core.operation import Persistence, execute
from quoin._core.wire import checked_text

# Part of its life after which a token is replaced: early enough for several retries.
REFRESH_AT = 0.8
# Pause before a retry to replace a token that still works.
RETRY_PAUSE_MS = 1_000.0
EXCHANGE_TIMEOUT_MS = 5_000.0
# A password is hashed before the answer, which is slow by design: this is the maximum of the service.
LOGIN_TIMEOUT_MS = 10_000.0
# The part of this time that one member has.
EXCHANGE_SHARE, LOGIN_SHARE = 0.4, 0.5
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")


def is_token(text: str) -> bool:
    """Whether a text can be sent as a bearer token (RFC 6750, section 2.1)."""
    return _TOKEN.fullmatch(text) is not None


class GivenToken:
    """A token that never changes; empty = none, for the calls that return one."""

    def __init__(self, token: str) -> None:
        if token and not is_token(token):
            raise bad_field("token", "is not a bearer token")
        self._token = token

    def token(self, wait: Waiting) -> Steps[str]:
        yield from ()
        return self._token

    def refresh(self, refused: str, wait: Waiting) -> Steps[str | None]:
        yield from ()
        return None


class FileToken:
    """The first non-empty line of a file that another program keeps current. It is read again after a refusal."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._token: str | None = None

    def token(self, wait: Waiting) -> Steps[str]:
        yield from ()
        return self._token or self._read()

    def refresh(self, refused: str, wait: Waiting) -> Steps[str | None]:
        yield from ()
        token = self._read()
        return None if token == refused else token

    def _read(self) -> str:
        try:
            lines = self._path.read_text().split("\n")
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            why = "it is no text" if isinstance(error, UnicodeDecodeError) else why
            raise _no_token(f"the token file {self._path} cannot be read: {why}") from None
        token = next((line.strip() for line in lines if line.strip()), "")
        if not is_token(token):
            raise _no_token(f"there is no bearer token in {self._path}")
        self._token = token
        return token


def _no_token(message: str) -> QuoinError:
    return quoin_error(message, code="UNAUTHENTICATED", reason="NO_TOKEN")


@dataclass(slots=True)
class _Flight:
    """An exchange under way, and its end."""

    done: Signal
    token: str = ""
    error: QuoinError | None = None


class ExchangedTokens:
    """Tokens from an API key or a password: fetched on first use, and again at 80 % of their life.

    Meanwhile calls use the old one. Only one exchange is under way at a time, however many calls wait. A client without
    calls fetches nothing.
    """

    def __init__(self, exchange: Callable[[], Steps[Any]], now_ms: Callable[[], float]) -> None:
        self._exchange = exchange
        self._now_ms = now_ms
        self._lock = threading.Lock()
        self._current: str | None = None
        self._refresh_at_ms = 0.0
        self._expires_at_ms = 0.0
        self._not_before_ms = 0.0
        self._flight: _Flight | None = None

    def token(self, wait: Waiting) -> Steps[str]:
        now_ms = self._now_ms()
        begins = False
        with self._lock:
            current = self._current if now_ms < self._expires_at_ms else None
            is_due = now_ms >= self._refresh_at_ms and now_ms >= self._not_before_ms
            if self._flight is None and (current is None or is_due):
                self._flight = _Flight(Signal())
                begins = True
            flight = self._flight
        if begins and flight is not None:
            yield Spawn(self._replace(flight))
        if current is not None or flight is None:
            return current or ""
        yield from wait(flight.done)
        if flight.error is not None:
            raise flight.error.replaced()
        return flight.token

    def refresh(self, refused: str, wait: Waiting) -> Steps[str | None]:
        # If several calls were refused with the same token, the first fetches a new one, and the others get it.
        with self._lock:
            if self._current == refused:
                self._current = None
        return (yield from self.token(wait))

    def _replace(self, flight: _Flight) -> Steps[None]:
        # The life counts from before the exchange, so that the client errs early.
        start_ms = self._now_ms()
        try:
            answer = yield from self._exchange()
        except BaseException as thrown:
            error = thrown if isinstance(thrown, QuoinError) else quoin_error("the client is closed", code="CANCELLED")
            # If a member was only too slow, the operations that wait try again, at the next one.
            is_late = error.code == "DEADLINE_EXCEEDED"
            flight.error = error.replaced(code="UNAVAILABLE", reason="") if is_late else error
            # The current token still works. If it expires before a later retry succeeds, that call gets the error.
            self._not_before_ms = self._now_ms() + RETRY_PAUSE_MS
            if not isinstance(thrown, QuoinError):
                raise
        else:
            life_ms = answer.expires_in_seconds * 1e3
            with self._lock:
                self._current = flight.token = answer.access_token
                self._refresh_at_ms = start_ms + life_ms * REFRESH_AT
                self._expires_at_ms = start_ms + life_ms
        finally:
            with self._lock:
                self._flight = None
            flight.done.set()


def exchange(
    context: Context, method: str, fields: dict[str, object], options: dict[str, Any], persistence: Persistence
) -> Steps[Any]:
    """Exchanges a secret for a token. Returns the message. A repetition does no harm, whatever became of an attempt."""
    untokened = replace(context, tokens=GivenToken(""), on_answer=None)
    try:
        message = (yield from execute(untokened, method, fields, options, persistence)).message
    except QuoinError as error:
        # If the token did not arrive, no one has it.
        raise error.replaced(outcome="not-executed") from None
    if not is_token(message.access_token) or message.expires_in_seconds <= 0:
        raise quoin_error("the answer has no token that can be used", code="INTERNAL")
    return message


def exchanged_tokens(context: Context, secret: dict[str, object]) -> ExchangedTokens:
    """The tokens of an API key, or of an address and a password: one attempt at the endpoint in use."""
    for name, value in secret.items():
        if not checked_text(value, name):
            raise bad_field(name, "is empty")
    is_key = "api_key" in secret
    method = "AccountService/ExchangeToken" if is_key else "AccountService/Login"
    timeout_ms, share = (EXCHANGE_TIMEOUT_MS, EXCHANGE_SHARE) if is_key else (LOGIN_TIMEOUT_MS, LOGIN_SHARE)
    once = Persistence(attempts_max=1, counts_unreached=True, attempt_timeout_ms=timeout_ms * share)
    return ExchangedTokens(lambda: exchange(context, method, secret, {"timeout_ms": timeout_ms}, once), context.now_ms)


def tokens_of(context: Context, options: Mapping[str, Any]) -> Tokens:
    """The tokens of a client by its credentials. An empty token = none."""
    names = ("token", "token_file", "api_key", "email", "password")
    given: dict[str, object] = {
        name: checked_text(options[name], name) for name in names if options.get(name) is not None
    }
    if set(given) == {"token"}:
        return GivenToken(str(given["token"]))
    if set(given) == {"token_file"}:
        return FileToken(str(given["token_file"]))
    if set(given) in ({"api_key"}, {"email", "password"}):
        return exchanged_tokens(context, given)
    raise bad_field("credentials", "must be one of token, token_file, api_key, and email with password")
