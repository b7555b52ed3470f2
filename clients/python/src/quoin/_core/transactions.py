"""Transactions: their results, what an optimistic one remembers, and the parts of a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quoin._core.errors import QuoinError, bad_field, quoin_error
from quoin._core.wire import checked_bytes, checked_text
from quoin._generated import decode, models
from quoin.ops import Part

WRITES_MAX = 10_000
# The bound of a transaction, with room for its other fields.
BYTES_MAX = 3.5 * 1024 * 1024
# The most bytes of a write besides its key and its value.
FRAME_BYTES = 48


@dataclass(frozen=True, slots=True)
class BranchResult:
    """What a transaction, or one within another, has done."""

    # Whether all conditions were true, so that the operations of `then` have run, else those of `else_`.
    succeeded: bool
    # One for each operation that has run, in order.
    results: tuple[TransactedResult, ...]
    # Position of the first condition that was not true. None = all were true.
    failed_compare: int | None


@dataclass(frozen=True, slots=True)
class TransactionResult(BranchResult):
    """What a transaction has done."""

    # Whether values are left out of the results, as None: only if an earlier attempt has run the transaction, and its
    # answer was larger than 4 KiB.
    values_omitted: bool
    # Revision of the transaction. If it has changed nothing, the revision at which it has read.
    revision: int


TransactedResult = (
    models.TransactedPut
    | models.TransactedDelete
    | models.TransactedDeletePrefix
    | models.TransactedTouch
    | models.TransactedIncrement
    | models.TransactedGet
    | models.TransactedList
    | models.TransactedWriteMemory
    | models.TransactedReadMemory
    | models.TransactedAppend
    | models.TransactedRelease
    | BranchResult
)

_OMITTING: dict[str, Callable[[Any, bool], TransactedResult]] = {
    "put": decode.transacted_put,
    "delete": decode.transacted_delete,
    "get": decode.transacted_get,
    "list": decode.transacted_list,
    "read_memory": decode.transacted_read_memory,
}
_PLAIN: dict[str, Callable[[Any], TransactedResult]] = {
    "delete_prefix": decode.transacted_delete_prefix,
    "touch": decode.transacted_touch,
    "increment": decode.transacted_increment,
    "write_memory": decode.transacted_write_memory,
    "append": decode.transacted_append,
    "release": decode.transacted_release,
}


def transaction_result(message: Any) -> TransactionResult:
    branch = _branch(message, message.values_omitted)
    return TransactionResult(*branch, message.values_omitted, message.revision)


def _branch(message: Any, omitted: bool) -> tuple[bool, tuple[TransactedResult, ...], int | None]:
    failed = message.failed_compare if message.HasField("failed_compare") else None
    return message.succeeded, tuple(_result(one, omitted) for one in message.results), failed


def _result(message: Any, omitted: bool) -> TransactedResult:
    kind = message.WhichOneof("result")
    if kind == "transaction":
        return BranchResult(*_branch(message.transaction, omitted))
    if kind in _OMITTING:
        return _OMITTING[kind](getattr(message, kind), omitted)
    if kind in _PLAIN:
        return _PLAIN[kind](getattr(message, kind))
    raise quoin_error("the answer has no result for an operation", code="INTERNAL")


@dataclass(frozen=True, slots=True)
class TransactionEntry:
    """A key of a list."""

    key: str
    value: bytes


class OptimisticState:
    """What one run has read, and what it will write."""

    def __init__(self) -> None:
        self.keys: dict[str, bytes | None] = {}
        self.prefixes: dict[str, dict[str, bytes]] = {}
        self.conditions: list[Part] = []
        self._writes: dict[str, Part] = {}
        self._appends: list[Part] = []
        self.is_over = False

    @property
    def operations(self) -> list[Part]:
        return [*self._writes.values(), *self._appends]

    def assert_running(self) -> None:
        if self.is_over:
            raise bad_field("transaction", "has ended: finish everything in the function")

    def known(self, key: str) -> tuple[bool, bytes | None]:
        """Whether the value of a key is known without a request, and the value."""
        self.assert_running()
        checked_text(key, "key")
        if key in self._writes:
            return True, _written(self._writes[key])
        if key in self.keys:
            return True, self.keys[key]
        for prefix, values in self.prefixes.items():
            if key.startswith(prefix):
                # The condition on the prefix holds for the key, too.
                return True, values.get(key)
        return False, None

    def remember_key(self, key: str, value: bytes | None, mod_revision: int) -> bytes | None:
        if key not in self.keys:
            self.keys[key] = value
            self.conditions.append({"key": {"key": key, "mod_revision": mod_revision}})
        return self.keys[key]

    def remember_prefix(self, prefix: str, values: dict[str, bytes], revision: int) -> None:
        if prefix not in self.prefixes:
            self.prefixes[prefix] = values
            self.conditions.append({"prefix": {"prefix": prefix, "unchanged_since": revision}})

    def listed(self, prefix: str) -> list[TransactionEntry]:
        """The keys of a prefix that was read, with the writes of this run, by their UTF-8 bytes."""
        values = dict(self.prefixes[prefix])
        for key, write in self._writes.items():
            value = _written(write)
            if value is None:
                values.pop(key, None)
            elif key.startswith(prefix):
                values[key] = value
        return [TransactionEntry(key, values[key]) for key in sorted(values, key=str.encode)]

    def put(self, key: str, value: bytes | str, more: Mapping[str, object]) -> None:
        self.assert_running()
        checked_text(key, "key")
        self._writes[key] = {"put": {"key": key, "value": checked_bytes(value, "value"), **more}}

    def delete(self, key: str) -> None:
        self.assert_running()
        self._writes[checked_text(key, "key")] = {"delete": {"key": key, "missing_ok": True}}

    def append(self, log_id: str, payload: bytes | str, key: str | None) -> None:
        self.assert_running()
        fields = {"log_id": checked_text(log_id, "log_id"), "payloads": [checked_bytes(payload, "payload")]}
        self._appends.append({"append": {**fields, "idempotency_key": key}})


def _written(write: Part) -> bytes | None:
    put = write.get("put")
    return None if put is None else put["value"]


def conflict(attempts: int, condition: Part) -> QuoinError:
    """The error of an optimistic transaction that others were always faster than."""
    key, prefix = condition.get("key"), condition.get("prefix")
    changed = f"the key {key['key']}" if key else f"keys with the prefix {prefix['prefix'] if prefix else ''}"
    return quoin_error(
        f"other clients changed {changed} in the last of {attempts} attempts of the transaction",
        code="ABORTED",
        reason="TRANSACTION_CONFLICT",
        details={"attempts": str(attempts)},
    )


@dataclass(frozen=True, slots=True)
class BatchPart:
    """Writes of a batch that have taken effect as one change."""

    revision: int
    # Number of its writes.
    writes: int
    # Number of keys that it has deleted.
    deleted_keys: int


class BatchCollector:
    """Collects writes to parts that fit into a request, and write each key once."""

    def __init__(self) -> None:
        self._part: list[Part] = []
        self._keys: set[str] = set()
        self._bytes = 0.0

    def add(self, write: Part) -> Iterator[Sequence[Part]]:
        """Adds a write. Yields the part that is complete without it, if there is one."""
        kind = next(iter(write), "") if isinstance(write, Mapping) else ""
        fields = write[kind] if kind in ("put", "delete") and len(write) == 1 else None
        if fields is None:
            raise bad_field("writes", "must have a put or a delete each")
        key = checked_text(fields.get("key"), "key")
        value = checked_bytes(fields.get("value"), "value") if kind == "put" else b""
        size = len(key.encode()) + len(value) + FRAME_BYTES
        if len(self._part) == WRITES_MAX or (self._part and self._bytes + size > BYTES_MAX) or key in self._keys:
            yield from self.rest()
        self._part.append({"delete": {**fields, "missing_ok": True}} if kind == "delete" else write)
        self._keys.add(key)
        self._bytes += size

    def rest(self) -> Iterator[Sequence[Part]]:
        """Yields what is left, if there is something."""
        part, self._part, self._keys, self._bytes = self._part, [], set(), 0.0
        if part:
            yield part
