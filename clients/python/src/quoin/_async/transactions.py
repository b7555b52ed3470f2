"""Transactions: a builder, and functions that run as one change."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

from quoin import _types as types
from quoin._async.base import AsyncCalls
from quoin._async.keys import AsyncKeyValueClient
from quoin._core.effects import pause
from quoin._core.errors import QuoinError, bad_field, not_sent
from quoin._core.operation import PART_OPTIONS, backoff_ms, checked_options
from quoin._core.transactions import (
    BatchCollector,
    BatchPart,
    OptimisticState,
    TransactionEntry,
    TransactionResult,
    conflict,
    transaction_result,
)
from quoin._core.wire import checked_int32, checked_text, checked_timeout, kind_of
from quoin.ops import Part

if TYPE_CHECKING:
    from typing_extensions import Unpack

T = TypeVar("T")
ATTEMPTS_DEFAULT = 10
PAGE_SIZE = 1_000


class AsyncTransaction:
    """A transaction before it is sent: `transaction.if_(…).then(…).else_(…).commit()`. Each method returns a new
    one."""

    def __init__(self, calls: AsyncCalls, namespace: str, parts: tuple[tuple[Part, ...], ...] = ((), (), ())) -> None:
        self._calls = calls
        self._parts = parts
        self.namespace = checked_text(namespace, "namespace")

    def if_(self, *conditions: Part) -> AsyncTransaction:
        """Adds conditions. All must be true for the operations of `then` to run. Errors call them `compare`."""
        return self._with(0, conditions)

    def then(self, *operations: Part) -> AsyncTransaction:
        """Adds operations that run, in this order, if all conditions are true. Errors call them `success`."""
        return self._with(1, operations)

    def else_(self, *operations: Part) -> AsyncTransaction:
        """Adds operations that run, in this order, if a condition is not true. Errors call them `failure`."""
        return self._with(2, operations)

    async def commit(
        self, *, guard: types.Guarding | None = None, **call: Unpack[types.CallOptions]
    ) -> TransactionResult:
        """Runs the transaction. At most 10,000 operations and 10,000 conditions, and 4 MiB in all.

        A condition that is not true is no error. The error of an operation is that of the whole, and its detail
        `operation` names the operation, such as `success[3]`.
        """
        compare, success, failure = self._parts
        given = {"namespace": self.namespace, "compare": compare, "success": success, "failure": failure}
        return await self._calls._call(transaction_result, "TransactionService/Transact", given, {"guard": guard}, call)

    def _with(self, at: int, more: tuple[Part, ...]) -> AsyncTransaction:
        parts = tuple(part + more if index == at else part for index, part in enumerate(self._parts))
        return AsyncTransaction(self._calls, self.namespace, parts)


class AsyncOptimisticTransaction:
    """One run of a function of `transact`: it reads, and collects writes. Afterwards it can do neither."""

    def __init__(self, keys: AsyncKeyValueClient, namespace: str, until_ms: float, options: types.PartOptions) -> None:
        self._keys = keys
        self._namespace = namespace
        self._until_ms = until_ms
        self._call = options
        self._state = OptimisticState()

    async def get(self, key: str) -> bytes | None:
        """The value of a key. None = it does not exist. A key that this run has written has the written value."""
        is_known, value = self._state.known(key)
        if is_known:
            return value
        try:
            read = await self._keys.get(self._namespace, key, **self._options())
        except QuoinError as error:
            if error.reason != "KEY_NOT_FOUND":
                raise
            return self._state.remember_key(key, None, 0)
        return self._state.remember_key(key, read.value, read.mod_revision)

    async def list(self, prefix: str) -> Sequence[TransactionEntry]:
        """All keys with a prefix, in the order of their UTF-8 bytes, with the writes of this run.

        The transaction is not committed if another client changes any key with the prefix. What the service cannot
        tell, after 4,000 changes of the cluster, counts as changed.
        """
        self._state.assert_running()
        if checked_text(prefix, "prefix") not in self._state.prefixes:
            values: dict[str, bytes] = {}
            revision: int | None = None
            token: str | None = None
            while token != "":
                page = await self._keys.list(
                    self._namespace, prefix=prefix, page_size=PAGE_SIZE, page_token=token, **self._options()
                )
                # A change between two pages shows at the commit.
                revision = page.revision if revision is None else revision
                values.update((one.key, one.value) for one in page.items)
                token = page.next_page_token
            self._state.remember_prefix(prefix, values, revision or 0)
        return self._state.listed(prefix)

    def put(
        self, key: str, value: bytes | str, *, ttl_seconds: int | None = None, session_id: int | None = None
    ) -> None:
        """Creates or overwrites a key at the commit. A later write of the same key replaces this one."""
        self._state.put(key, value, {"ttl_seconds": ttl_seconds, "session_id": session_id})

    def delete(self, key: str) -> None:
        """Deletes a key at the commit. One that does not exist is no error."""
        self._state.delete(key)

    def append(self, log_id: str, payload: bytes | str, *, key: str | None = None) -> None:
        """Appends an event to a log of the namespace at the commit. `key` is the idempotency key of the event."""
        self._state.append(log_id, payload, key)

    async def _commit(self, guard: types.Guarding | None) -> Part | None:
        """What another client has changed. None = nothing, and the writes have taken effect."""
        state = self._state
        state.is_over = True
        if not state.conditions and not state.operations:
            return None
        transaction = AsyncTransaction(self._keys, self._namespace).if_(*state.conditions).then(*state.operations)
        result = await transaction.commit(guard=guard, **self._options())
        return None if result.failed_compare is None else state.conditions[result.failed_compare]

    def _options(self) -> types.PartOptions:
        remaining_ms = self._until_ms - self._keys._context.now_ms()
        if remaining_ms <= 0:
            raise not_sent("DEADLINE_EXCEEDED", "no time was left for the transaction")
        return {**self._call, "timeout_ms": remaining_ms}


async def transact(
    keys: AsyncKeyValueClient,
    namespace: str,
    work: Callable[[AsyncOptimisticTransaction], Awaitable[T]],
    max_attempts: int,
    guard: types.Guarding | None,
    options: types.PartOptions,
) -> T:
    """Runs the function until its reads hold at the commit; see `transact` of the client."""
    checked_options(options, PART_OPTIONS)
    if checked_int32(max_attempts, "max_attempts") < 1:
        raise bad_field("max_attempts", f"must be 1 or more, not {max_attempts}")
    if not callable(work):
        raise bad_field("work", "must be a function")
    context = keys._context
    until_ms = context.now_ms() + checked_timeout(options.get("timeout_ms", context.timeout_ms), "timeout_ms")
    attempt = 0
    while True:
        attempt += 1
        transaction = AsyncOptimisticTransaction(keys, namespace, until_ms, options)
        try:
            value = await work(transaction)
        finally:
            transaction._state.is_over = True
        changed = await transaction._commit(guard)
        if changed is None:
            return value
        pause_ms = backoff_ms(attempt, context.surroundings.random())
        if attempt >= max_attempts or pause_ms >= until_ms - context.now_ms():
            raise conflict(attempt, changed)
        cancel = options.get("cancel")
        await keys._io.run(pause(pause_ms, context.closing, *([] if cancel is None else [cancel])))


async def write_batch(
    keys: AsyncKeyValueClient,
    namespace: str,
    writes: Iterable[Part] | AsyncIterable[Part],
    on_part: Callable[[BatchPart], object] | None,
    guard: types.Guarding | None,
    options: types.PartOptions,
) -> list[BatchPart]:
    """Writes a batch; see `batch` of the client."""
    checked_options(options, PART_OPTIONS)
    done: list[BatchPart] = []
    most: int | None = None
    async for part in _parts_of(writes):
        rest = part
        while rest:
            sent = rest[:most]
            try:
                result = await AsyncTransaction(keys, namespace).then(*sent).commit(guard=guard, **options)
            except QuoinError as error:
                # The service also counts the values that the writes replace, which only it knows.
                if error.reason != "TOO_LARGE" or len(sent) == 1:
                    raise
                most = (len(sent) + 1) // 2
                continue
            deleted = sum(1 for one in result.results if getattr(one, "deleted", False))
            done.append(BatchPart(result.revision, len(sent), deleted))
            if on_part is not None:
                on_part(done[-1])
            rest = rest[len(sent) :]
    return done


async def _parts_of(writes: Iterable[Part] | AsyncIterable[Part]) -> AsyncIterator[Sequence[Part]]:
    collector = BatchCollector()
    if isinstance(writes, AsyncIterable):
        async for write in writes:
            for part in collector.add(write):
                yield part
    else:
        if not isinstance(writes, Iterable):
            raise bad_field("writes", f"must be iterable, not {kind_of(writes)}")
        for write in writes:
            for part in collector.add(write):
                yield part
    for part in collector.rest():
        yield part
