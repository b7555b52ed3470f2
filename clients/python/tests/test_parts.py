"""The small parts of the core: endpoints, messages, errors, transactions, and the generated files."""

from __future__ import annotations

import os
import pickle
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulation import error_of, message

import quoin
from quoin import ops
from quoin._core.endpoints import Endpoints, is_endpoint, is_loopback
from quoin._core.errors import from_status, no_connection
from quoin._core.transactions import BYTES_MAX, WRITES_MAX, BatchCollector, OptimisticState, transaction_result
from quoin._generated import decode
from quoin._generated.reasons import BY_CODE, BY_REASON
from quoin._io.channels import CONTRACT

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize(("text", "valid"), [("a:1", True), ("[::1]:7400", True), ("a.b-c_d:65535", True)])
def test_endpoints_that_are_valid(text: str, valid: bool) -> None:
    assert is_endpoint(text)


@pytest.mark.parametrize(
    "text", ["a", "a:", ":1", "a:0", "a:65536", "http://a:1", "::1:7400", "a:1\n", 7, None, "a b:1"]
)
def test_endpoints_that_are_not(text: object) -> None:
    assert not is_endpoint(text)


def test_this_machine_is_known() -> None:
    assert all(map(is_loopback, ["localhost:1", "127.0.0.1:1", "127.9.9.9:1", "[::1]:1"]))
    assert not any(map(is_loopback, ["example.com:1", "10.0.0.1:1", "localhost.example:1", "[2001:db8::1]:1"]))


@given(
    st.integers(1, 6),
    st.lists(st.sampled_from([None, "a:1", "x:9", "bad"]), max_size=40),
    st.sets(st.sampled_from(["y:1", "z:2"])),
)
def test_every_configured_endpoint_has_its_turn(count: int, leaders: list[str | None], learned: set[str]) -> None:
    configured = [f"m{at}:1" for at in range(count)]
    endpoints = Endpoints(configured, 0)
    for leader in leaders:
        endpoints.leave(endpoints.current(), leader)
        assert is_endpoint(endpoints.current())
    endpoints.learn([*learned, "bad"])
    tried = set()
    for _ in range(count + 1 + len(learned)):
        tried.add(endpoints.current())
        endpoints.leave(endpoints.current(), None)
    assert tried >= set(configured)


def test_calls_that_fail_together_leave_an_endpoint_once() -> None:
    endpoints = Endpoints(["a:1", "b:2", "c:3"], 0)
    for _ in range(5):
        endpoints.leave("a:1", None)
    assert endpoints.current() == "b:2"


