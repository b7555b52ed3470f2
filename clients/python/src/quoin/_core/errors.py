"""The only family of exceptions of the SDK. None ever contains a token, an API key or a password."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quoin._core.wire import Contract

# Codes that are refusals by default. All others may come after the execution.
REFUSALS = frozenset(
    "INVALID_ARGUMENT NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED"
    " UNAUTHENTICATED".split()
)
# The first words of gRPC for a call that was never sent. With other words the outcome is `unknown`, which is never
# wrong.
NEVER_SENT = re.compile(
    r"failed to connect to all addresses|connections to all backends failing|errors resolving|DNS resolution failed"
    r"|empty address list"
)
# Its first words for a request that is too large to be sent.
UNSENDABLE = "CLIENT: Sent message larger than max"
# Its first words for a stream that ended without a status: the member, or a device on the way, went away.
LOST = re.compile(r"(Received )?RST_STREAM with (error )?code [02]\b|Stream removed")


class QuoinError(Exception):
    """A call has failed. There is a class for each code, and below it one for each reason."""

    # The name of the gRPC status, such as `NOT_FOUND`.
    code: str
    # What a program decides by, such as `KEY_NOT_FOUND`. Empty = none, for example because no member has answered.
    reason: str
    # `not-executed`, or `unknown` = it may have been executed. Then repeat it with the same `request_id` within 300 s.
    outcome: str
    # Facts by name, such as `field`.
    details: Mapping[str, str]
    # The pause before a retry that the service asks for, in milliseconds. None = none.
    retry_delay_ms: float | None
    # The leader's address as `host:port`. None = not known.
    leader_endpoint: str | None
    # The request id of all attempts. None = the operation did not get that far.
    request_id: str | None

    def __init__(
        self,
        message: str,
        *,
        code: str = "UNKNOWN",
        reason: str = "",
        outcome: str | None = None,
        details: Mapping[str, str] | None = None,
        retry_delay_ms: float | None = None,
        leader_endpoint: str | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.reason = reason
        self.outcome = outcome or ("not-executed" if code in REFUSALS else "unknown")
        self.details = dict(details or {})
        self.retry_delay_ms = retry_delay_ms
        self.leader_endpoint = leader_endpoint
        self.request_id = request_id

    @property
    def retryable(self) -> bool:
        """Whether the same call with the same request id may succeed later, with nothing changed."""
        passing = self.reason in ("RATE_LIMITED", "TOO_MANY_STREAMS")
        return passing or self.code in ("UNAVAILABLE", "DEADLINE_EXCEEDED")

    def replaced(self, **fields: Any) -> QuoinError:
        """The same error with some fields replaced, without its traceback."""
        changed = quoin_error(**{**self._fields(), **fields})
        changed.__cause__ = self.__cause__
        return changed

    def __str__(self) -> str:
        words = [word for word in (self.code, self.reason) if word]
        return f"{self.message} ({' / '.join(words)})"

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuilt, (self._fields(),)

    def _fields(self) -> dict[str, Any]:
        names = ("code", "reason", "outcome", "details", "retry_delay_ms", "leader_endpoint", "request_id", "message")
        return {name: getattr(self, name) for name in names}


def _rebuilt(fields: dict[str, Any]) -> QuoinError:
    return quoin_error(**fields)


def quoin_error(message: str, *, code: str, reason: str = "", **fields: Any) -> QuoinError:
    """An error of the class of its reason, or else of its code."""
    from quoin._generated.reasons import BY_CODE, BY_REASON

    kind = BY_REASON.get(reason) or BY_CODE.get(code, QuoinError)
    return kind(message, code=code, reason=reason, **fields)


def bad_field(field: str, problem: str) -> QuoinError:
    """The error of an argument that never reaches a member."""
    return quoin_error(f"{field} {problem}", code="INVALID_ARGUMENT", reason="BAD_FIELD", details={"field": field})


def not_sent(code: str, message: str) -> QuoinError:
    """The error of a call that ends before it is sent."""
    reason = "DEADLINE" if code == "DEADLINE_EXCEEDED" else ""
    return quoin_error(message, code=code, reason=reason, outcome="not-executed")


def is_unreached(error: QuoinError) -> bool:
    """Whether an attempt has reached no member: such attempts load no member, and do not count."""
    return error.code == "UNAVAILABLE" and error.reason == "" and error.outcome == "not-executed"


def from_status(
    code: str, details: str, trailers: Mapping[str, str | bytes], endpoint: str, contract: Contract
) -> QuoinError:
    """The error of a call, from its gRPC status and trailers."""
    is_answer = "error-reason" in trailers or "outcome" in trailers
    if not is_answer and code == "UNAVAILABLE" and NEVER_SENT.match(details):
        return no_connection(endpoint, details)
    if not is_answer and (code == "UNAVAILABLE" or (code == "INTERNAL" and LOST.match(details))):
        message = f"the connection to {endpoint} was lost before the answer ({details})"
        return quoin_error(message, code="UNAVAILABLE", details={"address": endpoint, "connection": "closed"})
    if not is_answer and code == "DEADLINE_EXCEEDED":
        return quoin_error(f"no answer from {endpoint} in time", code=code, reason="DEADLINE")
    if not is_answer and code == "RESOURCE_EXHAUSTED" and details.startswith(UNSENDABLE):
        return quoin_error(details, code=code, outcome="not-executed")
    info = contract.status_details(trailers.get("grpc-status-details-bin", b""))
    return quoin_error(
        details,
        code=code,
        reason=_text(trailers, "error-reason") or info.reason,
        outcome=_outcome(_text(trailers, "outcome")),
        details=info.metadata,
        retry_delay_ms=info.retry_delay_ms,
        leader_endpoint=_text(trailers, "leader-endpoint") or None,
    )


# Why there is no connection, in the order in which they are tried; the detail `connection` of the error.
_PROBLEMS = [
    (r"resolv|DNS|lookup", "unknown-name", "the name has no address"),
    (r"refused", "refused", "no process listens there"),
    (r"unreachable|No route", "unreachable", "there is no way to this network"),
    (
        r"CERTIFICATE_VERIFY_FAILED.*expired|certificate has expired",
        "expired-certificate",
        "its certificate has expired",
    ),
    (r"Hostname Verification|Peer name|doesn't match", "wrong-certificate", "its certificate is for another address"),
    (
        r"CERTIFICATE_REQUIRED|ALERT.*(CERTIFICATE|CA)",
        "client-certificate",
        "it refuses the client certificate, or wants one",
    ),
    (r"(?i)certificate", "untrusted-certificate", "its certificate is not trusted"),
    (r"WRONG_VERSION_NUMBER|packet length too long", "no-tls", "the port does not speak TLS"),
    (r"(?i)proxy", "proxy", "the proxy does not connect"),
    (r"(?i)http1|preface|Failed parsing HTTP/2", "other-protocol", "the port speaks another protocol"),
    (r"(?i)timed out|timeout|deadline", "timeout", "no answer in time"),
    (r"(?i)reset|closed|EOF|Broken pipe", "closed", "the other side closed the connection"),
]


def no_connection(endpoint: str, text: str) -> QuoinError:
    """The error of a request that was never sent, from the words of gRPC."""
    detail = text.split("last error: ", 1)[-1]
    problem, words = next(((p, w) for pattern, p, w in _PROBLEMS if re.search(pattern, detail)), ("other", ""))
    return quoin_error(
        f"no connection to {endpoint}: {words + ' ' if words else ''}({detail})",
        code="UNAVAILABLE",
        outcome="not-executed",
        details={"address": endpoint, "connection": problem},
    )


def _text(trailers: Mapping[str, str | bytes], name: str) -> str:
    value = trailers.get(name, "")
    return value if isinstance(value, str) else ""


def _outcome(text: str) -> str | None:
    return text if text in ("not-executed", "unknown") else None
