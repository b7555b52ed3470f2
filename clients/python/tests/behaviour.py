"""Runs the scenarios of `clients/behaviour` with this SDK: carries out the commands of a driver.

    python tests/behaviour.py URL [--client threads|asyncio] [--scenario NAME]

It prints a line for each scenario, and exits with 1 if one has failed.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import dataclasses
import json
import sys
import traceback
import urllib.error
import urllib.request
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from both import wrapped

import quoin

LEFT = "left by the scenario"
# Scenarios that run at the same time, unless they disturb the cluster.
AT_A_TIME = 6
GROUPS = {"kv": "kv", "locks": "locks", "rw_locks": "rw_locks", "semaphores": "semaphores", "sessions": "sessions"}
GROUPS |= {"memory": "memory", "logs": "logs", "watch": "watch", "cluster": "cluster"}
# Operations that take no signal: a stream is closed.
STREAMS = ("watch.", "stream.", "logs.tail", "election.observe", "tx.")
# The arguments before the keywords.
POSITIONAL = {
    "kv.get": "namespace key",
    "kv.put": "namespace key value",
    "kv.delete": "namespace key",
    "kv.touch": "namespace key ttl_seconds",
    "kv.compare_and_swap": "namespace key value",
    "rw_locks.hold": "namespace name mode",
    "locks.renew": "namespace name fencing_token",
    "semaphores.create": "namespace name permits",
    "semaphores.update": "namespace name permits",
    "sessions.describe": "namespace session_id",
    "sessions.end": "namespace session_id",
    "memory.allocate": "namespace size_bytes",
    "memory.describe": "namespace region_id",
    "memory.free": "namespace region_id",
    "memory.resize": "namespace region_id size_bytes",
    "memory.write": "namespace region_id offset data",
    "memory.read": "namespace region_id offset length",
    "logs.create": "name",
    "logs.describe": "log_id",
    "logs.delete": "log_id",
    "logs.read": "log_id",
    "logs.tail": "log_id",
    "logs.append": "log_id payload",
    "logs.append_batch": "log_id payloads",
    "logs.all": "",
    "cluster.get": "",
}
NAMED = {"kv.all": "scan", "memory.all": "pages", "logs.all": "pages"}


async def post(url: str, body: Mapping[str, Any] | None = None) -> Any:
    def send() -> Any:
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(url, data)) as answer:
            return json.load(answer)

    return await asyncio.to_thread(send)


class Unsupported(Exception):  # noqa: N818
    """This SDK has no such operation or argument."""


class Runner:
    """One run of a scenario."""

    def __init__(self, url: str, kind: str) -> None:
        self.url = url
        self.kind = kind
        self.clients: dict[str, Any] = {}
        self.kept: dict[str, Any] = {}
        self.calls: dict[int, asyncio.Task[None]] = {}
        self.blocks: dict[int, asyncio.Future[bool]] = {}
        self.signals: dict[int, quoin.Signal] = {}
        self.tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> tuple[str, str]:
        try:
            while True:
                command = await post(f"{self.url}/next", {})
                kind = command["command"]
                if kind == "end":
                    return command["verdict"], command.get("message", "")
                if kind == "cancel":
                    self.cancel(command["call"])
                elif kind == "leave":
                    self.blocks[command["call"]].set_result(bool(command.get("fails")))
                elif kind != "none":
                    task = asyncio.create_task(self.answer(command["id"], getattr(self, kind)(command)))
                    self.tasks.add(task)
                    self.calls[command["id"]] = task
                    task.add_done_callback(self.tasks.discard)
        finally:
            for client in self.clients.values():
                await client.close()
            for task in self.tasks:
                task.cancel()
            await asyncio.gather(*self.tasks, return_exceptions=True)

    def cancel(self, call: int) -> None:
        """Cancels a call by its signal, and what takes none by its task."""
        if call in self.signals:
            self.signals[call].set()
        else:
            self.calls[call].cancel()

    async def answer(self, call: int, work: Any) -> None:
        try:
            answer: dict[str, Any] = {"result": neutral(await work) or {}}
        except quoin.QuoinError as error:
            names = ("code", "reason", "outcome", "retryable", "details", "request_id", "message")
            answer = {"error": {name: getattr(error, name) for name in names}}
        except asyncio.CancelledError:
            answer = {
                "error": {"code": "CANCELLED", "reason": "", "outcome": "unknown", "retryable": False, "details": {}}
            }
        except Unsupported as error:
            answer = {"unsupported": str(error)}
        except Exception as error:
            is_left = str(error) == LEFT
            answer = {"error": {"code": "", "message": LEFT}} if is_left else {"broken": traceback.format_exc()}
        # A call that answers after the end of its scenario is too late.
        with contextlib.suppress(urllib.error.URLError, ConnectionError):
            await post(f"{self.url}/answers", {"id": call, **answer})

    async def client(self, command: Mapping[str, Any]) -> None:
        options = dict(command["options"])
        if "tls" in options:
            options["tls"] = quoin.TlsOptions(**options["tls"])
        kind = quoin.AsyncClient if self.kind == "asyncio" else quoin.Client
        self.clients[command["client"]] = wrapped(kind(options.pop("endpoints"), **options))

    async def close(self, command: Mapping[str, Any]) -> None:
        await self.clients[command["client"]].close()

    async def block(self, call: int, entered: int) -> None:
        self.blocks[call] = asyncio.get_running_loop().create_future()
        await post(f"{self.url}/answers", {"id": call, "entered": entered})
        if await self.blocks[call]:
            raise RuntimeError(LEFT)

    async def call(self, command: Mapping[str, Any]) -> Any:
        operation = command["operation"]
        arguments = self.with_guards(command.get("arguments") or {})
        if not operation.startswith(STREAMS):
            self.signals[command["id"]] = arguments["cancel"] = quoin.Signal()
        special = getattr(self, operation.replace(".", "_"), None)
        if special is not None:
            return await special(command, arguments)
        group, _, name = operation.partition(".")
        if group not in GROUPS:
            raise Unsupported(operation)
        arguments.update(_renamed(operation, arguments))
        names = POSITIONAL.get(operation, "namespace name" if "name" in arguments else "namespace").split()
        given = [arguments.pop(one, None) for one in names]
        if operation == "watch.locks" and "prefix" in arguments:
            arguments["name_prefix"] = arguments.pop("prefix")
        if group == "logs" and operation not in ("logs.create", "logs.all"):
            arguments.pop("namespace", None)
        method = getattr(getattr(self.clients[command["client"]], GROUPS[group]), str(NAMED.get(operation, name)))
        if operation in NAMED:
            items = [one async for one in method(*given, **arguments)]
            if operation == "kv.all":
                return {"items": items}
            return {"items": [one for page in items for one in pages(page)]}
        result = method(*given, **arguments)
        if name == "tail":
            self.kept[command["keep"]] = result
            return {}
        result = await result
        if command.get("keep"):
            self.kept[command["keep"]] = result
            if name == "hold":
                return {"fencing_token": result.token, "owner": result.owner, "mode": getattr(result, "mode", None)}
            return {"revision": result.revision}
        return result

    async def sessions_keep(self, command: Mapping[str, Any], arguments: dict[str, Any]) -> Any:
        session = await self.clients[command["client"]].sessions.keep(arguments.pop("namespace"), **arguments)
        self.kept[command["keep"]] = session
        return {"session_id": session.id}

    async def locks_do(self, command: Mapping[str, Any], arguments: dict[str, Any]) -> None:
        names = [arguments.pop("namespace"), arguments.pop("name")]
        async with self.clients[command["client"]].lock(*names, **arguments) as hold:
            self.kept[command["keep"]] = hold
            await self.block(command["id"], 1)

    async def transact(self, command: Mapping[str, Any], arguments: dict[str, Any]) -> None:
        entered = 0

        async def work(transaction: Any) -> None:
            nonlocal entered
            entered += 1
            self.kept[command["keep"]] = transaction
            await self.block(command["id"], entered)

        await self.clients[command["client"]].transact(arguments.pop("namespace"), work, **arguments)

    async def transaction_commit(self, command: Mapping[str, Any], arguments: dict[str, Any]) -> Any:
        transaction = self.clients[command["client"]].transaction(arguments.pop("namespace"))
        parts = [arguments.pop(name, ()) for name in ("compare", "success", "failure")]
        transaction = transaction.if_(*parts[0]).then(*parts[1]).else_(*parts[2])
        return await transaction.commit(**arguments)

    async def tx_get(self, command: Mapping[str, Any], arguments: dict[str, Any]) -> Any:
        return {"value": await self.kept[command["of"]].get(arguments["key"])}

    async def tx_list(self, command: Mapping[str, Any], arguments: dict[str, Any]) -> Any:
        return {"items": await self.kept[command["of"]].list(arguments["prefix"])}

    async def tx_put(self, command: Mapping[str, Any], arguments: dict[str, Any]) -> None:
        self.kept[command["of"]].put(arguments.pop("key"), arguments.pop("value"), **arguments)

    async def tx_delete(self, command: Mapping[str, Any], arguments: dict[str, Any]) -> None:
        self.kept[command["of"]].delete(arguments["key"])

    def election(self, command: Mapping[str, Any], arguments: dict[str, Any]) -> Any:
        return self.clients[command["client"]].election(arguments.pop("namespace"), arguments.pop("name"))

    async def election_campaign(self, command: Mapping[str, Any], arguments: dict[str, Any]) -> Any:
        leadership = await self.election(command, arguments).campaign(arguments.pop("value"), **arguments)
        self.kept[command["keep"]] = leadership
        return {"fencing_token": leadership.token}

    async def election_leader(self, command: Mapping[str, Any], arguments: dict[str, Any]) -> Any:
        return await self.election(command, arguments).leader(**arguments)

    async def election_observe(self, command: Mapping[str, Any], arguments: dict[str, Any]) -> Any:
        self.kept[command["keep"]] = self.election(command, arguments).observe(**arguments)

    async def leadership_proclaim(self, command: Mapping[str, Any], arguments: dict[str, Any]) -> None:
        await self.kept[command["of"]].proclaim(arguments["value"])

    def hold(self, command: Mapping[str, Any]) -> Any:
        kept = self.kept[command["of"]]
        return getattr(kept, "hold", kept) if hasattr(kept, "proclaim") else kept

    async def hold_state(self, command: Mapping[str, Any], arguments: dict[str, Any]) -> Any:
        hold = self.hold(command)
        mode = getattr(hold, "mode", None)
        return {"held": hold.is_held, "lost": hold.lost.is_set(), "fencing_token": hold.token, "mode": mode}

    async def hold_await_lost(self, command: Mapping[str, Any], arguments: dict[str, Any]) -> Any:
        hold = self.hold(command)
        await hold.lost.wait()
        return {"reason": hold.error.reason if hold.error else None}

    async def hold_release(self, command: Mapping[str, Any], arguments: dict[str, Any]) -> Any:
        return {"released": await self.hold(command).release(**arguments)}

    async def hold_downgrade(self, command: Mapping[str, Any], arguments: dict[str, Any]) -> Any:
        hold = self.hold(command)
        await hold.downgrade()
        return {"fencing_token": hold.token, "mode": hold.mode}

    async def hold_upgrade(self, command: Mapping[str, Any], arguments: dict[str, Any]) -> Any:
        hold = self.hold(command)
        await hold.upgrade()
        return {"fencing_token": hold.token, "mode": hold.mode}

    async def session_state(self, command: Mapping[str, Any], arguments: dict[str, Any]) -> Any:
        session = self.kept[command["of"]]
        return {"live": session.is_live, "lost": session.lost.is_set()}

    session_await_lost = hold_await_lost

    async def session_end(self, command: Mapping[str, Any], arguments: dict[str, Any]) -> Any:
        return {"ended": await self.kept[command["of"]].end(**arguments)}

    async def stream_next(self, command: Mapping[str, Any], arguments: dict[str, Any]) -> Any:
        try:
            item = await self.kept[command["of"]].__anext__()
        except StopAsyncIteration:
            return {"events": [], "ended": True}
        events = getattr(item, "events", None)
        if events is None:
            return {"events": [item or {}]}
        return {"events": [_flat(event) for event in events], "revision": item.revision}

    async def stream_close(self, command: Mapping[str, Any], arguments: dict[str, Any]) -> None:
        await self.kept[command["of"]].close()

    def with_guards(self, value: Any, name: str = "") -> Any:
        """The arguments, with the kept holds and sessions that they name."""
        if isinstance(value, list):
            return [self.with_guards(one) for one in value]
        if not isinstance(value, dict):
            return value
        if name in ("guard", "hold", "release") and ("hold" in value or "session" in value):
            return self.kept[value.get("hold") or value["session"]]
        return {key: self.with_guards(one, key) for key, one in value.items()}


def _renamed(operation: str, arguments: dict[str, Any]) -> dict[str, Any]:
    more: dict[str, Any] = {}
    if "idempotency_key" in arguments and operation.startswith("logs."):
        more["key"] = arguments.pop("idempotency_key")
    if "duplicate_window_seconds" in arguments:
        more["settings"] = {"duplicate_window_seconds": arguments.pop("duplicate_window_seconds")}
    return more


def pages(page: Any) -> Any:
    """The items of a page, whatever their field is called."""
    return page.regions if hasattr(page, "regions") else page.logs


def _flat(event: Any) -> dict[str, Any]:
    fields = neutral(event)
    return {**fields.pop("kv", {}), **fields, "name": fields.get("lock_key")}


def neutral(value: Any) -> Any:
    """A result of the SDK in the words of the scenarios."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, (list, tuple)):
        return [neutral(one) for one in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {one.name: neutral(getattr(value, one.name)) for one in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {name: neutral(one) for name, one in value.items()}
    return value


async def run_scenario(url: str, scenario: str, kind: str) -> tuple[str, str]:
    """Runs one scenario. Returns its verdict, and why."""
    language = "python" if kind == "threads" else "python (asyncio)"
    started = await post(f"{url}/runs", {"scenario": scenario, "language": language})
    return await Runner(f"{url}/runs/{started['run']}", kind).run()


async def run_all(url: str, kind: str, only: str | None) -> int:
    """Runs all scenarios, those that disturb the cluster one by one. Returns how many have failed."""
    # Each request to the driver blocks a thread.
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(256))
    scenarios = [one for one in await post(f"{url}/scenarios") if only in (None, one["name"])]
    gate, failed = asyncio.Semaphore(AT_A_TIME), 0

    async def run(name: str) -> None:
        nonlocal failed
        async with gate:
            verdict, message = await run_scenario(url, name, kind)
        failed += verdict == "failed"
        print(f"{verdict:11} {kind:7} {name}{': ' + message if verdict != 'passed' else ''}", flush=True)

    await asyncio.gather(*(run(one["name"]) for one in scenarios if not one["disturbs"]))
    for one in scenarios:
        if one["disturbs"]:
            await run(one["name"])
    return failed


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("--client", choices=["threads", "asyncio"], default="threads")
    parser.add_argument("--scenario")
    found = parser.parse_args()
    sys.exit(1 if asyncio.run(run_all(found.url, found.client, found.scenario)) else 0)