@given(st.text(), st.binary(max_size=50), st.integers(-(2**53) + 1, 2**53 - 1))
def test_what_a_message_carries_comes_back(key: str, value: bytes, revision: int) -> None:
    fields = {"key": key, "value": value, "expected_mod_revision": revision}
    found: Any = CONTRACT.build("PutKeyRequest", fields)
    again: Any = type(found).FromString(found.SerializeToString())
    assert (again.key, again.value, again.expected_mod_revision) == (key, value, revision)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"key": 3}, "key"),
        ({"key": None}, "key"),
        ({"key": "\ud800"}, "key"),
        ({"value": 3}, "value"),
        ({"value": ["x"]}, "value"),
        ({"ttl_seconds": 2**53}, "ttl_seconds"),
        ({"ttl_seconds": 1.5}, "ttl_seconds"),
        ({"ttl_seconds": True}, "ttl_seconds"),
        ({"return_previous": 1}, "return_previous"),
        ({"guard": 7}, "guard"),
        ({"guard": {"lock_name": 7}}, "guard.lock_name"),
        ({"nonsense": 7}, "nonsense"),
    ],
)
def test_what_a_message_cannot_carry_is_refused_with_the_name_of_the_field(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(quoin.BadFieldError) as caught:
        CONTRACT.build("PutKeyRequest", fields)
    assert caught.value.details["field"] == field
    assert caught.value.outcome == "not-executed"
    assert not caught.value.retryable


@pytest.mark.parametrize(
    ("part", "field"),
    [
        ({}, "success[0]"),
        ({"put": {"key": "a"}, "get": {"key": "a"}}, "success[0]"),
        (ops.put("a", 7), "success[0].put.value"),  # type: ignore[arg-type]
        (ops.transaction(success=[ops.get(3)]), "success[0].transaction.success[0].get.key"),  # type: ignore[arg-type]
        (ops.transaction(compare=[ops.key("a")]), "success[0].transaction.compare[0].key"),
        (ops.transaction(compare=[ops.key("a", exists=True, version=1)]), "success[0].transaction.compare[0].key"),
        ("put", "success[0]"),
    ],
)
def test_a_part_of_a_transaction_is_named_by_its_path(part: Any, field: str) -> None:
    with pytest.raises(quoin.BadFieldError) as caught:
        CONTRACT.build("TransactRequest", {"success": [part]})
    assert caught.value.details["field"] == field


def test_a_guard_is_taken_from_whatever_has_one() -> None:
    guard = quoin.Guard("l", 7, rw=True, namespace="n")

    class Holder:
        def __init__(self) -> None:
            self.guard = guard

    for given_ in (guard, Holder(), {"lock_name": "l", "fencing_token": 7, "rw": True}):
        found: Any = CONTRACT.build("PutKeyRequest", {"guard": given_})
        assert (found.guard.lock_name, found.guard.fencing_token, found.guard.rw) == ("l", 7, True)
    append: Any = CONTRACT.build("AppendEventRequest", {"guard": guard})
    assert append.guard.namespace == "n"
    release: Any = CONTRACT.build("TransactRequest", {"success": [ops.release(guard)]})
    assert release.success[0].release.fencing_token == 7


def test_a_guard_of_another_namespace_is_refused() -> None:
    with pytest.raises(quoin.BadFieldError, match="namespace other"):
        CONTRACT.build("PutKeyRequest", {"namespace": "n", "guard": quoin.Guard("l", 7, namespace="other")})


def test_every_reason_and_every_code_has_a_class() -> None:
    for reason, kind in BY_REASON.items():
        assert issubclass(kind, quoin.QuoinError)
        assert getattr(quoin, kind.__name__) is kind
        assert reason in (kind.__doc__ or "") or kind in BY_CODE.values()
    assert issubclass(quoin.KeyNotFoundError, quoin.NotFoundError)
    assert issubclass(quoin.DeadlineError, TimeoutError)
    assert type(error_of("NOT_FOUND", "A_REASON_OF_A_NEWER_RELEASE")) is quoin.NotFoundError


def test_an_error_survives_another_process() -> None:
    error = error_of("FAILED_PRECONDITION", "REVISION_MISMATCH", details={"mod_revision": "7"}, request_id="r")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is quoin.RevisionMismatchError
    assert (again.details, again.request_id, str(again)) == (error.details, "r", str(error))


@pytest.mark.parametrize(
    ("code", "text", "outcome", "connection"),
    [
        (
            "UNAVAILABLE",
            "failed to connect to all addresses; last error: ipv4:1.2.3.4:1: Connection refused",
            "not-executed",
            "refused",
        ),
        (
            "UNAVAILABLE",
            "errors resolving x:1: [address lookup failed: Domain name not found]",
            "not-executed",
            "unknown-name",
        ),
        ("UNAVAILABLE", "recvmsg:Connection reset by peer", "unknown", "closed"),
        ("INTERNAL", "Received RST_STREAM with error code 2", "unknown", "closed"),
    ],
)
def test_a_call_without_an_answer_has_the_outcome_that_is_certain(
    code: str, text: str, outcome: str, connection: str
) -> None:
    error = from_status(code, text, {}, "a:1", CONTRACT)
    assert (error.code, error.outcome, error.reason) == ("UNAVAILABLE", outcome, "")
    assert error.details == {"address": "a:1", "connection": connection}
    assert error.retryable


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "Ssl handshake failed: SSL_ERROR_SSL: error:0A000086:CERTIFICATE_VERIFY_FAILED: certificate has expired",
            "expired-certificate",
        ),
        ("Hostname Verification Check failed.", "wrong-certificate"),
        ("CERTIFICATE_VERIFY_FAILED: self signed certificate in chain", "untrusted-certificate"),
        ("SSL_ERROR_SSL: WRONG_VERSION_NUMBER", "no-tls"),
        ("connection attempt timed out before receiving SETTINGS frame", "timeout"),
        ("Network is unreachable", "unreachable"),
        ("Endpoint read failed: Socket closed", "closed"),
    ],
)
def test_the_cause_of_a_missing_connection_is_told(text: str, problem: str) -> None:
    assert no_connection("a:1", text).details["connection"] == problem


def test_a_damaged_trailer_hides_nothing() -> None:
    trailers: dict[str, str | bytes] = {
        "error-reason": "FENCED",
        "outcome": "not-executed",
        "grpc-status-details-bin": b"\xff\xff",
    }
    error = from_status("ABORTED", "text", trailers, "a:1", CONTRACT)
    assert (type(error), error.outcome) == (quoin.FencedError, "not-executed")


