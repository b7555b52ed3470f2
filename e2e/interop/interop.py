"""A client of Quoin in Python, on grpcio and stubs generated from proto/ alone.

    QUOIN_TOKEN=... python interop.py SCENARIO HOST:PORT...

Plays one scenario against the members of a cluster, each call through another member, and exits with 0 if everything was
as the contract says. The folder of the generated stubs must be on PYTHONPATH. The token comes from the environment.
"""

import itertools
import os
import sys
import threading
import time
import uuid

import grpc
from coordination.v1 import (
    key_value_pb2,
    key_value_pb2_grpc,
    lock_pb2,
    lock_pb2_grpc,
    memory_pb2,
    memory_pb2_grpc,
    transaction_pb2,
    transaction_pb2_grpc,
    watch_pb2,
    watch_pb2_grpc,
)

NAMESPACE = "default"
CALL_TIMEOUT_SECONDS = 20
WAIT_LIMIT_SECONDS = 60
POLL_SECONDS = 0.02
# A connection that is charged for what the library does is cut within half of them.
IN_FLIGHT_CALLS = 4000


class Member:
    """The services of one member, on a channel of its own."""

    def __init__(self, endpoint):
        self.channel = grpc.insecure_channel(endpoint)
        self.keys = key_value_pb2_grpc.KeyValueServiceStub(self.channel)
        self.locks = lock_pb2_grpc.LockServiceStub(self.channel)
        self.memory = memory_pb2_grpc.MemoryServiceStub(self.channel)
        self.transactions = transaction_pb2_grpc.TransactionServiceStub(self.channel)
        self.watches = watch_pb2_grpc.WatchServiceStub(self.channel)


def metadata(request_id=None):
    """The three headers that every call carries."""
    return (
        ("authorization", "Bearer " + os.environ["QUOIN_TOKEN"]),
        ("api-version", "v1"),
        ("request-id", request_id or str(uuid.uuid4())),
    )


def call(method, request, request_id=None):
    return method(request, metadata=metadata(request_id), timeout=CALL_TIMEOUT_SECONDS)


def expect(actual, expected):
    if actual != expected:
        raise AssertionError(f"expected {expected!r}, got {actual!r}")


def refusal(method, request):
    """The status and the reason with which the call fails."""
    try:
        call(method, request)
    except grpc.RpcError as error:
        trailers = dict(error.trailing_metadata())
        return error.code(), trailers["error-reason"], trailers["outcome"]
    raise AssertionError("the call succeeded")


def until(what, attempt):
    deadline = time.monotonic() + WAIT_LIMIT_SECONDS
    while not attempt():
        if time.monotonic() > deadline:
            raise AssertionError("waited in vain for " + what)
        time.sleep(POLL_SECONDS)


def put(members):
    name = {"namespace": NAMESPACE, "key": f"interop/{uuid.uuid4()}"}
    not_found = (grpc.StatusCode.NOT_FOUND, "KEY_NOT_FOUND", "not-executed")
    expect(refusal(next(members).keys.GetKey, key_value_pb2.GetKeyRequest(**name)), not_found)
    request_id = str(uuid.uuid4())
    request = key_value_pb2.PutKeyRequest(**name, value="grüße".encode(), return_previous=True)
    first = call(next(members).keys.PutKey, request, request_id)
    expect((first.created, first.HasField("previous")), (True, False))
    again = call(next(members).keys.PutKey, request, request_id)
    expect(again, first)
    found = call(next(members).keys.GetKey, key_value_pb2.GetKeyRequest(**name))
    expect((found.value.decode(), found.version, found.mod_revision), ("grüße", 1, first.mod_revision))
    listed = call(next(members).keys.ListKeys, key_value_pb2.ListKeysRequest(namespace=NAMESPACE, prefix=name["key"]))
    expect([item.key for item in listed.items], [name["key"]])
    expect(call(next(members).keys.DeleteKey, key_value_pb2.DeleteKeyRequest(**name)).deleted, True)


