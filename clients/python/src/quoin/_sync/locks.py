# Made by scripts/generate.py from _async. Do not edit.
"""Locks of all kinds, and holds that renew themselves."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from quoin import _types as types
from quoin._core.effects import Steps
from quoin._core.errors import QuoinError, quoin_error
from quoin._core.life import HoldLife
from quoin._core.operation import PART_OPTIONS, Persistence, checked_options, execute
from quoin._sync.base import DEFAULT_WAIT_MS, PROCESS_OWNER, Calls, Closeable, Lost, deadline_of
from quoin._sync.calls import LockCalls, ReadWriteLockCalls, SemaphoreCalls

if TYPE_CHECKING:
    from typing_extensions import Unpack

H = TypeVar("H", bound="Hold")


class Hold(Closeable):
    """A hold of a lock that is renewed until it is released or lost. Leaving its `with` block releases it."""

    def __init__(self, calls: Calls, kind: str, given: Mapping[str, Any], owner: str, ttl: int, life: HoldLife) -> None:
        self._calls = calls
        self._kind = kind
        self._given = given
        self._ttl_seconds = ttl
        self._life = life
        self._release_id = str(uuid.uuid4())
        self.namespace: str = given["namespace"]
        self.name: str = given["name"]
        # Label of the hold.
        self.owner = owner
        # Tells that the hold is lost: `hold.lost.is_set()`. A release does not set it.
        self.lost = Lost(calls._io, life)

    @property
    def token(self) -> int:
        """Fencing token: greater than those of all earlier holds of any lock."""
        return self._life.token

    @property
    def deadline_ms(self) -> float:
        """When the hold ends without renewal, on the clock of `time.monotonic()`, in milliseconds."""
        return self._life.deadline_ms

    @property
    def remaining_ms(self) -> float:
        """The remaining time of the hold without renewal, in milliseconds. 0 = it has ended."""
        return self._life.remaining_ms

    @property
    def is_held(self) -> bool:
        """Whether the lock is certainly held now."""
        return self.remaining_ms > 0

    @property
    def error(self) -> QuoinError | None:
        """Why the hold is lost. None = it is not."""
        return self._life.error if self.lost.is_set() else None

    @property
    def guard(self) -> types.Guard:
        """Makes a write take effect only while this hold is live: `put(..., guard=hold)`."""
        return types.Guard(self.name, self.token, self._kind == "RWLock", self.namespace)

    def raise_if_lost(self) -> None:
        """Raises LockLostError if the hold is lost."""
        if self.error is not None:
            raise self.error.replaced() from self.error

    def release(self, **call: Unpack[types.PartOptions]) -> bool:
        """Releases the lock; the next waiter gets it at once. Further calls do nothing.

        Returns whether the lock was held until then. Raises QuoinError if no member answers: the hold is no longer
        renewed, and release may be called again.
        """
        checked_options(call, PART_OPTIONS)
        options = {**call, "request_id": self._release_id}
        target = {"namespace": self.namespace, "name": self.name, "owner": self.owner}
        context = self._calls._context

        def send(token: int) -> Steps[object]:
            return execute(context, f"LockService/Release{self._kind}", {**target, "fencing_token": token}, options)

        return self._calls._io.run(self._life.release(send))

    def _left(self, kind: type[BaseException] | None) -> None:
        # The work under the lock is done. If no member answers, the hold ends at its deadline.
        with contextlib.suppress(QuoinError):
            self.release()
        if kind is None:
            self.raise_if_lost()

    def _renewing(self, more: Mapping[str, Any]) -> Callable[[HoldLife, float, Persistence], Steps[tuple[int, float]]]:
        """Steps that renew the hold, perhaps in another mode."""

        def renew(life: HoldLife, timeout_ms: float, persistence: Persistence) -> Steps[tuple[int, float]]:
            fields = {**self._given, **more, "owner": self.owner, "fencing_token": life.token}
            fields["ttl_seconds"] = self._ttl_seconds
            method, options = f"LockService/Acquire{self._kind}", {"timeout_ms": timeout_ms}
            execution = yield from execute(self._calls._context, method, fields, options, persistence, life.ended)
            return execution.message.fencing_token, deadline_of(execution)

        return renew


class ReadWriteHold(Hold):
    """A hold of a read-write lock, in a mode."""

    @property
    def mode(self) -> str:
        """The mode of the hold: `READ` or `WRITE`."""
        return str(self._given["mode"])

    def downgrade(self) -> None:
        """Lets readers in: WRITE becomes READ, with the same token, and no other holder gets the lock in between."""
        self._change_mode("READ")

    def upgrade(self) -> None:
        """Makes a reader the writer, under a new token; earlier reads are still valid.

        Raises UpgradeWouldDeadlockError if others read or wait, and then the hold does not change.
        """
        self._change_mode("WRITE")

    def _change_mode(self, mode: str) -> None:
        renew = self._renewing({"mode": mode})

        def change(life: HoldLife, timeout_ms: float, persistence: Persistence) -> Steps[tuple[int, float]]:
            changed = yield from renew(life, timeout_ms, persistence)
            self._given = {**self._given, "mode": mode}
            return changed

        self._calls._io.run(self._life.change(change))


class _Holder(Calls, Generic[H]):
    """Acquires locks of one kind, and renews the holds."""

    _kind: str
    _hold_class: type[H]

    def _hold(self, given: Mapping[str, Any], options: Mapping[str, Any]) -> H:
        owner = options.get("owner") or PROCESS_OWNER
        names = ("ttl_seconds", "value", "permits")
        optional = {name: options.get(name) for name in names if name in options}
        wait_ms = options.get("wait_ms", DEFAULT_WAIT_MS)
        rest = {name: value for name, value in options.items() if name not in (*names, "owner", "wait_ms")}
        more = {**optional, "owner": owner, "wait_ms": wait_ms}
        execution = self._execute(f"LockService/Acquire{self._kind}", given, more, rest)
        message: Any = execution.message
        if not message.acquired:
            raise _not_acquired(given, message, self._kind)
        # A renewal keeps the permits.
        life = HoldLife(
            self._context,
            given["name"],
            message.fencing_token,
            deadline_of(execution),
            lambda *args: hold._renewing({})(*args),
        )
        hold = self._hold_class(self, self._kind, given, owner, message.ttl_seconds, life)
        self._spawn(life.watch_deadline(), life.renewals())
        return hold


class LockClient(LockCalls, _Holder[Hold]):
    """Exclusive locks: single calls, and holds that are renewed."""

    _kind = "Lock"
    _hold_class = Hold

    def hold(
        self, namespace: str, name: str, *, value: bytes | str | None = None, **options: Unpack[types.AcquireOptions]
    ) -> Hold:
        """Acquires a lock, and renews the hold until it is released or lost.

        `value` is what the hold shows to others, at most 1,024 bytes. Raises NotAcquiredError if others held the lock
        for all of `wait_ms`.
        """
        more = {} if value is None else {"value": value}
        return self._hold({"namespace": namespace, "name": name}, {**options, **more})


class ReadWriteLockClient(ReadWriteLockCalls, _Holder[ReadWriteHold]):
    """Read-write locks: single calls, and holds that are renewed."""

    _kind = "RWLock"
    _hold_class = ReadWriteHold

    def hold(
        self, namespace: str, name: str, mode: types.LockMode, **options: Unpack[types.AcquireOptions]
    ) -> ReadWriteHold:
        """Acquires a lock in a mode, and renews the hold until it is released or lost.

        Raises NotAcquiredError if others were in the way for all of `wait_ms`.
        """
        return self._hold({"namespace": namespace, "name": name, "mode": mode}, options)


class SemaphoreClient(SemaphoreCalls, _Holder[Hold]):
    """Semaphores: single calls, and holds that are renewed."""

    _kind = "Semaphore"
    _hold_class = Hold

    def hold(self, namespace: str, name: str, *, permits: int = 1, **options: Unpack[types.AcquireOptions]) -> Hold:
        """Acquires permits, and renews the hold until it is released or lost.

        Raises NotAcquiredError if too few permits were free for all of `wait_ms`.
        """
        return self._hold({"namespace": namespace, "name": name}, {**options, "permits": permits})


def _not_acquired(given: Mapping[str, Any], message: Any, kind: str) -> QuoinError:
    holders = [message.holder] if kind == "Lock" and message.HasField("holder") else []
    holders = list(message.holders) if kind != "Lock" else holders
    who = f"{holders[0].owner} holds it" if holders else "its lock delay has not ended"
    return quoin_error(
        f"lock {given['namespace']}/{given['name']} was not acquired: {who}",
        code="FAILED_PRECONDITION",
        reason="NOT_ACQUIRED",
        details={"lock": given["name"]},
    )