keys = st.text("abc", min_size=1, max_size=2)
writes = st.one_of(
    st.builds(ops.put, keys, st.integers(0, 900_000).map(lambda size: b"x" * size)), st.builds(ops.delete, keys)
)


@given(st.lists(writes, max_size=30))
def test_a_batch_keeps_the_order_and_its_bounds(given_writes: list[Any]) -> None:
    collector = BatchCollector()
    parts = [part for write in given_writes for part in collector.add(write)] + list(collector.rest())

    def key_of(write: Any) -> tuple[str, str]:
        kind = next(iter(write))
        return kind, write[kind]["key"]

    assert [key_of(write) for part in parts for write in part] == [key_of(write) for write in given_writes]
    for part in parts:
        names = [key_of(write)[1] for write in part]
        assert 0 < len(names) == len(set(names)) <= WRITES_MAX
        assert sum(len(write.get("put", {}).get("value", b"")) for write in part) <= BYTES_MAX


WRONG: Any = 3


@pytest.mark.parametrize(
    "write", [{}, ops.get("a"), {"put": {"key": "a", "value": "b"}, "delete": {"key": "a"}}, 7, ops.put(WRONG, "x")]
)
def test_a_batch_takes_puts_and_deletes(write: Any) -> None:
    with pytest.raises(quoin.BadFieldError):
        list(BatchCollector().add(write))


@given(
    st.dictionaries(st.text(max_size=3), st.binary(max_size=3)),
    st.lists(writes, max_size=8),
    st.text("abc", max_size=2),
)
def test_an_optimistic_transaction_sees_its_own_writes(
    stored: dict[str, bytes], given_writes: list[Any], prefix: str
) -> None:
    state = OptimisticState()
    state.remember_prefix(prefix, {key: value for key, value in stored.items() if key.startswith(prefix)}, 5)
    model = dict(stored)
    for write in given_writes:
        if "put" in write:
            state.put(write["put"]["key"], write["put"]["value"], {})
            model[write["put"]["key"]] = write["put"]["value"]
        else:
            state.delete(write["delete"]["key"])
            model.pop(write["delete"]["key"], None)
    expected = sorted((key for key in model if key.startswith(prefix)), key=str.encode)
    assert [(entry.key, entry.value) for entry in state.listed(prefix)] == [(key, model[key]) for key in expected]
    assert state.conditions == [{"prefix": {"prefix": prefix, "unchanged_since": 5}}]


def test_values_that_were_left_out_are_none() -> None:
    kv = message("KeyValue", key="k")
    results = [
        message("TransactionResult", get=message("GetResult", kv=kv)),
        message("TransactionResult", read_memory=message("ReadMemoryResult", version=3)),
        message("TransactionResult", list=message("ListResult", items=[kv])),
    ]
    found: Any = transaction_result(message("TransactResponse", results=results, values_omitted=True))
    assert [found.results[0].kv.value, found.results[1].data, found.results[2].items[0].value] == [None, None, None]
    found = transaction_result(message("TransactResponse", results=results))
    assert [found.results[0].kv.value, found.results[1].data, found.results[2].items[0].value] == [b"", b"", b""]


NO_ARGUMENT: Any = object()
NOBODY = ["127.0.0.1:1"]


@pytest.mark.parametrize(
    ("use", "field"),
    [
        (lambda client: client.logs.create("l", settings=NO_ARGUMENT), "settings"),
        (lambda client: client.logs.update_settings("l", NO_ARGUMENT), "settings"),
        (lambda client: client.batch("default", NO_ARGUMENT), "writes"),
        (lambda client: client.memory.open("default", "r").read_at(NO_ARGUMENT, 1), "offset"),
        (lambda client: client.memory.open("default", "r").write_at(NO_ARGUMENT, b""), "offset"),
        (lambda client: client.kv.get("default", "k", timeout_ms=""), "timeout_ms"),
        (lambda _: quoin.Client.exchange_api_key(NOBODY, "key", timeout_ms=NO_ARGUMENT), "timeout_ms"),
        (lambda _: quoin.Client.log_in(NOBODY, "a@b.example", "password", timeout_ms=NO_ARGUMENT), "timeout_ms"),
        (lambda _: quoin.AdminClient(NOBODY, token="t").put_settings(NO_ARGUMENT), "values"),
        (lambda _: quoin.Client(NOBODY, token="t", tls=quoin.TlsOptions(ca_file="\0")), "tls"),
        (
            lambda _: quoin.Client(NOBODY, token="t", channel=quoin.ChannelOptions(max_message_bytes=2**40)),
            "channel.max_message_bytes",
        ),
    ],
)
def test_an_argument_of_a_wrong_kind_is_named(use: Any, field: str) -> None:
    with quoin.Client(NOBODY, token="t") as client, pytest.raises(quoin.BadFieldError) as caught:
        use(client)
    assert caught.value.details["field"] == field


