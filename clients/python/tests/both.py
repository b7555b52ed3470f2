"""The client with threads in the form of the asyncio client, so that one test serves both.

Methods that block run in threads. What they return is wrapped again.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from quoin import _async, _sync
from quoin._async import (
    accounts,
    base,
    calls,
    client,
    elections,
    keys,
    locks,
    logs,
    memory,
    sessions,
    transactions,
    watches,
)

assert _async is not _sync
_ASYNC = {
    name: found
    for module in (accounts, base, calls, client, elections, keys, locks, logs, memory, sessions, transactions, watches)
    for name, found in vars(module).items()
    if isinstance(found, type)
}

# Each call blocks a thread, and functions that calls get make further calls.
_POOL = ThreadPoolExecutor(256, thread_name_prefix="test-call")


async def _in_thread(function: Any, *args: Any, **options: Any) -> Any:
    return await asyncio.get_running_loop().run_in_executor(_POOL, functools.partial(function, *args, **options))


def wrapped(value: Any) -> Any:
    """Something of the client with threads as something of the asyncio client; other values as they are."""
    if not type(value).__module__.startswith("quoin._sync"):
        return value
    return Wrapper(value, _ASYNC["Async" + type(value).__name__])


class Wrapper:
    """An object of the client with threads."""

    def __init__(self, inner: Any, kind: type) -> None:
        self.inner = inner
        self.kind = kind

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.inner, name)
        method = getattr(self.kind, name, None)
        if inspect.isasyncgenfunction(method):
            return lambda *args, **options: Iteration(value(*args, **options))
        if inspect.iscoroutinefunction(method):
            return lambda *args, **options: _called(value, args, options)
        if callable(value) and inspect.ismethod(value):
            return lambda *args, **options: wrapped(value(*args, **options))
        return wrapped(value)

    async def __aenter__(self) -> Any:
        return wrapped(await _in_thread(self.inner.__enter__))

    async def __aexit__(self, *error: Any) -> Any:
        return await _in_thread(self.inner.__exit__, *error)

    def __aiter__(self) -> Any:
        return self

    async def __anext__(self) -> Any:
        return await _next(self.inner)


class Iteration:
    def __init__(self, inner: Any) -> None:
        self.inner = iter(inner)

    def __aiter__(self) -> Any:
        return self

    async def __anext__(self) -> Any:
        return await _next(self.inner)


async def _next(inner: Any) -> Any:
    end = object()
    value = await _in_thread(next, inner, end)
    if value is end:
        raise StopAsyncIteration
    return value


async def _called(method: Any, args: Any, options: Any) -> Any:
    """Calls a method in a thread. Functions that it gets run in the loop."""
    loop = asyncio.get_running_loop()

    def in_loop(function: Any) -> Any:
        return lambda one: asyncio.run_coroutine_threadsafe(function(wrapped(one)), loop).result()

    given = [in_loop(one) if inspect.iscoroutinefunction(one) else one for one in args]
    return wrapped(await _in_thread(method, *given, **options))
