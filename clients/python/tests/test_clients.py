"""Both clients at a real cluster: what is special to threads, event loops and processes, and the loss of a leader."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import sys
import threading
import time
import uuid
from collections.abc import AsyncIterator, Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from both import wrapped

import quoin
from quoin import ops
from quoin.testing import LocalCluster

# For what a busy machine may take long for; no test waits for so long.
PATIENCE_MS = 60_000
NAMESPACE = "default"


@pytest.fixture(params=["threads", "asyncio"])
def make(request: pytest.FixtureRequest, cluster: LocalCluster) -> Callable[..., Any]:
    """Makes a client of either kind, in the form of the asyncio client."""
    kind = quoin.Client if request.param == "threads" else quoin.AsyncClient
    return lambda: wrapped(kind(cluster.endpoints, api_key=cluster.api_key, timeout_ms=PATIENCE_MS))


def fresh(prefix: str) -> str:
    return f"{prefix}-{uuid.uuid4()}"


def connections(cluster: LocalCluster) -> int:
    """How many connections this process has to the members."""
    ports = {int(endpoint.rpartition(":")[2]) for endpoint in cluster.endpoints}
    inodes = set()
    for entry in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            inodes.add(os.readlink(entry))
    rows = [line.split() for line in Path("/proc/self/net/tcp").read_text().splitlines()[1:]]
    return sum(1 for row in rows if int(row[2].split(":")[1], 16) in ports and f"socket:[{row[9]}]" in inodes)


async def until(is_true: Callable[[], Any]) -> None:
    end = time.monotonic() + PATIENCE_MS / 1e3
    while True:
        found = is_true()
        if await found if asyncio.iscoroutine(found) else found:
            return
        assert time.monotonic() < end, "it has not happened"
        await asyncio.sleep(0.02)


@contextlib.asynccontextmanager
async def restarted(cluster: LocalCluster, client: Any) -> AsyncIterator[str]:
    """Kills the leader, and starts it again at the end."""
    leader = next(member.name for member in (await client.cluster.get()).members if member.leader)
    cluster.kill(leader)
    try:
        yield leader
    finally:
        await asyncio.to_thread(cluster.start, leader)


async def test_no_write_is_lost_or_done_twice_while_the_leader_is_killed(make: Any, cluster: LocalCluster) -> None:
    prefix, writers, each = fresh("write"), 8, 40
    async with make() as client:
        await client.locks.create(NAMESPACE, prefix)
        watch = await client.watch.keys(NAMESPACE, prefix=prefix)
        hold = await client.locks.hold(NAMESPACE, prefix, ttl_seconds=20)
        session = await client.sessions.keep(NAMESPACE, ttl_seconds=20)

        async def write(number: int) -> None:
            for at in range(each):
                await client.kv.put(
                    NAMESPACE, f"{prefix}/{number}/{at}", str(at), guard=hold.inner if hasattr(hold, "inner") else hold
                )
                await client.kv.increment(NAMESPACE, f"{prefix}-count")

        async def follow() -> list[str]:
            seen: list[str] = []
            async for batch in watch:
                seen += [event.kv.key for event in batch.events if "/" in event.kv.key]
                if len(seen) == writers * each:
                    return seen
            raise AssertionError("the watch has ended")

        follower = asyncio.create_task(follow())
        work = asyncio.gather(*(write(number) for number in range(writers)))
        await asyncio.sleep(0.2)
        async with restarted(cluster, client):
            await work
        expected = {f"{prefix}/{number}/{at}" for number in range(writers) for at in range(each)}
        assert {entry.key async for entry in client.kv.scan(NAMESPACE, prefix=f"{prefix}/", keys_only=True)} == expected
        assert int((await client.kv.get(NAMESPACE, f"{prefix}-count")).value) == writers * each
        seen = await asyncio.wait_for(follower, PATIENCE_MS / 1e3)
        assert len(seen) == len(set(seen)) == writers * each
        assert hold.is_held
        assert session.is_live
        assert await hold.release() is True
        assert await session.end() is True
        await watch.close()


async def test_a_tail_has_each_event_once_while_the_leader_is_killed(make: Any, cluster: LocalCluster) -> None:
    async with make() as client:
        log = (await client.logs.create(fresh("log"))).log_id
        tail = client.logs.tail(log)

        async def append() -> None:
            for at in range(100):
                await client.logs.append(log, str(at), key=str(at))

        async def follow() -> list[bytes]:
            found: list[bytes] = []
            async for event in tail:
                found.append(event.payload)
                if len(found) == 100:
                    break
            return found

        follower = asyncio.create_task(follow())
        appending = asyncio.create_task(append())
        await asyncio.sleep(0.1)
        async with restarted(cluster, client):
            await appending
        assert await asyncio.wait_for(follower, PATIENCE_MS / 1e3) == [str(at).encode() for at in range(100)]
        await tail.close()


async def test_the_end_of_a_client_leaves_nothing(make: Any, cluster: LocalCluster) -> None:
    await until(lambda: connections(cluster) == 0)
    name = fresh("end")
    client = make()
    await client.locks.create(NAMESPACE, name)
    hold = await client.locks.hold(NAMESPACE, name)
    session = await client.sessions.keep(NAMESPACE)
    watch = await client.watch.keys(NAMESPACE)
    reading = asyncio.ensure_future(watch.__anext__())
    waiting = asyncio.ensure_future(client.locks.acquire(NAMESPACE, name, wait_ms=PATIENCE_MS))
    other = make()
    await until(lambda: _waiters(other, name))
    await other.close()
    tasks = len(asyncio.all_tasks())
    await client.close()
    with pytest.raises(quoin.CancelledError):
        await reading
    with pytest.raises(quoin.CancelledError) as cancelled:
        await waiting
    assert cancelled.value.outcome == "unknown"
    with pytest.raises(quoin.CancelledError) as late:
        await client.kv.get(NAMESPACE, "k")
    assert late.value.outcome == "not-executed"
    await client.close()
    await until(lambda: connections(cluster) == 0)
    await until(lambda: not [one for one in threading.enumerate() if "quoin" in one.name and "output" not in one.name])
    assert len(asyncio.all_tasks()) <= tasks - 1
    assert hold.is_held
    assert session.is_live


async def _waiters(client: Any, name: str) -> bool:
    return bool((await client.locks.describe(NAMESPACE, name)).waiters)


async def test_a_client_that_was_never_used_can_be_closed(make: Any) -> None:
    await make().close()


async def test_a_cancelled_wait_leaves_the_queue(cluster: LocalCluster) -> None:
    name = fresh("queue")
    async with cluster.async_client() as client, cluster.async_client() as other:
        await client.locks.create(NAMESPACE, name)
        async with client.lock(NAMESPACE, name):
            waiting = asyncio.create_task(other.locks.hold(NAMESPACE, name, wait_ms=PATIENCE_MS))
            await until(lambda: _waiters(client, name))
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            await until(lambda: _no_waiters(client, name))
        # The cancelled task has broken nothing.
        assert (await other.kv.put(NAMESPACE, name, "v")).created


async def _no_waiters(client: Any, name: str) -> bool:
    return not await _waiters(client, name)


async def test_a_watch_survives_a_read_that_was_given_up(cluster: LocalCluster) -> None:
    prefix = fresh("patience")
    async with cluster.async_client() as client:
        watch = await client.watch.keys(NAMESPACE, prefix=prefix)
        for at in range(5):
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(watch.__anext__(), 0.05)
            await client.kv.put(NAMESPACE, f"{prefix}{at}", "v")
            batch = await asyncio.wait_for(watch.__anext__(), PATIENCE_MS / 1e3)
            assert [event.kv.key for event in batch.events] == [f"{prefix}{at}"]


async def test_a_block_ends_with_the_loss_of_its_hold(make: Any, cluster: LocalCluster) -> None:
    name = fresh("loss")
    async with make() as client, cluster.async_client() as other:
        await client.locks.create(NAMESPACE, name)
        with pytest.raises(quoin.LockLostError):
            async with client.lock(NAMESPACE, name, ttl_seconds=2) as hold:
                await other.locks.force_release(NAMESPACE, name)
                assert await hold.lost.wait() is True
                assert not hold.is_held
                with pytest.raises(quoin.LockLostError):
                    hold.raise_if_lost()
        # The error of the work comes first.
        with pytest.raises(ZeroDivisionError):
            async with client.lock(NAMESPACE, name, ttl_seconds=2) as hold:
                await other.locks.force_release(NAMESPACE, name)
                assert await hold.lost.wait() is True
                raise ZeroDivisionError
        hold = await client.locks.hold(NAMESPACE, name)
        await other.locks.force_release(NAMESPACE, name)
        with pytest.raises(quoin.FencedError):
            await client.kv.put(NAMESPACE, name, "v", guard=hold.guard)


async def test_calls_together_do_not_disturb_each_other(make: Any) -> None:
    key = fresh("many")
    async with make() as client:

        async def add(transaction: Any) -> None:
            value = await transaction.get(key)
            transaction.put(key, str(int(value or b"0") + 1))

        await asyncio.gather(*(client.transact(NAMESPACE, add, max_attempts=1_000) for _ in range(12)))
        assert (await client.kv.get(NAMESPACE, key)).value == b"12"
        found = await asyncio.gather(*(client.kv.get(NAMESPACE, key) for _ in range(200)))
        assert {one.value for one in found} == {b"12"}


async def test_a_function_that_fails_writes_nothing(make: Any) -> None:
    key = fresh("fails")
    async with make() as client:
        kept: list[Any] = []

        async def work(transaction: Any) -> None:
            kept.append(transaction)
            transaction.put(key, "v")
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await client.transact(NAMESPACE, work)
        with pytest.raises(quoin.KeyNotFoundError):
            await client.kv.get(NAMESPACE, key)
        with pytest.raises(quoin.BadFieldError, match="has ended"):
            kept[0].put(key, "v")


async def test_a_batch_is_divided_as_the_service_needs_it(make: Any) -> None:
    prefix = fresh("batch")
    async with make() as client:
        parts: list[Any] = []
        writes = [ops.put(f"{prefix}/{at}", b"x" * 500_000) for at in range(12)]
        assert await client.batch(NAMESPACE, writes, on_part=parts.append) == parts
        assert sum(part.writes for part in parts) == 12
        assert len(parts) == 2
        # Each write replaces a large value, which counts, too.
        await client.batch(NAMESPACE, [ops.delete(f"{prefix}/{at}") for at in range(12)], on_part=parts.append)
        assert sum(part.deleted_keys for part in parts) == 12
        assert (await client.kv.count(NAMESPACE, prefix=prefix)).keys == 0


async def test_regions_of_any_length(make: Any) -> None:
    data = os.urandom(9_000_000)
    async with make() as client:
        region_id = (await client.memory.allocate(NAMESPACE, len(data))).region_id
        region = client.memory.open(NAMESPACE, region_id)
        progress: list[int] = []
        await region.write(data, on_progress=lambda done, total: progress.append(done))
        assert len(progress) == 3
        await region.seek(0)
        assert await region.read(len(data)) == data
        assert await region.seek(-3, "end") == len(data) - 3
        assert await region.read(3) == data[-3:]
        with pytest.raises(quoin.MemoryBoundsError):
            await region.read(1)
        await client.memory.free(NAMESPACE, region_id)


async def test_accounts(make: Any, cluster: LocalCluster) -> None:
    async with make() as client:
        created = await client.keys.create(fresh("key"), expires_in_days=1)
        async with cluster.async_client() as _, quoin.AsyncClient(cluster.endpoints, api_key=created.key) as other:
            await other.cluster.get()
        names = [key.name async for page in client.keys.pages() for key in page.keys]
        assert created.api_key.name in names
        await client.keys.revoke(created.api_key.api_key_id)
        async with quoin.AsyncClient(cluster.endpoints, api_key=created.key) as other:
            with pytest.raises(quoin.InvalidApiKeyError):
                await other.cluster.get()
        email = f"{fresh('user')}@example.com"
        user = await client.users.create(email, role="member", namespaces=[NAMESPACE], password="correct horse")
        assert (await client.users.get(user.user_id)).role == "member"
        with pytest.raises(quoin.EmailNotVerifiedError):
            await quoin.AsyncClient.log_in(cluster.endpoints, email, "correct horse")
        await client.users.delete(user.user_id)
        with pytest.raises(quoin.UserNotFoundError):
            await client.users.get(user.user_id)
        assert (await quoin.AsyncClient.log_in(cluster.endpoints, cluster.email, cluster.password)).user.role == "owner"
        token = await quoin.AsyncClient.exchange_api_key(cluster.endpoints, cluster.api_key, expires_in_seconds=60)
        assert 0 < token.expires_in_seconds <= 60
        start = datetime.now(timezone.utc) - timedelta(hours=2)
        usage = await client.usage.read(start=start, granularity="hour")
        assert usage.totals.requests > 0


async def test_administration(cluster: LocalCluster) -> None:
    token = cluster.admin_token
    async with quoin.AsyncAdminClient(endpoint=cluster.admin_endpoints[0], token=token) as admin:
        assert (await admin.get_status()).status.state == "RUNNING"
        assert len((await admin.list_members()).members) == 3
        revision = await admin.put_settings({"token.lifetime_secs": 600})
        assert revision > 0
        await admin.put_settings({"token.lifetime_secs": None})
        snapshot = [chunk async for chunk in admin.snapshot()]
        assert sum(map(len, snapshot)) > 1_000
        with pytest.raises(quoin.MemberNotFoundError):
            await admin.remove_members(["99"])
    with quoin.AdminClient(cluster.endpoints, api_key=cluster.api_key) as public:
        assert public.compact(1).compact_revision >= 1
        with pytest.raises(quoin.NotServedError):
            next(iter(public.snapshot()))


def test_a_fork_gets_a_clear_error_and_ends(cluster: LocalCluster) -> None:
    with cluster.client() as client:
        client.kv.put(NAMESPACE, "fork", "v")
        results: Any = multiprocessing.get_context("fork").SimpleQueue()

        def child() -> None:
            try:
                client.kv.get(NAMESPACE, "fork")
            except quoin.QuoinError as error:
                results.put((error.code, error.outcome, str(error)))
            client.close()

        process = multiprocessing.get_context("fork").Process(target=child)
        process.start()
        process.join(PATIENCE_MS / 1e3)
        assert process.exitcode == 0
        code, outcome, text = results.get()
        assert (code, outcome) == ("FAILED_PRECONDITION", "not-executed")
        assert f"process {os.getpid()}" in text
        # The parent is not disturbed.
        assert client.kv.get(NAMESPACE, "fork").value == b"v"


def test_each_event_loop_has_its_own_client(cluster: LocalCluster) -> None:
    client = cluster.async_client()

    async def get() -> bytes:
        async with cluster.async_client() as mine:
            await mine.kv.put(NAMESPACE, "loop", "v")
            return (await mine.kv.get(NAMESPACE, "loop")).value

    async def use_other() -> None:
        await client.kv.get(NAMESPACE, "loop")

    # One loop after the other, and two side by side.
    assert [asyncio.run(get()) for _ in range(3)] == [b"v"] * 3
    found: list[bytes] = []
    threads = [threading.Thread(target=lambda: found.append(asyncio.run(get()))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_MS / 1e3)
    assert found == [b"v"] * 3

    async def first() -> None:
        await use_other()
        with pytest.raises(quoin.QuoinError, match="another event loop"):
            await asyncio.to_thread(asyncio.run, use_other())
        await client.close()

    asyncio.run(first())


def test_a_forgotten_client_keeps_no_process_alive(cluster: LocalCluster) -> None:
    text = (
        "import quoin, sys\n"
        "client = quoin.Client(sys.argv[1:], api_key=sys.stdin.read())\n"
        "hold = client.sessions.keep('default')\n"
        "watch = client.watch.keys('default')\n"
        "print(hold.is_live)\n"
    )
    import subprocess

    command = [sys.executable, "-c", text, *cluster.endpoints]
    done = subprocess.run(command, input=cluster.api_key, capture_output=True, text=True, timeout=PATIENCE_MS / 1e3)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
    assert "Traceback" not in done.stderr


def test_blocks_that_share_a_lock_release_their_own_holds(cluster: LocalCluster) -> None:
    name = fresh("shared")
    with cluster.client(timeout_ms=PATIENCE_MS) as client:
        client.semaphores.create(NAMESPACE, name, 3)
        semaphore = client.semaphore(NAMESPACE, name)
        with semaphore as outer:
            with semaphore:
                pass
            holders = client.semaphores.describe(NAMESPACE, name).holders
            assert [one.fencing_token for one in holders] == [outer.token]
        assert not client.semaphores.describe(NAMESPACE, name).holders


async def test_tasks_that_share_a_lock_release_their_own_holds(cluster: LocalCluster) -> None:
    name = fresh("shared")
    async with cluster.async_client(timeout_ms=PATIENCE_MS) as client:
        await client.semaphores.create(NAMESPACE, name, 3)
        semaphore, both, first_left = client.semaphore(NAMESPACE, name), asyncio.Event(), asyncio.Event()

        async def first() -> None:
            async with semaphore:
                await both.wait()
            first_left.set()

        async def second() -> None:
            async with semaphore as hold:
                both.set()
                await first_left.wait()
                assert hold.is_held

        await asyncio.gather(first(), second())
        assert not (await client.semaphores.describe(NAMESPACE, name)).holders


async def test_a_wait_that_is_no_wait_is_named(make: Any) -> None:
    async with make() as client:
        name = fresh("wait")
        await client.logs.create(name)
        await client.locks.create(NAMESPACE, name)
        for seconds in (-100, 10**9):
            with pytest.raises(quoin.BadFieldError) as caught:
                await client.logs.read(name, wait_seconds=seconds)
            assert caught.value.details["field"] == "wait_seconds"
        with pytest.raises(quoin.BadFieldError) as caught:
            await client.locks.hold(NAMESPACE, name, wait_ms=2**40)
        assert caught.value.details["field"] == "wait_ms"


async def test_a_second_reader_of_a_watch_is_refused(make: Any) -> None:
    key = fresh("read")
    async with make() as client:
        watch = await client.watch.keys(NAMESPACE, prefix=key)
        readers = [asyncio.ensure_future(watch.__anext__()) for _ in range(2)]
        done, _ = await asyncio.wait(readers, return_when=asyncio.FIRST_COMPLETED)
        assert [type(one.exception()) for one in done] == [quoin.FailedPreconditionError]
        await client.kv.put(NAMESPACE, key, "v")
        found = await asyncio.gather(*readers, return_exceptions=True)
        assert [one.events[0].kv.key for one in found if not isinstance(one, BaseException)] == [key]