def compare_and_swap(members):
    name = {"namespace": NAMESPACE, "key": f"interop/{uuid.uuid4()}"}
    create = key_value_pb2.CompareAndSwapRequest(**name, new_value=b"0")
    expect(call(next(members).keys.CompareAndSwap, create).success, True)
    refused = call(next(members).keys.CompareAndSwap, create)
    expect((refused.success, refused.current_exists, refused.current_value), (False, True, b"0"))
    # Counts, as clients that know of each other only by the value.
    for value in range(10):
        step = {"expected_value": str(value).encode(), "new_value": str(value + 1).encode()}
        swap = key_value_pb2.CompareAndSwapRequest(**name, **step)
        waiting = [next(members).keys.CompareAndSwap.future(swap, metadata=metadata()) for _ in range(3)]
        expect(sorted(one.result().success for one in waiting), [False, False, True])
    # An expected value that is there and empty is another thing than none.
    empty = key_value_pb2.CompareAndSwapRequest(**name, expected_value=b"", new_value=b"x")
    expect(call(next(members).keys.CompareAndSwap, empty).current_value, b"10")
    call(next(members).keys.DeleteKey, key_value_pb2.DeleteKeyRequest(**name))


def lock(members):
    name = {"namespace": NAMESPACE, "name": f"interop/{uuid.uuid4()}"}
    call(next(members).locks.CreateLock, lock_pb2.CreateLockRequest(**name, ttl_seconds=60))
    first = call(next(members).locks.AcquireLock, lock_pb2.AcquireLockRequest(**name, owner="first"))
    expect((first.acquired, first.ttl_seconds, first.state), (True, 60, lock_pb2.HELD))
    second = lock_pb2.AcquireLockRequest(**name, owner="second", wait_ms=1000 * WAIT_LIMIT_SECONDS)
    waiting = next(members).locks.AcquireLock.future(second, metadata=metadata())
    describe = lock_pb2.DescribeLockRequest(**name)
    until("the second to wait", lambda: call(next(members).locks.DescribeLock, describe).waiters == 1)
    guard = {"lock_name": name["name"], "fencing_token": first.fencing_token}
    guarded = key_value_pb2.PutKeyRequest(namespace=NAMESPACE, key=name["name"], guard=guard)
    call(next(members).keys.PutKey, guarded)
    release = lock_pb2.ReleaseLockRequest(**name, owner="first", fencing_token=first.fencing_token)
    expect(call(next(members).locks.ReleaseLock, release).released, True)
    granted = waiting.result(timeout=WAIT_LIMIT_SECONDS)
    expect((granted.acquired, granted.holder.owner, granted.waited_ms > 0), (True, "second", True))
    expect(granted.fencing_token > first.fencing_token, True)
    fenced = (grpc.StatusCode.ABORTED, "FENCED", "not-executed")
    expect(refusal(next(members).keys.PutKey, guarded), fenced)
    call(next(members).keys.DeleteKey, key_value_pb2.DeleteKeyRequest(namespace=NAMESPACE, key=name["name"]))
    call(next(members).locks.ReleaseLock, lock_pb2.ReleaseLockRequest(**name, owner="second"))


def semaphore(members):
    name = {"namespace": NAMESPACE, "name": f"interop/{uuid.uuid4()}"}
    call(next(members).locks.CreateSemaphore, lock_pb2.CreateSemaphoreRequest(**name, permits=3, ttl_seconds=60))
    first = call(next(members).locks.AcquireSemaphore, lock_pb2.AcquireSemaphoreRequest(**name, permits=2))
    expect((first.acquired, first.permits, first.held_permits), (True, 3, 2))
    many = lock_pb2.AcquireSemaphoreRequest(**name, permits=4)
    expect(refusal(next(members).locks.AcquireSemaphore, many)[1], "BAD_FIELD")
    second = lock_pb2.AcquireSemaphoreRequest(**name, permits=2, wait_ms=1000 * WAIT_LIMIT_SECONDS)
    waiting = next(members).locks.AcquireSemaphore.future(second, metadata=metadata())
    describe = lock_pb2.DescribeSemaphoreRequest(**name)
    until("the second to wait", lambda: call(next(members).locks.DescribeSemaphore, describe).waiters == 1)
    release = lock_pb2.ReleaseSemaphoreRequest(**name, fencing_token=first.fencing_token)
    expect(call(next(members).locks.ReleaseSemaphore, release).released, True)
    granted = waiting.result(timeout=WAIT_LIMIT_SECONDS)
    expect((granted.acquired, granted.fencing_token > first.fencing_token), (True, True))
    call(next(members).locks.DeleteSemaphore, lock_pb2.DeleteSemaphoreRequest(**name, force=True))
    call(next(members).locks.CreateLock, lock_pb2.CreateLockRequest(**name))
    led = call(next(members).locks.AcquireLock, lock_pb2.AcquireLockRequest(**name, value=b"here"))
    value = lock_pb2.SetLockValueRequest(**name, fencing_token=led.fencing_token, value=b"there")
    call(next(members).locks.SetLockValue, value)
    seen = call(next(members).locks.DescribeLock, lock_pb2.DescribeLockRequest(**name)).holder
    expect((led.holder.value, seen.value), (b"here", b"there"))
    call(next(members).locks.DeleteLock, lock_pb2.DeleteLockRequest(**name, force=True))