def test_a_request_that_is_too_large_to_be_sent_is_not_executed() -> None:
    sent = from_status("RESOURCE_EXHAUSTED", "CLIENT: Sent message larger than max (5 vs. 4)", {}, "a:1", CONTRACT)
    received = from_status("RESOURCE_EXHAUSTED", "CLIENT: Received message larger than max", {}, "a:1", CONTRACT)
    assert (sent.outcome, received.outcome) == ("not-executed", "unknown")


# A certificate of its own, and its key, encrypted with the words "secret".
CERTIFICATE = """\
-----BEGIN CERTIFICATE-----
MIIBbjCCARWgAwIBAgIUHr9kcjQkpiQB9TXfCqjmmPfS8R0wCgYIKoZIzj0EAwIw
DDEKMAgGA1UEAwwBeDAgFw0yNjEyMDEwNDA1MjFaGA8yMTI2MTEwNzA0MDUyMVow
DDEKMAgGA1UEAwwBeDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABLyaUyvHSeoA
Ny+MQAucc/e4JbA9V2pCNXd8CPUuK4a1mPf4Cbm2moeEHQ9J9cn4mh2xc6nCu75G
tbj2r/oipO6jUzBRMB0GA1UdDgQWBBT2rcwon1dPeNslOXv02Hk1p5z1MTAfBgNV
HSMEGDAWgBT2rcwon1dPeNslOXv02Hk1p5z1MTAPBgNVHRMBAf8EBTADAQH/MAoG
CCqGSM49BAMCA0cAMEQCIC6rXhym0qFxt503hOdS3g8qCgC4gyFcK+wrOLGHu/NT
AiBuVz9GbUGLZrx9qyWErG5F6TiYrg6WsOrFGMWm2tPGAw==
-----END CERTIFICATE-----
"""
ENCRYPTED_KEY = """\
-----BEGIN ENCRYPTED PRIVATE KEY-----
MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAiMsY4VvtGsqQICCAAw
DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEBHQw+L5cqahVoq3yWlAlvAEgZAf
5Iw0BKcatvY3TAHJrFGPdBK0TFh4sZF9SMSlwm0lv15VAC0dSSz5jnb91WWKaVIk
KO234yX04rAxFjpDt5cWhCD0l20URpM0N6x0VvkyTY2rAhMAB7OmMrVnOkYlQ+BT
Kk8YF06fgX9QeI0/HG3NvSatFtF50Jflx4ArQFaJ9Rfp3bQDRw/z2KMYroZcu3E=
-----END ENCRYPTED PRIVATE KEY-----
"""


def test_an_encrypted_key_is_refused_without_a_question(tmp_path: Path) -> None:
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    certificate.write_text(CERTIFICATE)
    key.write_text(ENCRYPTED_KEY)
    files = {"certificate_file": str(certificate), "key_file": str(key)}
    code = f"import quoin; quoin.Client(['a:1'], token='t', tls=quoin.TlsOptions(**{files!r}))"
    terminal, stdin = pty.openpty()
    os.write(terminal, b"secret\n")
    command = [sys.executable, "-c", code]
    # Without a terminal of its own, the question would come to this one.
    done = subprocess.run(
        command, stdin=stdin, capture_output=True, text=True, timeout=60, start_new_session=True, check=False
    )
    os.close(terminal)
    os.close(stdin)
    assert "BadFieldError: tls cannot be used: the key is encrypted" in done.stderr
    assert "phrase" not in done.stderr


def test_secrets_are_not_shown() -> None:
    answers = ["ExchangeTokenResponse", "LoginResponse"]
    shown = [
        repr(decode.access_token(message(answers[0], access_token="secret"))),
        repr(decode.login(message(answers[1], access_token="secret", user=message("User")))),
        repr(decode.created_api_key(message("CreateApiKeyResponse", key="secret", api_key=message("ApiKey")))),
        repr(quoin.TlsOptions(certificate="public", key="secret")),
    ]
    assert not [one for one in shown if "secret" in one]


def test_the_generated_files_are_current() -> None:
    if not (ROOT.parents[1] / "proto").exists():
        pytest.skip("the contract is only in the repository")
    done = subprocess.run([sys.executable, "scripts/generate.py", "--check"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
