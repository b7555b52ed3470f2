"""A client of Quoin's HTTP interface in Python, on the standard library alone, written from the specification.

    QUOIN_API_KEY=... python interop_http.py SCENARIO HOST:PORT...

Plays one scenario against the members of a cluster, each request at another member, and exits with 0 if everything was as
the specification says. It knows what the specification shows, and of answers whose shape that leaves open only what it
needs: the id of a log, the entries of a list.
"""

import base64
import http.client
import itertools
import json
import os
import sys
import threading
import time
import uuid

TIMEOUT_SECONDS = 20
RETRIES = 5
UUID_LENGTH = 36


class Answer:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = json.loads(body) if body else None


def once(member, method, path, token, body, headers):
    connection = http.client.HTTPConnection(member, timeout=TIMEOUT_SECONDS)
    sent = dict(headers)
    if token is not None:
        sent["Authorization"] = "Bearer " + token
    try:
        connection.request(method, path, body, sent)
        response = connection.getresponse()
        return Answer(response.status, response.headers, response.read())
    finally:
        connection.close()


def ask(members, method, path, token=None, body=None, headers=None):
    """Asks the next member. What is refused for the moment is asked again, as the specification advises."""
    given = dict(headers or {})
    if isinstance(body, dict):
        body = json.dumps(body).encode()
        given["Content-Type"] = "application/json"
    for _ in range(RETRIES):
        answer = once(next(members), method, path, token, body, given)
        if answer.status not in (429, 503):
            break
        time.sleep(float(answer.headers.get("Retry-After", "1")))
    if answer.status >= 400:
        if not isinstance(answer.body["error"], str):
            raise AssertionError(f"an error without a message: {answer.body!r}")
    return answer


def expect(actual, expected):
    if actual != expected:
        raise AssertionError(f"expected {expected!r}, got {actual!r}")


def expect_status(answer, status):
    if answer.status != status:
        raise AssertionError(f"expected {status}, got {answer.status}: {answer.body!r}")
    return answer.body


def exchange(members, api_key, **wishes):
    return ask(members, "POST", "/auth/token", body={"api_key": api_key, **wishes})


def token_of(members):
    return expect_status(exchange(members, os.environ["QUOIN_API_KEY"]), 200)["access_token"]


def claims_of(token):
    payload = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))


def is_uuid(text):
    return len(text) == UUID_LENGTH and str(uuid.UUID(text)) == text


def new_log(members, token):
    log = expect_status(ask(members, "POST", "/logs", token, {"name": f"interop-{uuid.uuid4()}"}), 201)
    expect(is_uuid(log["log_id"]), True)
    return "/logs/" + log["log_id"]


def token_exchange(members):
    api_key = os.environ["QUOIN_API_KEY"]
    answer = expect_status(exchange(members, api_key), 200)
    expect((answer["token_type"], answer["expires_in"]), ("Bearer", 3600))
    claims = claims_of(answer["access_token"])
    expect(claims["exp"] - claims["iat"], 3600)
    expect(isinstance(claims["sub"], str) and isinstance(claims["namespaces"], list), True)
    expect(set(claims["access"]) <= {"read", "write", "admin"}, True)
    expect(expect_status(exchange(members, api_key, expires_in_secs=None), 200)["expires_in"], 3600)
    expect(expect_status(exchange(members, api_key, expires_in_secs=60), 200)["expires_in"], 60)
    longest = expect_status(exchange(members, api_key, expires_in_secs=2**63 - 1), 200)["expires_in"]
    expect(3600 < longest <= 86400, True)
    expect_status(exchange(members, "no key at all"), 401)
    expect_status(exchange(members, api_key[:-1] + ("a" if api_key[-1] != "a" else "b")), 401)
    expect_status(ask(members, "GET", "/logs"), 401)
    expect_status(ask(members, "GET", "/logs", "no.to.ken"), 401)
    login = {"email": f"{uuid.uuid4()}@example.com", "password": "a wrong password"}
    expect_status(ask(members, "POST", "/auth/login", body=login), 401)


def keys(members):
    token = token_of(members)
    name = f"interop {uuid.uuid4()}"
    made = expect_status(ask(members, "POST", "/keys", token, {"name": name, "expires_in_days": 1}), 201)
    expect((is_uuid(made["api_key_id"]), made["name"]), (True, name))
    time.strptime(made["created_at"][:19], "%Y-%m-%dT%H:%M:%S")
    own = expect_status(exchange(members, made["key"]), 200)["access_token"]
    listed = ask(members, "GET", "/keys?limit=1000", token)
    expect_status(listed, 200)
    expect(made["api_key_id"] in json.dumps(listed.body), True)
    expect(made["key"] in json.dumps(listed.body), False)
    expect_status(ask(members, "GET", "/logs", own), 200)
    expect_status(ask(members, "DELETE", "/keys/" + made["api_key_id"], token), 200)
    # At once, at every member: the key, and the token that it gave.
    for _ in range(6):
        expect_status(exchange(members, made["key"]), 401)
        expect_status(ask(members, "GET", "/logs", own), 401)


def logs(members):
    token = token_of(members)
    path = new_log(members, token)
    listed = expect_status(ask(members, "GET", "/logs?limit=1000", token), 200)
    expect(path.rpartition("/")[2] in json.dumps(listed), True)
    unknown = f"/logs/{uuid.uuid4()}/append"
    expect_status(ask(members, "POST", unknown, token, b"x"), 404)
    expect_status(ask(members, "POST", path + "/append", None, b"x"), 401)