def memory(members):
    request = memory_pb2.AllocateMemoryRequest(namespace=NAMESPACE, size_bytes=10_000, label="interop")
    region = {"namespace": NAMESPACE, "region_id": call(next(members).memory.AllocateMemory, request).region_id}
    write = memory_pb2.WriteMemoryRequest(**region, offset=4_090, data=b"0123456789", expected_version=1)
    expect(call(next(members).memory.WriteMemory, write).bytes_written, 10)
    mismatch = (grpc.StatusCode.FAILED_PRECONDITION, "VERSION_MISMATCH", "not-executed")
    expect(refusal(next(members).memory.WriteMemory, write), mismatch)
    read = memory_pb2.ReadMemoryRequest(**region, offset=4_089, length=12)
    expect(call(next(members).memory.ReadMemory, read).data, b"\0" + b"0123456789" + b"\0")
    beyond = memory_pb2.ReadMemoryRequest(**region, offset=9_999, length=2)
    bounds = (grpc.StatusCode.OUT_OF_RANGE, "MEMORY_BOUNDS", "not-executed")
    expect(refusal(next(members).memory.ReadMemory, beyond), bounds)
    call(next(members).memory.FreeMemory, memory_pb2.FreeMemoryRequest(**region))


def transaction(members):
    prefix = f"interop/{uuid.uuid4()}/"

    def operation(**fields):
        return transaction_pb2.TransactionOperation(**fields)

    def swap(expected, number):
        """Writes two keys if the first one has this value, else reads it."""
        key = transaction_pb2.CompareKey(key=prefix + "a", value=expected)
        return transaction_pb2.TransactRequest(
            namespace=NAMESPACE,
            compare=[transaction_pb2.Compare(key=key)],
            success=[
                operation(put=transaction_pb2.PutOperation(key=prefix + "a", value=b"2", return_previous=True)),
                operation(increment=transaction_pb2.IncrementOperation(key=prefix + "n", delta=number)),
                operation(list=transaction_pb2.ListOperation(prefix=prefix)),
            ],
            failure=[operation(get=transaction_pb2.GetOperation(key=prefix + "a"))],
        )

    name = {"namespace": NAMESPACE, "key": prefix + "a"}
    call(next(members).keys.PutKey, key_value_pb2.PutKeyRequest(**name, value=b"1"))
    request_id = str(uuid.uuid4())
    first = call(next(members).transactions.Transact, swap(b"1", 2**53 - 1), request_id)
    expect(call(next(members).transactions.Transact, swap(b"1", 2**53 - 1), request_id), first)
    expect((first.succeeded, first.HasField("failed_compare")), (True, False))
    written, added, listed = first.results
    expect((written.WhichOneof("result"), written.put.previous.value), ("put", b"1"))
    expect((added.increment.value, added.increment.created), (2**53 - 1, True))
    revisions = [(item.key, item.mod_revision) for item in listed.list.items]
    expect(revisions, [(prefix + end, first.revision) for end in ("a", "n")])
    second = call(next(members).transactions.Transact, swap(b"1", 1))
    expect((second.succeeded, second.failed_compare, second.results[0].get.kv.value), (False, 0, b"2"))
    number = {"namespace": NAMESPACE, "key": prefix + "n"}
    call(next(members).keys.PutKey, key_value_pb2.PutKeyRequest(**number, value=b"text"))
    no_number = (grpc.StatusCode.FAILED_PRECONDITION, "NOT_A_NUMBER", "not-executed")
    expect(refusal(next(members).transactions.Transact, swap(b"2", 1)), no_number)
    removal = operation(delete_prefix=transaction_pb2.DeletePrefixOperation(prefix=prefix))
    removed = transaction_pb2.TransactRequest(namespace=NAMESPACE, success=[removal])
    expect(call(next(members).transactions.Transact, removed).results[0].delete_prefix.deleted_keys, 2)


