"""Measures what a client costs: the SDK for Python, with threads or asyncio, or bare calls of grpcio.

It reads one order as a line of JSON from its standard input, so that its arguments contain no secret, and writes one
report. A watching client writes a line when its watches are active, and reports when its input ends. The first failed
call ends it.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
import uuid
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import grpc
import grpc.aio
from quoin._core.wire import Contract
from quoin._generated.contract import DESCRIPTORS

import quoin

NAMESPACE = "default"
SERVICE = "/coordination.v1.KeyValueService/"


@dataclass
class Progress:
    """What is done so far."""

    done: int = 0
    begun: int = 0


def key_of(number: int) -> str:
    return f"bench/sdk/{number:012}"


class Bare:
    """The calls of grpcio, with the headers that every call needs."""

    def __init__(self, order: dict[str, Any], channel: Any) -> None:
        contract = Contract(DESCRIPTORS)
        self.token = order["token"]
        self.value = b"v" * order["valueBytes"]
        self.methods = {}
        for name in ("PutKey", "GetKey"):
            request, answer = contract.types_of(f"KeyValueService/{name}")
            kind = contract.class_of(request)
            call = channel.unary_unary(
                SERVICE + name, request_serializer=kind.SerializeToString, response_deserializer=answer.FromString
            )
            self.methods[name] = (kind, call)

    def metadata(self) -> tuple[tuple[str, str], ...]:
        return (
            ("authorization", f"Bearer {self.token}"),
            ("api-version", "v1"),
            ("request-id", str(uuid.uuid4())),
        )

    def put(self, key: str) -> Any:
        kind, call = self.methods["PutKey"]
        return call(kind(namespace=NAMESPACE, key=key, value=self.value), metadata=self.metadata())

    def get(self, key: str) -> Any:
        kind, call = self.methods["GetKey"]
        return call(kind(namespace=NAMESPACE, key=key), metadata=self.metadata())


class Sdk:
    """The same calls of the SDK, with threads or asyncio."""

    def __init__(self, order: dict[str, Any], client: Any) -> None:
        self.client = client
        self.value = b"v" * order["valueBytes"]

    def put(self, key: str) -> Any:
        return self.client.kv.put(NAMESPACE, key, self.value)

    def get(self, key: str) -> Any:
        return self.client.kv.get(NAMESPACE, key)


def measure(order: dict[str, Any], progress: Progress, pause: Callable[[float], None]) -> dict[str, float]:
    """What was done in the time that counts, after the warm-up."""
    pause(order["warmUpSeconds"])
    done, cpu, started = progress.done, time.process_time(), time.perf_counter()
    pause(order["seconds"])
    return report(progress.done - done, cpu, started)


def report(operations: int, cpu: float, started: float) -> dict[str, float]:
    return {
        "operations": operations,
        "durationMs": (time.perf_counter() - started) * 1e3,
        "cpuMs": (time.process_time() - cpu) * 1e3,
    }


def with_threads(order: dict[str, Any], calls: Any) -> dict[str, float]:
    progress = Progress()
    lock = threading.Lock()
    ended = threading.Event()
    call = getattr(calls, order["what"])

    def work() -> None:
        while not ended.is_set():
            with lock:
                progress.begun += 1
                number = progress.begun
            call(key_of(number % order["keys"] if order["keys"] else number))
            with lock:
                progress.done += 1

    if order["what"] == "get":
        for number in range(order["keys"]):
            calls.put(key_of(number))
    with ThreadPoolExecutor(order["inFlight"]) as pool:
        workers = [pool.submit(work) for _ in range(order["inFlight"])]
        try:
            measured = measure(order, progress, time.sleep)
        finally:
            ended.set()
        for worker in workers:
            worker.result()
    return measured


async def with_asyncio(order: dict[str, Any], calls: Any) -> dict[str, float]:
    progress = Progress()
    call: Callable[[str], Awaitable[Any]] = getattr(calls, order["what"])

    async def work() -> None:
        while True:
            progress.begun += 1
            number = progress.begun
            await call(key_of(number % order["keys"] if order["keys"] else number))
            progress.done += 1

    if order["what"] == "get":
        for number in range(order["keys"]):
            await calls.put(key_of(number))
    workers = asyncio.gather(*(work() for _ in range(order["inFlight"])))
    timer = asyncio.create_task(asyncio.sleep(order["warmUpSeconds"]))
    await asyncio.wait([timer, workers], return_when=asyncio.FIRST_COMPLETED)
    done, cpu, started = progress.done, time.process_time(), time.perf_counter()
    timer = asyncio.create_task(asyncio.sleep(order["seconds"]))
    await asyncio.wait([timer, workers], return_when=asyncio.FIRST_COMPLETED)
    measured = report(progress.done - done, cpu, started)
    if workers.done():
        workers.result()
    workers.cancel()
    await asyncio.gather(workers, return_exceptions=True)
    return measured


async def watch(order: dict[str, Any], client: Any) -> dict[str, float]:
    progress = Progress()

    async def follow(watched: Any) -> None:
        async for batch in watched:
            progress.done += len(batch.events)

    tasks = []
    for number in range(order["keys"]):
        tasks.append(asyncio.create_task(follow(await client.watch.keys(NAMESPACE, key=key_of(number)))))
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    done, cpu, started = progress.done, time.process_time(), time.perf_counter()
    await asyncio.to_thread(sys.stdin.readline)
    measured = report(progress.done - done, cpu, started)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return measured


async def run_asyncio(order: dict[str, Any]) -> dict[str, float]:
    if order["client"] == "bare-asyncio":
        async with grpc.aio.insecure_channel(order["endpoints"][0]) as channel:
            return await with_asyncio(order, Bare(order, channel))
    async with quoin.AsyncClient(order["endpoints"], api_key=order["apiKey"]) as client:
        if order["what"] == "watch":
            return await watch(order, client)
        return await with_asyncio(order, Sdk(order, client))


def run(order: dict[str, Any]) -> dict[str, float]:
    if order["client"].endswith("-asyncio"):
        return asyncio.run(run_asyncio(order))
    if order["client"] == "bare-threads":
        with grpc.insecure_channel(order["endpoints"][0]) as channel:
            return with_threads(order, Bare(order, channel))
    with quoin.Client(order["endpoints"], api_key=order["apiKey"]) as client:
        return with_threads(order, Sdk(order, client))


if __name__ == "__main__":
    print(json.dumps(run(json.loads(sys.stdin.readline()))))