def append(members):
    token = token_of(members)
    path = new_log(members, token) + "/append"
    first = expect_status(ask(members, "POST", path, token, b"\x00\xff raw"), 200)
    expect((first["success"], first["sequence"]), (True, 1))
    # Headers are bytes: UTF-8 as it is.
    key = {"Idempotency-Key": "Bestellung 7 für Ärzte".encode()}
    second = expect_status(ask(members, "POST", path, token, b"second", key), 200)
    expect(second["sequence"], 2)
    for payload in (b"second", b"another payload"):
        expect(expect_status(ask(members, "POST", path, token, payload, key), 200)["sequence"], 2)
    expect_status(ask(members, "POST", path, token, b"x", {"Expected-Sequence": "0"}), 409)
    expect_status(ask(members, "POST", path, token, b"x", {"Expected-Sequence": "one"}), 400)
    third = expect_status(ask(members, "POST", path, token, b"x", {"Expected-Sequence": "2"}), 200)
    expect(third["sequence"], 3)
    largest = expect_status(ask(members, "POST", path, token, b"x" * 2**20), 200)
    expect(largest["sequence"], 4)
    expect_status(ask(members, "POST", path, token, b"x" * (2**20 + 1)), 413)
    fresh = new_log(members, token) + "/append"
    empty = expect_status(ask(members, "POST", fresh, token, b"x", {"Expected-Sequence": "0"}), 200)
    expect(empty["sequence"], 1)


def append_batch(members):
    token = token_of(members)
    path = new_log(members, token)
    batch = path + "/append_batch?delimiter=%0A"
    key = {"Idempotency-Key": "batch 1"}
    stored = expect_status(ask(members, "POST", batch, token, b"a\nb\nc\n", key), 200)
    expect((stored["success"], stored["sequences"]), (True, [1, 2, 3]))
    again = expect_status(ask(members, "POST", batch, token, b"a\nb\nc\nd", key), 200)
    expect(again["sequences"], [1, 2, 3, 4])
    # The key of an event of a batch is a key as any other.
    one = {"Idempotency-Key": "batch 1:1"}
    expect(expect_status(ask(members, "POST", path + "/append", token, b"b", one), 200)["sequence"], 2)
    plus = path + "/append_batch?delimiter=%2B"
    split = expect_status(ask(members, "POST", plus, token, b"1+2+3", {"Idempotency-Key": "plus"}), 200)
    expect(split["sequences"], [5, 6, 7])
    space = path + "/append_batch?delimiter=+"
    split = expect_status(ask(members, "POST", space, token, b"1+2 3", {"Idempotency-Key": "space"}), 200)
    expect(split["sequences"], [8, 9])
    expect_status(ask(members, "POST", batch, token, b"a"), 400)
    expect_status(ask(members, "POST", batch, token, b"", key), 400)
    expect_status(ask(members, "POST", path + "/append_batch", token, b"a", key), 400)
    expect_status(ask(members, "POST", path + "/append_batch?delimiter=", token, b"a", key), 400)
    events = expect_status(ask(members, "GET", path + "/events?limit=1000", token), 200)["events"]
    payloads = [base64.b64decode(event["payload"]) for event in events]
    expect(payloads, [b"a", b"b", b"c", b"d", b"1", b"2", b"3", b"1+2", b"3"])
    expect([event["sequence"] for event in events], list(range(1, 10)))


def usage(members):
    token = token_of(members)
    path = new_log(members, token) + "/append"

    def appended():
        return expect_status(ask(members, "GET", "/billing/usage", token), 200)["totals"]["events_appended"]

    before = appended()
    for _ in range(3):
        expect_status(ask(members, "POST", path, token, b"x"), 200)
    expect(appended() >= before + 3, True)


def follow(members):
    """A stream of the events of a log, which goes on elsewhere behind the last one that was seen."""
    token = token_of(members)
    path = new_log(members, token)

    def read(count, headers):
        connection = http.client.HTTPConnection(next(members), timeout=TIMEOUT_SECONDS)
        sent = {"Authorization": "Bearer " + token, "Accept": "text/event-stream", **headers}
        connection.request("GET", path + "/events", headers=sent)
        response = connection.getresponse()
        expect(response.status, 200)
        seen = []
        for line in response:
            if line.startswith(b"data:"):
                event = json.loads(line[len("data:") :])
                seen.append((event["sequence"], base64.b64decode(event["payload"])))
            if len(seen) == count:
                break
        connection.close()
        return seen

    results = []
    reader = threading.Thread(target=lambda: results.append(read(3, {})))
    reader.start()
    for payload in (b"1", b"2", b"3"):
        expect_status(ask(members, "POST", path + "/append", token, payload), 200)
    reader.join(TIMEOUT_SECONDS)
    expect(results, [[(1, b"1"), (2, b"2"), (3, b"3")]])
    expect(read(2, {"Last-Event-ID": "1"}), [(2, b"2"), (3, b"3")])


SCENARIOS = {
    "token-exchange": token_exchange,
    "keys": keys,
    "logs": logs,
    "append": append,
    "append-batch": append_batch,
    "usage": usage,
    "follow": follow,
}

if __name__ == "__main__":
    scenario, *endpoints = sys.argv[1:]
    SCENARIOS[scenario](itertools.cycle(endpoints))