def watch(members):
    prefix = f"interop/{uuid.uuid4()}/"

    def events(start_revision, count):
        """Opens a watch and pauses; when resumed, returns that many events."""
        request = watch_pb2.WatchKeysRequest(
            namespace=NAMESPACE, prefix=prefix, start_revision=start_revision, include_previous=True
        )
        stream = next(members).watches.WatchKeys(request, metadata=metadata(), timeout=WAIT_LIMIT_SECONDS)
        created = next(stream)
        expect((created.created, len(created.events)), (True, 0))
        yield
        seen = []
        while len(seen) < count:
            seen.extend(next(stream).events)
        stream.cancel()
        yield seen

    watching = events(0, 3)
    next(watching)
    name = {"namespace": NAMESPACE, "key": prefix + "k"}
    for value in (b"1", b"2"):
        call(next(members).keys.PutKey, key_value_pb2.PutKeyRequest(**name, value=value))
    call(next(members).keys.DeleteKey, key_value_pb2.DeleteKeyRequest(**name))
    seen = next(watching)
    kinds = watch_pb2.KeyEvent.PUT, watch_pb2.KeyEvent.PUT, watch_pb2.KeyEvent.DELETE
    expect(tuple(event.type for event in seen), kinds)
    expect([event.previous.value for event in seen], [b"", b"1", b"2"])
    revisions = [event.kv.mod_revision for event in seen]
    expect(revisions, sorted(set(revisions)))
    # Goes on behind the first change, at another member.
    resumed = events(revisions[0] + 1, 2)
    next(resumed)
    expect([event.kv.mod_revision for event in next(resumed)], revisions[1:])


def watch_locks(members):
    name = {"namespace": NAMESPACE, "name": f"interop/{uuid.uuid4()}"}
    call(next(members).locks.CreateLock, lock_pb2.CreateLockRequest(**name, ttl_seconds=60))
    request = watch_pb2.WatchLocksRequest(namespace=NAMESPACE, name_prefix=name["name"])
    stream = next(members).watches.WatchLocks(request, metadata=metadata(), timeout=WAIT_LIMIT_SECONDS)
    expect(next(stream).created, True)
    held = call(next(members).locks.AcquireLock, lock_pb2.AcquireLockRequest(**name, owner="me"))
    release = lock_pb2.ReleaseLockRequest(**name, owner="me", fencing_token=held.fencing_token)
    call(next(members).locks.ReleaseLock, release)
    seen = []
    while len(seen) < 2:
        seen.extend(next(stream).events)
    stream.cancel()
    acquired, released = watch_pb2.LockEvent.ACQUIRED, watch_pb2.LockEvent.RELEASED
    told = [(event.action, event.lock_key, event.owner, event.fencing_token) for event in seen]
    expect(told, [(action, name["name"], "me", held.fencing_token) for action in (acquired, released)])


def in_flight(members):
    """Keeps many calls in flight on one channel. Half of them have answers without a message."""
    member = next(members)
    call(member.keys.PutKey, key_value_pb2.PutKeyRequest(namespace=NAMESPACE, key=b"in-flight", value=b"v"))
    for count in (30, 300, 1000):
        free = threading.Semaphore(count)
        failures = []

        def done(answer):
            if answer.code() not in (grpc.StatusCode.OK, grpc.StatusCode.NOT_FOUND):
                failures.append(f"{answer.code()}: {answer.details()}")
            free.release()

        for number in range(IN_FLIGHT_CALLS):
            free.acquire()
            key = b"in-flight" if number % 2 == 0 else b"absent"
            request = key_value_pb2.GetKeyRequest(namespace=NAMESPACE, key=key)
            answer = member.keys.GetKey.future(request, metadata=metadata(), timeout=WAIT_LIMIT_SECONDS)
            answer.add_done_callback(done)
        for _ in range(count):
            free.acquire()
        expect(failures[:3], [])


SCENARIOS = {
    "in-flight": in_flight,
    "put": put,
    "compare-and-swap": compare_and_swap,
    "lock": lock,
    "semaphore": semaphore,
    "memory": memory,
    "transaction": transaction,
    "watch": watch,
    "watch-locks": watch_locks,
}

if __name__ == "__main__":
    scenario, *endpoints = sys.argv[1:]
    SCENARIOS[scenario](itertools.cycle([Member(endpoint) for endpoint in endpoints]))
