# Made by scripts/generate.py from the contract. Do not edit.
"""The calls that need no more than their fields."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING

from quoin import _types as types
from quoin._async.base import AsyncCalls
from quoin._generated import decode, models

if TYPE_CHECKING:
    from typing_extensions import Unpack


class AsyncKeyValueCalls(AsyncCalls):
    """Keys and values in namespaces."""

    async def create_namespace(self, namespace: str, **call: Unpack[types.CallOptions]) -> models.CreateNamespaceResult:
        """Creates a namespace. The token and its user must both have the name (or `*`) in their namespaces, and the
        access `admin`. The call does not change these lists. Errors: ALREADY_EXISTS / NAMESPACE_EXISTS;
        FAILED_PRECONDITION / NAMESPACE_DELETING while a namespace of this name is being deleted: try again
        later, with another request id.

        - `namespace`: Name of the namespace, 1 to 63 characters: `^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$`.
        """
        return await self._call(
            decode.create_namespace_result, "KeyValueService/CreateNamespace", {"namespace": namespace}, {}, call
        )

    async def delete_namespace(
        self, namespace: str, *, recursive: bool = False, **call: Unpack[types.CallOptions]
    ) -> models.Changed:
        """Begins to delete a namespace: an empty one, or any with `recursive`. From then on every other call in it
        is refused with NOT_FOUND / NAMESPACE_NOT_FOUND, and calls for its event logs with NOT_FOUND /
        LOG_NOT_FOUND. Its watches and tails end, and requests that wait for its locks are refused. The cluster
        then erases keys, locks, memory regions, event logs, change history and limits in small steps.
        ListNamespaces shows the namespace as `deleting` until nothing is left. Nothing undoes a deletion. The
        answer does not wait for the end; a further request gets the same answer. Users, tokens and API keys keep
        the name in their namespaces. `default` cannot be deleted. While the cluster is being upgraded from a
        release that lacks this method, it is UNIMPLEMENTED / NOT_SERVED. Errors: NOT_FOUND /
        NAMESPACE_NOT_FOUND; FAILED_PRECONDITION / NOT_EMPTY without `recursive`, with the numbers of `keys`,
        `locks`, `memory_regions` and `event_logs` as details.

        - `namespace`: Name of the namespace; not `default`.
        - `recursive`: Whether to delete it although it has keys, locks, memory regions or event logs.
        """
        return await self._call(
            decode.changed, "KeyValueService/DeleteNamespace", {"namespace": namespace}, {"recursive": recursive}, call
        )

    async def list_namespaces(
        self,
        *,
        prefix: str | None = None,
        page_size: int | None = None,
        page_token: str | None = None,
        names_only: bool = False,
        consistency: types.Consistency | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.NamespacePage:
        """Lists the namespaces that the caller may read, page by page, ordered by name. Any valid token is enough.
        A page may have fewer namespaces than its size, even none, and still have a next page. Errors:
        INVALID_ARGUMENT / BAD_FIELD for a page token of another listing.

        - `prefix`: Prefix of the names, at most 63 characters; empty = all.
        - `page_size`: Maximum number of namespaces in the page, 1 to 1,000; 0 = 100.
        - `page_token`: next_page_token of the previous page; empty = the first page. The token is authenticated,
          and valid only for the same prefix.
        - `names_only`: Whether to leave out everything but the names.
        - `consistency`: Freshness of the answer. Default: LINEARIZABLE.
        """
        return await self._call(
            decode.namespace_page,
            "KeyValueService/ListNamespaces",
            {},
            {
                "prefix": prefix,
                "page_size": page_size,
                "page_token": page_token,
                "names_only": names_only,
                "consistency": consistency,
            },
            call,
        )

    async def namespace_pages(
        self,
        *,
        prefix: str | None = None,
        page_size: int | None = None,
        names_only: bool = False,
        consistency: types.Consistency | None = None,
        **call: Unpack[types.PartOptions],
    ) -> AsyncIterator[models.NamespacePage]:
        """All pages of `list_namespaces`, each when it is needed. Every page is a call of its own, with the whole
        `timeout_ms`, and may have another revision.
        """
        token: str | None = None
        while token != "":
            page = await self.list_namespaces(
                prefix=prefix,
                page_size=page_size,
                names_only=names_only,
                consistency=consistency,
                page_token=token,
                **call,
            )
            yield page
            token = page.next_page_token

    async def get(
        self,
        namespace: str,
        key: str,
        *,
        consistency: types.Consistency | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.GetResult:
        """Reads one key. Errors: NOT_FOUND / NAMESPACE_NOT_FOUND, KEY_NOT_FOUND.

        - `namespace`: Namespace of the key.
        - `key`: The key, 1 to 1,024 bytes.
        - `consistency`: Freshness of the answer. Default: LINEARIZABLE.
        """
        return await self._call(
            decode.get_result,
            "KeyValueService/GetKey",
            {"namespace": namespace, "key": key},
            {"consistency": consistency},
            call,
        )

    async def put(
        self,
        namespace: str,
        key: str,
        value: bytes | str,
        *,
        ttl_seconds: int | None = None,
        expected_mod_revision: int | None = None,
        return_previous: bool = False,
        guard: types.Guarding | None = None,
        session_id: int | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.PutResult:
        """Creates or overwrites one key. Errors: NOT_FOUND / NAMESPACE_NOT_FOUND; ABORTED / FENCED;
        FAILED_PRECONDITION / REVISION_MISMATCH; RESOURCE_EXHAUSTED / QUOTA, STORAGE_FULL.

        - `namespace`: Namespace of the key.
        - `key`: The key, 1 to 1,024 bytes.
        - `value`: The new value, 0 to 1 MiB.
        - `ttl_seconds`: Time to live of the key in seconds, 1 to 31,536,000 (one year); 0 = the key does not
          expire, even if it had a time to live before.
        - `expected_mod_revision`: If given, the key's mod_revision must be equal to it, else FAILED_PRECONDITION /
          REVISION_MISMATCH. 0 = the key must not exist. Absent = unconditional.
        - `return_previous`: Whether the answer contains the key as it was before.
        - `guard`: A lock hold that must be live; absent = none is required.
        - `session_id`: A session of the caller's user, with which the key ends; 0 = none, also if the key had one.
          Otherwise NOT_FOUND / SESSION_NOT_FOUND or PERMISSION_DENIED / ACCESS_DENIED. A session has at most 1,000
          keys and lock holds, and 4 MiB of keys with their values; beyond that it is RESOURCE_EXHAUSTED / QUOTA.
        """
        return await self._call(
            decode.put_result,
            "KeyValueService/PutKey",
            {"namespace": namespace, "key": key, "value": value},
            {
                "ttl_seconds": ttl_seconds,
                "expected_mod_revision": expected_mod_revision,
                "return_previous": return_previous,
                "guard": guard,
                "session_id": session_id,
            },
            call,
        )

    async def delete(
        self,
        namespace: str,
        key: str,
        *,
        expected_mod_revision: int | None = None,
        return_previous: bool = False,
        guard: types.Guarding | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.DeleteResult:
        """Deletes one key. Errors: NOT_FOUND / NAMESPACE_NOT_FOUND, KEY_NOT_FOUND; ABORTED / FENCED;
        FAILED_PRECONDITION / REVISION_MISMATCH.

        - `namespace`: Namespace of the key.
        - `key`: The key, 1 to 1,024 bytes.
        - `expected_mod_revision`: If given, the key's mod_revision must be equal to it, else FAILED_PRECONDITION /
          REVISION_MISMATCH. Absent = unconditional.
        - `return_previous`: Whether the answer contains the key as it was before.
        - `guard`: A lock hold that must be live; absent = none is required.
        """
        return await self._call(
            decode.delete_result,
            "KeyValueService/DeleteKey",
            {"namespace": namespace, "key": key},
            {"expected_mod_revision": expected_mod_revision, "return_previous": return_previous, "guard": guard},
            call,
        )

    async def touch(
        self,
        namespace: str,
        key: str,
        ttl_seconds: int,
        *,
        expected_mod_revision: int | None = None,
        guard: types.Guarding | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.TouchResult:
        """Gives one key a new time to live, from now on, without its value. Nothing else changes: the key keeps its
        mod_revision and version, no watch sees an event, and the history gets no version. While the cluster is
        being upgraded from a release that lacks this method, it is UNIMPLEMENTED / NOT_SERVED. Errors: NOT_FOUND
        / NAMESPACE_NOT_FOUND, KEY_NOT_FOUND; ABORTED / FENCED; FAILED_PRECONDITION / REVISION_MISMATCH.

        - `namespace`: Namespace of the key.
        - `key`: The key, 1 to 1,024 bytes.
        - `ttl_seconds`: Time to live of the key in seconds, 1 to 31,536,000 (one year), which replaces what was
          left of the former one; 0 = the key does not expire any more.
        - `expected_mod_revision`: If given, the key's mod_revision must be equal to it, else FAILED_PRECONDITION /
          REVISION_MISMATCH. Absent = unconditional.
        - `guard`: A lock hold that must be live; absent = none is required.
        """
        return await self._call(
            decode.touch_result,
            "KeyValueService/TouchKey",
            {"namespace": namespace, "key": key, "ttl_seconds": ttl_seconds},
            {"expected_mod_revision": expected_mod_revision, "guard": guard},
            call,
        )

    async def list(
        self,
        namespace: str,
        *,
        prefix: str | None = None,
        page_size: int | None = None,
        page_token: str | None = None,
        keys_only: bool = False,
        consistency: types.Consistency | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.KeyPage:
        """Lists the keys with a prefix, page by page, ordered by their UTF-8 bytes (U+FFFF before U+1F600). Errors:
        NOT_FOUND / NAMESPACE_NOT_FOUND; INVALID_ARGUMENT / BAD_FIELD for a page token of another listing.

        - `namespace`: Namespace of the keys.
        - `prefix`: Prefix of the keys, at most 1,024 bytes; empty = all keys of the namespace.
        - `page_size`: Maximum number of keys in the page, 1 to 1,000; 0 = 100. A page also ends at about 256 KiB.
        - `page_token`: next_page_token of the previous page; empty = the first page. The token is authenticated,
          and valid only for the same namespace and prefix.
        - `keys_only`: Whether to leave out the values.
        - `consistency`: Freshness of the answer. Default: LINEARIZABLE.
        """
        return await self._call(
            decode.key_page,
            "KeyValueService/ListKeys",
            {"namespace": namespace},
            {
                "prefix": prefix,
                "page_size": page_size,
                "page_token": page_token,
                "keys_only": keys_only,
                "consistency": consistency,
            },
            call,
        )

    async def pages(
        self,
        namespace: str,
        *,
        prefix: str | None = None,
        page_size: int | None = None,
        keys_only: bool = False,
        consistency: types.Consistency | None = None,
        **call: Unpack[types.PartOptions],
    ) -> AsyncIterator[models.KeyPage]:
        """All pages of `list`, each when it is needed. Every page is a call of its own, with the whole
        `timeout_ms`, and may have another revision.
        """
        token: str | None = None
        while token != "":
            page = await self.list(
                namespace,
                prefix=prefix,
                page_size=page_size,
                keys_only=keys_only,
                consistency=consistency,
                page_token=token,
                **call,
            )
            yield page
            token = page.next_page_token

    async def count(
        self,
        namespace: str,
        *,
        prefix: str | None = None,
        consistency: types.Consistency | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.CountResult:
        """Counts the keys with a prefix, exactly at the revision of the answer, up to 1,000,000. A count of many
        keys counts against the rate limit as the pages of a listing of them would. Errors: NOT_FOUND /
        NAMESPACE_NOT_FOUND.

        - `namespace`: Namespace of the keys.
        - `prefix`: Prefix of the keys, at most 1,024 bytes; empty = all keys of the namespace.
        - `consistency`: Freshness of the answer. Default: LINEARIZABLE.
        """
        return await self._call(
            decode.count_result,
            "KeyValueService/CountKeys",
            {"namespace": namespace},
            {"prefix": prefix, "consistency": consistency},
            call,
        )

    async def versions(
        self,
        namespace: str,
        key: str,
        *,
        page_size: int | None = None,
        page_token: str | None = None,
        keys_only: bool = False,
        consistency: types.Consistency | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.KeyVersionPage:
        """Lists the versions of one key, the newest first, page by page, as far back as the change history reaches.
        Deletions and expiries are versions too. The key need not exist now. A page reads a bounded part of the
        history, so it may have fewer versions than its size, even none, and still have a next page. Errors:
        NOT_FOUND / NAMESPACE_NOT_FOUND; INVALID_ARGUMENT / BAD_FIELD for a page token of another listing.

        - `namespace`: Namespace of the key.
        - `key`: The key, 1 to 1,024 bytes.
        - `page_size`: Maximum number of versions in the page, 1 to 1,000; 0 = 100. A page also ends at about 256
          KiB of values.
        - `page_token`: next_page_token of the previous page; empty = the first page. The token is authenticated,
          and valid only for the same namespace and key.
        - `keys_only`: Whether to leave out the values.
        - `consistency`: Freshness of the answer. Default: LINEARIZABLE.
        """
        return await self._call(
            decode.key_version_page,
            "KeyValueService/ListKeyVersions",
            {"namespace": namespace, "key": key},
            {"page_size": page_size, "page_token": page_token, "keys_only": keys_only, "consistency": consistency},
            call,
        )

    async def version_pages(
        self,
        namespace: str,
        key: str,
        *,
        page_size: int | None = None,
        keys_only: bool = False,
        consistency: types.Consistency | None = None,
        **call: Unpack[types.PartOptions],
    ) -> AsyncIterator[models.KeyVersionPage]:
        """All pages of `versions`, each when it is needed. Every page is a call of its own, with the whole
        `timeout_ms`, and may have another revision.
        """
        token: str | None = None
        while token != "":
            page = await self.versions(
                namespace,
                key,
                page_size=page_size,
                keys_only=keys_only,
                consistency=consistency,
                page_token=token,
                **call,
            )
            yield page
            token = page.next_page_token

    async def compare_and_swap(
        self,
        namespace: str,
        key: str,
        new_value: bytes | str,
        *,
        expected_value: bytes | str | None = None,
        expected_mod_revision: int | None = None,
        ttl_seconds: int | None = None,
        guard: types.Guarding | None = None,
        session_id: int | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.CompareAndSwapResult:
        """Writes one key if it is as the caller expects. A failed comparison is not an error: the answer is OK with
        success = false. Errors: NOT_FOUND / NAMESPACE_NOT_FOUND; ABORTED / FENCED; RESOURCE_EXHAUSTED / QUOTA,
        STORAGE_FULL.

        - `namespace`: Namespace of the key.
        - `key`: The key, 1 to 1,024 bytes.
        - `new_value`: The new value, 0 to 1 MiB.
        - `expected_value`: If given, the key must exist with exactly this value, which may be empty. A value cannot
          show that the key was changed and changed back; expected_mod_revision can.
        - `expected_mod_revision`: If given, the key's mod_revision must be equal to it; 0 = the key must not exist.
        - `ttl_seconds`: Time to live of the key in seconds after a successful write, 1 to 31,536,000; 0 = the key
          does not expire.
        - `guard`: A lock hold that must be live; absent = none is required.
        - `session_id`: A session of the caller's user, with which the key ends after a successful write; 0 = none.
          As for PutKey.
        """
        return await self._call(
            decode.compare_and_swap_result,
            "KeyValueService/CompareAndSwap",
            {"namespace": namespace, "key": key, "new_value": new_value},
            {
                "expected_value": expected_value,
                "expected_mod_revision": expected_mod_revision,
                "ttl_seconds": ttl_seconds,
                "guard": guard,
                "session_id": session_id,
            },
            call,
        )


class AsyncLockCalls(AsyncCalls):
    """Exclusive locks."""

    async def create(
        self,
        namespace: str,
        name: str,
        *,
        ttl_seconds: int | None = None,
        lock_delay_seconds: int | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.CreateLockResult:
        """Creates an exclusive lock. It is free at first. Errors: NOT_FOUND / NAMESPACE_NOT_FOUND; ALREADY_EXISTS /
        LOCK_EXISTS; RESOURCE_EXHAUSTED / QUOTA, STORAGE_FULL.

        - `namespace`: Namespace of the lock.
        - `name`: Name of the lock, 1 to 256 bytes.
        - `ttl_seconds`: Default time to live of a hold in seconds, 1 to 86,400; 0 = 30.
        - `lock_delay_seconds`: Seconds that must pass after an expired or forced hold before the next grant, 0 to
          60.
        """
        return await self._call(
            decode.create_lock_result,
            "LockService/CreateLock",
            {"namespace": namespace, "name": name},
            {"ttl_seconds": ttl_seconds, "lock_delay_seconds": lock_delay_seconds},
            call,
        )

    async def describe(
        self,
        namespace: str,
        name: str,
        *,
        consistency: types.Consistency | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.DescribeLockResult:
        """Reads the state of an exclusive lock.

        - `namespace`: Namespace of the lock.
        - `name`: Name of the lock, 1 to 256 bytes.
        - `consistency`: Freshness of the answer. Default: LINEARIZABLE.
        """
        return await self._call(
            decode.describe_lock_result,
            "LockService/DescribeLock",
            {"namespace": namespace, "name": name},
            {"consistency": consistency},
            call,
        )

    async def acquire(
        self,
        namespace: str,
        name: str,
        *,
        ttl_seconds: int | None = None,
        owner: str | None = None,
        wait_ms: int | None = None,
        value: bytes | str | None = None,
        session_id: int | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.AcquireLockResult:
        """Acquires an exclusive lock, waits for it, or renews a hold. If the caller does not get the lock in time,
        the answer is OK with acquired = false. A second request of the same subject and owner without a token
        waits like any other; it is not treated as the holder's. While the cluster is being upgraded from a
        release that lacks values, a request with a value is UNIMPLEMENTED / NOT_SERVED. Errors:
        FAILED_PRECONDITION / LOCK_LOST when the hold to renew no longer exists, NOT_LOCK_HOLDER when the token
        belongs to another subject (or, if `owner` is given, to another owner); RESOURCE_EXHAUSTED / QUOTA,
        STORAGE_FULL, but never for a renewal.

        - `namespace`: Namespace of the lock.
        - `name`: Name of the lock, 1 to 256 bytes.
        - `ttl_seconds`: Time to live of the hold in seconds, from its grant or renewal, 1 to 86,400; 0 = the lock's
          default.
        - `owner`: Label of the holder, at most 256 bytes; empty = the token's subject.
        - `wait_ms`: How long to wait for the lock, in milliseconds; 0 = try once. If this time ends first, the
          answer is OK with acquired = false. If the call's deadline (at most one hour) ends first, the answer is
          DEADLINE_EXCEEDED.
        - `value`: Value that the new hold shows to others, at most 1,024 bytes; empty = none. It must be empty in a
          renewal, after which the hold has its value still: SetLockValue changes it. A member of a release that
          lacks this field ignores it.
        - `session_id`: A session of the caller's user, with which a new hold ends instead of after a time to live:
          ttl_seconds must be 0 then. 0 = none, and in a renewal. Otherwise NOT_FOUND / SESSION_NOT_FOUND,
          PERMISSION_DENIED / ACCESS_DENIED, or RESOURCE_EXHAUSTED / QUOTA if the session has 1,000 keys and holds.
        """
        return await self._call(
            decode.acquire_lock_result,
            "LockService/AcquireLock",
            {"namespace": namespace, "name": name},
            {"ttl_seconds": ttl_seconds, "owner": owner, "wait_ms": wait_ms, "value": value, "session_id": session_id},
            call,
        )

    async def renew(
        self,
        namespace: str,
        name: str,
        fencing_token: int,
        *,
        ttl_seconds: int | None = None,
        owner: str | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.AcquireLockResult:
        """Acquires an exclusive lock, waits for it, or renews a hold. If the caller does not get the lock in time,
        the answer is OK with acquired = false. A second request of the same subject and owner without a token
        waits like any other; it is not treated as the holder's. While the cluster is being upgraded from a
        release that lacks values, a request with a value is UNIMPLEMENTED / NOT_SERVED. Errors:
        FAILED_PRECONDITION / LOCK_LOST when the hold to renew no longer exists, NOT_LOCK_HOLDER when the token
        belongs to another subject (or, if `owner` is given, to another owner); RESOURCE_EXHAUSTED / QUOTA,
        STORAGE_FULL, but never for a renewal.

        - `namespace`: Namespace of the lock.
        - `name`: Name of the lock, 1 to 256 bytes.
        - `fencing_token`: Token of a hold to renew; 0 = a new hold.
        - `ttl_seconds`: Time to live of the hold in seconds, from its grant or renewal, 1 to 86,400; 0 = the lock's
          default.
        - `owner`: Label of the holder, at most 256 bytes; empty = the token's subject.
        """
        return await self._call(
            decode.acquire_lock_result,
            "LockService/AcquireLock",
            {"namespace": namespace, "name": name, "fencing_token": fencing_token},
            {"ttl_seconds": ttl_seconds, "owner": owner},
            call,
        )

    async def release(
        self,
        namespace: str,
        name: str,
        *,
        owner: str | None = None,
        fencing_token: int | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.ReleaseResult:
        """Releases an exclusive lock; the next waiter gets it at once. It releases a hold of a semaphore too.
        Errors: FAILED_PRECONDITION / NOT_LOCK_HOLDER when the lock is free or has another holder. Then nothing
        changes.

        - `namespace`: Namespace of the lock.
        - `name`: Name of the lock, 1 to 256 bytes.
        - `owner`: Label of the holder, as given to AcquireLock; empty = the token's subject.
        - `fencing_token`: Token of the hold; 0 = the hold with the caller's subject and this owner.
        """
        return await self._call(
            decode.release_result,
            "LockService/ReleaseLock",
            {"namespace": namespace, "name": name},
            {"owner": owner, "fencing_token": fencing_token},
            call,
        )

    async def force_release(
        self,
        namespace: str,
        name: str,
        *,
        fencing_token: int | None = None,
        reason: str | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.ForceReleaseResult:
        """Ends the holds of an exclusive lock, a semaphore or a read-write lock. The lock's delay must pass before
        the next exclusive grant. If the lock is free already, the answer is OK with released = false.

        - `namespace`: Namespace of the lock.
        - `name`: Name of the lock, 1 to 256 bytes.
        - `fencing_token`: End only the hold with this token, if it is still live; 0 = end all holds of the lock.
        - `reason`: Why, for the record; at most 256 bytes.
        """
        return await self._call(
            decode.force_release_result,
            "LockService/ForceReleaseLock",
            {"namespace": namespace, "name": name},
            {"fencing_token": fencing_token, "reason": reason, "rw": False},
            call,
        )

    async def delete(
        self, namespace: str, name: str, *, force: bool = False, **call: Unpack[types.CallOptions]
    ) -> models.Changed:
        """Deletes an exclusive lock that no client holds or waits for and whose delay has passed. With `force` it
        also ends the holds, as ForceReleaseLock does, and requests that wait are answered NOT_FOUND /
        LOCK_NOT_FOUND. A lock that is created again under the name never gives a token again. While the cluster
        is being upgraded from a release that lacks this method, it is UNIMPLEMENTED / NOT_SERVED. Errors:
        FAILED_PRECONDITION / NOT_EMPTY when the lock is in use.

        - `namespace`: Namespace of the lock.
        - `name`: Name of the lock, 1 to 256 bytes.
        - `force`: Delete the lock although it is in use. Needs the access `admin`.
        """
        return await self._call(
            decode.changed, "LockService/DeleteLock", {"namespace": namespace, "name": name}, {"force": force}, call
        )

    async def set_value(
        self,
        namespace: str,
        name: str,
        fencing_token: int,
        value: bytes | str,
        *,
        owner: str | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.Changed:
        """Replaces the value of a hold of an exclusive lock, which DescribeLock and WatchLocks show. The time to
        live of the hold goes on. The value also makes the lock an election, whose leader is the holder. While
        the cluster is being upgraded from a release that lacks this method, it is UNIMPLEMENTED / NOT_SERVED.
        Errors: FAILED_PRECONDITION / LOCK_LOST when the hold no longer exists, NOT_LOCK_HOLDER when the token
        belongs to another subject (or, if `owner` is given, to another owner); RESOURCE_EXHAUSTED / QUOTA,
        STORAGE_FULL.

        - `namespace`: Namespace of the lock.
        - `name`: Name of the lock, 1 to 256 bytes.
        - `fencing_token`: Token of the hold; required.
        - `value`: The new value, at most 1,024 bytes; empty = none.
        - `owner`: Label of the holder, as given to AcquireLock; empty = any of the caller's subject.
        """
        return await self._call(
            decode.changed,
            "LockService/SetLockValue",
            {"namespace": namespace, "name": name, "fencing_token": fencing_token, "value": value},
            {"owner": owner},
            call,
        )

    async def list(
        self,
        namespace: str,
        *,
        name_prefix: str | None = None,
        page_size: int | None = None,
        page_token: str | None = None,
        in_use_only: bool = False,
        waits_max: int | None = None,
        names_only: bool = False,
        consistency: types.Consistency | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.LockPage:
        """Lists the locks of a namespace with their holders and the first of their waits, page by page: exclusive
        locks and semaphores, then read-write locks, each ordered by the UTF-8 bytes of their names. A page may
        have fewer locks than its size, even none, and still have a next page. Errors: NOT_FOUND /
        NAMESPACE_NOT_FOUND; INVALID_ARGUMENT / BAD_FIELD for a page token of another listing.

        - `namespace`: Namespace of the locks.
        - `name_prefix`: Prefix of the names, at most 256 bytes; empty = all locks of the namespace.
        - `page_size`: Maximum number of locks in the page, 1 to 1,000; 0 = 100. A page also ends at about 256 KiB.
        - `page_token`: next_page_token of the previous page; empty = the first page. The token is authenticated,
          and valid only for the same namespace, prefix and `in_use_only`.
        - `in_use_only`: Whether to leave out locks in the state FREE, which have no waits either.
        - `waits_max`: Maximum number of waits that the answer contains for each lock, 0 to 100.
        - `names_only`: Whether to leave out everything but `name`, `rw` and `permits`.
        - `consistency`: Freshness of the answer. Default: LINEARIZABLE.
        """
        return await self._call(
            decode.lock_page,
            "LockService/ListLocks",
            {"namespace": namespace},
            {
                "name_prefix": name_prefix,
                "page_size": page_size,
                "page_token": page_token,
                "in_use_only": in_use_only,
                "waits_max": waits_max,
                "names_only": names_only,
                "consistency": consistency,
            },
            call,
        )

    async def pages(
        self,
        namespace: str,
        *,
        name_prefix: str | None = None,
        page_size: int | None = None,
        in_use_only: bool = False,
        waits_max: int | None = None,
        names_only: bool = False,
        consistency: types.Consistency | None = None,
        **call: Unpack[types.PartOptions],
    ) -> AsyncIterator[models.LockPage]:
        """All pages of `list`, each when it is needed. Every page is a call of its own, with the whole
        `timeout_ms`, and may have another revision.
        """
        token: str | None = None
        while token != "":
            page = await self.list(
                namespace,
                name_prefix=name_prefix,
                page_size=page_size,
                in_use_only=in_use_only,
                waits_max=waits_max,
                names_only=names_only,
                consistency=consistency,
                page_token=token,
                **call,
            )
            yield page
            token = page.next_page_token

    async def list_waits(
        self,
        namespace: str,
        name: str,
        *,
        rw: bool = False,
        consistency: types.Consistency | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.LockWaits:
        """Lists the requests that wait for a lock, in the order in which they are served. The queue is a part of
        the replicated state, so every member can answer.

        - `namespace`: Namespace of the lock.
        - `name`: Name of the lock, 1 to 256 bytes.
        - `rw`: False: the exclusive lock or semaphore of that name. True: the read-write lock of that name.
        - `consistency`: Freshness of the answer. Default: LINEARIZABLE.
        """
        return await self._call(
            decode.lock_waits,
            "LockService/ListLockWaits",
            {"namespace": namespace, "name": name},
            {"rw": rw, "consistency": consistency},
            call,
        )


class AsyncReadWriteLockCalls(AsyncCalls):
    """Read-write locks: any number of readers, or one writer."""

    async def create(
        self,
        namespace: str,
        name: str,
        *,
        ttl_seconds: int | None = None,
        lock_delay_seconds: int | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.CreateLockResult:
        """Creates a read-write lock. It is free at first. Errors: as for CreateLock.

        - `namespace`: Namespace of the lock.
        - `name`: Name of the lock, 1 to 256 bytes.
        - `ttl_seconds`: Default time to live of a hold in seconds, 1 to 86,400; 0 = 30.
        - `lock_delay_seconds`: Seconds that must pass after an expired or forced hold before the next WRITE grant,
          0 to 60.
        """
        return await self._call(
            decode.create_lock_result,
            "LockService/CreateRWLock",
            {"namespace": namespace, "name": name},
            {"ttl_seconds": ttl_seconds, "lock_delay_seconds": lock_delay_seconds},
            call,
        )

    async def describe(
        self,
        namespace: str,
        name: str,
        *,
        consistency: types.Consistency | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.DescribeReadWriteLockResult:
        """Reads the state of a read-write lock.

        - `namespace`: Namespace of the lock.
        - `name`: Name of the lock, 1 to 256 bytes.
        - `consistency`: Freshness of the answer. Default: LINEARIZABLE.
        """
        return await self._call(
            decode.describe_read_write_lock_result,
            "LockService/DescribeRWLock",
            {"namespace": namespace, "name": name},
            {"consistency": consistency},
            call,
        )

    async def acquire(
        self,
        namespace: str,
        name: str,
        mode: types.LockMode,
        *,
        ttl_seconds: int | None = None,
        owner: str | None = None,
        wait_ms: int | None = None,
        session_id: int | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.AcquireReadWriteLockResult:
        """Acquires a read-write lock in a mode, or waits for it. With a token it renews, downgrades or upgrades a
        hold. No reader overtakes a waiting writer. Errors: as for AcquireLock, and FAILED_PRECONDITION /
        UPGRADE_WOULD_DEADLOCK when the reader is not the only holder, other requests wait, or the lock's delay
        has not passed. After an error the hold of the reader is unchanged.

        - `namespace`: Namespace of the lock.
        - `name`: Name of the lock, 1 to 256 bytes.
        - `mode`: READ or WRITE; required.
        - `ttl_seconds`: Time to live of the hold in seconds, from its grant or renewal, 1 to 86,400; 0 = the lock's
          default.
        - `owner`: Label of the holder, at most 256 bytes; empty = the token's subject.
        - `wait_ms`: How long to wait for the lock, in milliseconds; 0 = try once. If this time ends first, the
          answer is OK with acquired = false. If the call's deadline (at most one hour) ends first, the answer is
          DEADLINE_EXCEEDED.
        - `session_id`: A session of the caller's user, with which a new hold ends instead of after a time to live:
          ttl_seconds must be 0 then. 0 = none, and in a renewal. Otherwise NOT_FOUND / SESSION_NOT_FOUND,
          PERMISSION_DENIED / ACCESS_DENIED, or RESOURCE_EXHAUSTED / QUOTA if the session has 1,000 keys and holds.
        """
        return await self._call(
            decode.acquire_read_write_lock_result,
            "LockService/AcquireRWLock",
            {"namespace": namespace, "name": name, "mode": mode},
            {"ttl_seconds": ttl_seconds, "owner": owner, "wait_ms": wait_ms, "session_id": session_id},
            call,
        )

    async def renew(
        self,
        namespace: str,
        name: str,
        mode: types.LockMode,
        fencing_token: int,
        *,
        ttl_seconds: int | None = None,
        owner: str | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.AcquireReadWriteLockResult:
        """Acquires a read-write lock in a mode, or waits for it. With a token it renews, downgrades or upgrades a
        hold. No reader overtakes a waiting writer. Errors: as for AcquireLock, and FAILED_PRECONDITION /
        UPGRADE_WOULD_DEADLOCK when the reader is not the only holder, other requests wait, or the lock's delay
        has not passed. After an error the hold of the reader is unchanged.

        - `namespace`: Namespace of the lock.
        - `name`: Name of the lock, 1 to 256 bytes.
        - `mode`: READ or WRITE; required.
        - `fencing_token`: Token of a live hold; 0 = acquire a new hold. If `mode` is the mode of the hold, the call
          renews it. READ downgrades a WRITE hold, which keeps its token. WRITE upgrades a READ hold, which gets a
          new token.
        - `ttl_seconds`: Time to live of the hold in seconds, from its grant or renewal, 1 to 86,400; 0 = the lock's
          default.
        - `owner`: Label of the holder, at most 256 bytes; empty = the token's subject.
        """
        return await self._call(
            decode.acquire_read_write_lock_result,
            "LockService/AcquireRWLock",
            {"namespace": namespace, "name": name, "mode": mode, "fencing_token": fencing_token},
            {"ttl_seconds": ttl_seconds, "owner": owner},
            call,
        )

    async def release(
        self,
        namespace: str,
        name: str,
        *,
        mode: types.LockMode | None = None,
        owner: str | None = None,
        fencing_token: int | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.ReleaseResult:
        """Releases one hold of a read-write lock. Errors: FAILED_PRECONDITION / NOT_LOCK_HOLDER, or AMBIGUOUS_HOLD
        when the request has no token and more than one hold matches.

        - `namespace`: Namespace of the lock.
        - `name`: Name of the lock, 1 to 256 bytes.
        - `mode`: Mode of the hold; RW_MODE_UNSPECIFIED = either.
        - `owner`: Label of the holder, as given to AcquireRWLock; empty = the token's subject.
        - `fencing_token`: Token of the hold; 0 = the only hold with the caller's subject, this owner and this mode.
        """
        return await self._call(
            decode.release_result,
            "LockService/ReleaseRWLock",
            {"namespace": namespace, "name": name},
            {"mode": mode, "owner": owner, "fencing_token": fencing_token},
            call,
        )

    async def force_release(
        self,
        namespace: str,
        name: str,
        *,
        fencing_token: int | None = None,
        reason: str | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.ForceReleaseResult:
        """Ends the holds of an exclusive lock, a semaphore or a read-write lock. The lock's delay must pass before
        the next exclusive grant. If the lock is free already, the answer is OK with released = false.

        - `namespace`: Namespace of the lock.
        - `name`: Name of the lock, 1 to 256 bytes.
        - `fencing_token`: End only the hold with this token, if it is still live; 0 = end all holds of the lock.
        - `reason`: Why, for the record; at most 256 bytes.
        """
        return await self._call(
            decode.force_release_result,
            "LockService/ForceReleaseLock",
            {"namespace": namespace, "name": name},
            {"fencing_token": fencing_token, "reason": reason, "rw": True},
            call,
        )

    async def delete(
        self, namespace: str, name: str, *, force: bool = False, **call: Unpack[types.CallOptions]
    ) -> models.Changed:
        """Deletes a read-write lock. Rules and errors: as for DeleteLock.

        - `namespace`: Namespace of the lock.
        - `name`: Name of the lock, 1 to 256 bytes.
        - `force`: Delete the lock although it is in use. Needs the access `admin`.
        """
        return await self._call(
            decode.changed, "LockService/DeleteRWLock", {"namespace": namespace, "name": name}, {"force": force}, call
        )


class AsyncSemaphoreCalls(AsyncCalls):
    """Semaphores: each hold has some of the permits."""

    async def create(
        self,
        namespace: str,
        name: str,
        permits: int,
        *,
        ttl_seconds: int | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.CreateLockResult:
        """Creates a semaphore. All of its permits are free at first. While the cluster is being upgraded from a
        release that lacks semaphores, all calls that change them are UNIMPLEMENTED / NOT_SERVED. Errors: as for
        CreateLock; the names are those of exclusive locks too.

        - `namespace`: Namespace of the semaphore.
        - `name`: Name of the semaphore, 1 to 256 bytes.
        - `permits`: Number of its permits, 1 to 10,000.
        - `ttl_seconds`: Default time to live of a hold in seconds, 1 to 86,400; 0 = 30.
        """
        return await self._call(
            decode.create_lock_result,
            "LockService/CreateSemaphore",
            {"namespace": namespace, "name": name, "permits": permits},
            {"ttl_seconds": ttl_seconds},
            call,
        )

    async def describe(
        self,
        namespace: str,
        name: str,
        *,
        consistency: types.Consistency | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.DescribeSemaphoreResult:
        """Reads the state of a semaphore.

        - `namespace`: Namespace of the semaphore.
        - `name`: Name of the semaphore, 1 to 256 bytes.
        - `consistency`: Freshness of the answer. Default: LINEARIZABLE.
        """
        return await self._call(
            decode.describe_semaphore_result,
            "LockService/DescribeSemaphore",
            {"namespace": namespace, "name": name},
            {"consistency": consistency},
            call,
        )

    async def acquire(
        self,
        namespace: str,
        name: str,
        *,
        permits: int | None = None,
        ttl_seconds: int | None = None,
        owner: str | None = None,
        wait_ms: int | None = None,
        session_id: int | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.AcquireSemaphoreResult:
        """Acquires permits of a semaphore as one hold, waits for them, or renews a hold. A request for many permits
        is not overtaken by later ones for few. A semaphore has at most 1,000 holds; further requests wait. If
        the caller does not get the permits in time, the answer is OK with acquired = false. Errors: as for
        AcquireLock; INVALID_ARGUMENT / BAD_FIELD for more permits than the semaphore has, also while the request
        waits and UpdateSemaphore lowers their number.

        - `namespace`: Namespace of the semaphore.
        - `name`: Name of the semaphore, 1 to 256 bytes.
        - `permits`: Permits of the new hold, 1 to those of the semaphore. In a renewal it may be 0: a hold keeps
          its permits.
        - `ttl_seconds`: Time to live of the hold in seconds, from its grant or renewal, 1 to 86,400; 0 = the
          semaphore's default.
        - `owner`: Label of the holder, at most 256 bytes; empty = the token's subject.
        - `wait_ms`: How long to wait for the permits, in milliseconds; 0 = try once. If this time ends first, the
          answer is OK with acquired = false. If the call's deadline (at most one hour) ends first, the answer is
          DEADLINE_EXCEEDED.
        - `session_id`: A session of the caller's user, with which a new hold ends instead of after a time to live:
          ttl_seconds must be 0 then. 0 = none, and in a renewal. Otherwise NOT_FOUND / SESSION_NOT_FOUND,
          PERMISSION_DENIED / ACCESS_DENIED, or RESOURCE_EXHAUSTED / QUOTA if the session has 1,000 keys and holds.
        """
        return await self._call(
            decode.acquire_semaphore_result,
            "LockService/AcquireSemaphore",
            {"namespace": namespace, "name": name},
            {
                "permits": permits,
                "ttl_seconds": ttl_seconds,
                "owner": owner,
                "wait_ms": wait_ms,
                "session_id": session_id,
            },
            call,
        )

    async def renew(
        self,
        namespace: str,
        name: str,
        fencing_token: int,
        *,
        ttl_seconds: int | None = None,
        owner: str | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.AcquireSemaphoreResult:
        """Acquires permits of a semaphore as one hold, waits for them, or renews a hold. A request for many permits
        is not overtaken by later ones for few. A semaphore has at most 1,000 holds; further requests wait. If
        the caller does not get the permits in time, the answer is OK with acquired = false. Errors: as for
        AcquireLock; INVALID_ARGUMENT / BAD_FIELD for more permits than the semaphore has, also while the request
        waits and UpdateSemaphore lowers their number.

        - `namespace`: Namespace of the semaphore.
        - `name`: Name of the semaphore, 1 to 256 bytes.
        - `fencing_token`: Token of a hold to renew; 0 = a new hold.
        - `ttl_seconds`: Time to live of the hold in seconds, from its grant or renewal, 1 to 86,400; 0 = the
          semaphore's default.
        - `owner`: Label of the holder, at most 256 bytes; empty = the token's subject.
        """
        return await self._call(
            decode.acquire_semaphore_result,
            "LockService/AcquireSemaphore",
            {"namespace": namespace, "name": name, "fencing_token": fencing_token},
            {"ttl_seconds": ttl_seconds, "owner": owner},
            call,
        )

    async def release(
        self,
        namespace: str,
        name: str,
        *,
        owner: str | None = None,
        fencing_token: int | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.ReleaseResult:
        """Releases one hold of a semaphore with all of its permits; the next waiters get them at once. Errors: as
        for ReleaseRWLock.

        - `namespace`: Namespace of the semaphore.
        - `name`: Name of the semaphore, 1 to 256 bytes.
        - `owner`: Label of the holder, as given to AcquireSemaphore; empty = the token's subject.
        - `fencing_token`: Token of the hold; 0 = the only hold with the caller's subject and this owner.
        """
        return await self._call(
            decode.release_result,
            "LockService/ReleaseSemaphore",
            {"namespace": namespace, "name": name},
            {"owner": owner, "fencing_token": fencing_token},
            call,
        )

    async def force_release(
        self,
        namespace: str,
        name: str,
        *,
        fencing_token: int | None = None,
        reason: str | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.ForceReleaseResult:
        """Ends the holds of an exclusive lock, a semaphore or a read-write lock. The lock's delay must pass before
        the next exclusive grant. If the lock is free already, the answer is OK with released = false.

        - `namespace`: Namespace of the lock.
        - `name`: Name of the lock, 1 to 256 bytes.
        - `fencing_token`: End only the hold with this token, if it is still live; 0 = end all holds of the lock.
        - `reason`: Why, for the record; at most 256 bytes.
        """
        return await self._call(
            decode.force_release_result,
            "LockService/ForceReleaseLock",
            {"namespace": namespace, "name": name},
            {"fencing_token": fencing_token, "reason": reason, "rw": False},
            call,
        )

    async def delete(
        self, namespace: str, name: str, *, force: bool = False, **call: Unpack[types.CallOptions]
    ) -> models.Changed:
        """Deletes a semaphore. Rules and errors: as for DeleteLock.

        - `namespace`: Namespace of the semaphore.
        - `name`: Name of the semaphore, 1 to 256 bytes.
        - `force`: Delete the semaphore although it is in use. Needs the access `admin`.
        """
        return await self._call(
            decode.changed,
            "LockService/DeleteSemaphore",
            {"namespace": namespace, "name": name},
            {"force": force},
            call,
        )

    async def update(
        self, namespace: str, name: str, permits: int, **call: Unpack[types.CallOptions]
    ) -> models.Changed:
        """Changes the number of permits. Holds keep theirs. If the holds have more than the new number, nothing is
        granted until enough of them have ended. Requests that wait for more than the new number are answered
        INVALID_ARGUMENT / BAD_FIELD.

        - `namespace`: Namespace of the semaphore.
        - `name`: Name of the semaphore, 1 to 256 bytes.
        - `permits`: New number of its permits, 1 to 10,000.
        """
        return await self._call(
            decode.changed,
            "LockService/UpdateSemaphore",
            {"namespace": namespace, "name": name, "permits": permits},
            {},
            call,
        )


class AsyncSessionCalls(AsyncCalls):
    """Sessions, as single calls. `client.session` renews one."""

    async def create(
        self,
        namespace: str,
        *,
        ttl_seconds: int | None = None,
        owner: str | None = None,
        metadata: bytes | str | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.CreateSessionResult:
        """Creates a session, which belongs to the caller's user. Needs the access `write`. Errors: NOT_FOUND /
        NAMESPACE_NOT_FOUND; RESOURCE_EXHAUSTED / QUOTA, STORAGE_FULL.

        - `namespace`: Namespace of the session and of everything that may belong to it.
        - `ttl_seconds`: Time to live in seconds, 1 to 86,400 (one day).
        - `owner`: Label of who uses it, at most 256 bytes; empty = the id of the caller's user.
        - `metadata`: For other clients to read, at most 1 KiB.
        """
        return await self._call(
            decode.create_session_result,
            "SessionService/CreateSession",
            {"namespace": namespace},
            {"ttl_seconds": ttl_seconds, "owner": owner, "metadata": metadata},
            call,
        )

    async def end(
        self, namespace: str, session_id: int, *, force: bool = False, **call: Unpack[types.CallOptions]
    ) -> models.EndSessionResult:
        """Ends a session with everything that belongs to it, at one revision. Watches see deletions. Needs the
        access `write` for a session of the caller's user, and `admin` with `force` for one of another user.
        Errors: NOT_FOUND / NAMESPACE_NOT_FOUND, SESSION_NOT_FOUND; PERMISSION_DENIED / ACCESS_DENIED.

        - `namespace`: Namespace of the session.
        - `session_id`: Its id.
        - `force`: Whether to end it also if it belongs to another user; needs the access `admin`.
        """
        return await self._call(
            decode.end_session_result,
            "SessionService/EndSession",
            {"namespace": namespace, "session_id": session_id},
            {"force": force},
            call,
        )

    async def describe(
        self,
        namespace: str,
        session_id: int,
        *,
        consistency: types.Consistency | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.DescribeSessionResult:
        """Returns a session and what belongs to it. Needs the access `read`. Errors: NOT_FOUND /
        NAMESPACE_NOT_FOUND, SESSION_NOT_FOUND.

        - `namespace`: Namespace of the session.
        - `session_id`: Its id.
        - `consistency`: How fresh the answer must be.
        """
        return await self._call(
            decode.describe_session_result,
            "SessionService/DescribeSession",
            {"namespace": namespace, "session_id": session_id},
            {"consistency": consistency},
            call,
        )

    async def list(
        self,
        namespace: str,
        *,
        page_size: int | None = None,
        page_token: str | None = None,
        consistency: types.Consistency | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.SessionPage:
        """Lists the sessions of a namespace in the order of their creation. Needs the access `read`. Errors:
        NOT_FOUND / NAMESPACE_NOT_FOUND.

        - `namespace`: Namespace of the sessions.
        - `page_size`: Maximum number of sessions, 1 to 1,000; 0 = 100.
        - `page_token`: Empty for the first page, else next_page_token of the page before.
        - `consistency`: How fresh the answer must be.
        """
        return await self._call(
            decode.session_page,
            "SessionService/ListSessions",
            {"namespace": namespace},
            {"page_size": page_size, "page_token": page_token, "consistency": consistency},
            call,
        )

    async def pages(
        self,
        namespace: str,
        *,
        page_size: int | None = None,
        consistency: types.Consistency | None = None,
        **call: Unpack[types.PartOptions],
    ) -> AsyncIterator[models.SessionPage]:
        """All pages of `list`, each when it is needed. Every page is a call of its own, with the whole
        `timeout_ms`, and may have another revision.
        """
        token: str | None = None
        while token != "":
            page = await self.list(namespace, page_size=page_size, consistency=consistency, page_token=token, **call)
            yield page
            token = page.next_page_token


class AsyncMemoryCalls(AsyncCalls):
    """Memory regions: bytes that are read and written by offset."""

    async def allocate(
        self, namespace: str, size_bytes: int, *, label: str | None = None, **call: Unpack[types.CallOptions]
    ) -> models.AllocateResult:
        """Creates a region filled with zeros. Errors: NOT_FOUND / NAMESPACE_NOT_FOUND; RESOURCE_EXHAUSTED / QUOTA
        when the size exceeds the limit of a region or of the namespace, STORAGE_FULL.

        - `namespace`: Namespace of the region.
        - `size_bytes`: Size in bytes, at least 1. The default limit of a region is 64 MiB.
        - `label`: A label for people, at most 256 bytes; need not be unique.
        """
        return await self._call(
            decode.allocate_result,
            "MemoryService/AllocateMemory",
            {"namespace": namespace, "size_bytes": size_bytes},
            {"label": label},
            call,
        )

    async def describe(
        self,
        namespace: str,
        region_id: str,
        *,
        consistency: types.Consistency | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.DescribeRegionResult:
        """Returns the properties of a region, without its bytes.

        - `namespace`: Namespace of the region.
        - `region_id`: Id of the region.
        - `consistency`: Freshness of the answer. Default: LINEARIZABLE.
        """
        return await self._call(
            decode.describe_region_result,
            "MemoryService/DescribeMemory",
            {"namespace": namespace, "region_id": region_id},
            {"consistency": consistency},
            call,
        )

    async def resize(
        self,
        namespace: str,
        region_id: str,
        size_bytes: int,
        *,
        expected_version: int | None = None,
        guard: types.Guarding | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.ResizeResult:
        """Changes the size of a region. Bytes beyond the old size are zero, even if the region was larger before.
        Errors: RESOURCE_EXHAUSTED / QUOTA, STORAGE_FULL.

        - `namespace`: Namespace of the region.
        - `region_id`: Id of the region.
        - `size_bytes`: New size in bytes, at least 1.
        - `expected_version`: If given, the region's version must be equal to it, else FAILED_PRECONDITION /
          VERSION_MISMATCH.
        - `guard`: A lock hold that must be live; absent = none is required.
        """
        return await self._call(
            decode.resize_result,
            "MemoryService/ResizeMemory",
            {"namespace": namespace, "region_id": region_id, "size_bytes": size_bytes},
            {"expected_version": expected_version, "guard": guard},
            call,
        )

    async def free(
        self,
        namespace: str,
        region_id: str,
        *,
        expected_version: int | None = None,
        guard: types.Guarding | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.FreeResult:
        """Frees a region. Its id is never used again.

        - `namespace`: Namespace of the region.
        - `region_id`: Id of the region.
        - `expected_version`: If given, the region's version must be equal to it, else FAILED_PRECONDITION /
          VERSION_MISMATCH.
        - `guard`: A lock hold that must be live; absent = none is required.
        """
        return await self._call(
            decode.free_result,
            "MemoryService/FreeMemory",
            {"namespace": namespace, "region_id": region_id},
            {"expected_version": expected_version, "guard": guard},
            call,
        )

    async def write(
        self,
        namespace: str,
        region_id: str,
        offset: int,
        data: bytes | str,
        *,
        expected_version: int | None = None,
        guard: types.Guarding | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.WriteMemoryResult:
        """Overwrites bytes of a region. Errors: OUT_OF_RANGE / MEMORY_BOUNDS when offset + length exceeds the size
        (nothing is written, the region does not grow); INVALID_ARGUMENT / TOO_LARGE.

        - `namespace`: Namespace of the region.
        - `region_id`: Id of the region.
        - `offset`: First byte to overwrite, 0 to the region's size.
        - `data`: The bytes, at most 4 MiB - 64 KiB. If there are none, nothing is overwritten.
        - `expected_version`: If given, the region's version must be equal to it, else FAILED_PRECONDITION /
          VERSION_MISMATCH.
        - `guard`: A lock hold that must be live; absent = none is required.
        """
        return await self._call(
            decode.write_memory_result,
            "MemoryService/WriteMemory",
            {"namespace": namespace, "region_id": region_id, "offset": offset, "data": data},
            {"expected_version": expected_version, "guard": guard},
            call,
        )

    async def read(
        self,
        namespace: str,
        region_id: str,
        offset: int,
        length: int,
        *,
        consistency: types.Consistency | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.ReadMemoryResult:
        """Reads bytes of a region. Errors: OUT_OF_RANGE / MEMORY_BOUNDS when offset + length exceeds the size
        (there are no short reads); INVALID_ARGUMENT / TOO_LARGE.

        - `namespace`: Namespace of the region.
        - `region_id`: Id of the region.
        - `offset`: First byte to read, 0 to the region's size.
        - `length`: Number of bytes, at most 4 MiB - 64 KiB; 0 is allowed within bounds.
        - `consistency`: Freshness of the answer. Default: LINEARIZABLE.
        """
        return await self._call(
            decode.read_memory_result,
            "MemoryService/ReadMemory",
            {"namespace": namespace, "region_id": region_id, "offset": offset, "length": length},
            {"consistency": consistency},
            call,
        )

    async def list(
        self,
        namespace: str,
        *,
        page_size: int | None = None,
        page_token: str | None = None,
        consistency: types.Consistency | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.RegionPage:
        """Lists the regions of a namespace, page by page, ordered by region_id. Errors: NOT_FOUND /
        NAMESPACE_NOT_FOUND; INVALID_ARGUMENT / BAD_FIELD for a page token of another listing.

        - `namespace`: The namespace.
        - `page_size`: Maximum number of regions in the page, 1 to 1,000; 0 = 100.
        - `page_token`: next_page_token of the previous page; empty = the first page. The token is authenticated,
          and valid only for the same namespace.
        - `consistency`: Freshness of the answer. Default: LINEARIZABLE.
        """
        return await self._call(
            decode.region_page,
            "MemoryService/ListMemoryRegions",
            {"namespace": namespace},
            {"page_size": page_size, "page_token": page_token, "consistency": consistency},
            call,
        )

    async def pages(
        self,
        namespace: str,
        *,
        page_size: int | None = None,
        consistency: types.Consistency | None = None,
        **call: Unpack[types.PartOptions],
    ) -> AsyncIterator[models.RegionPage]:
        """All pages of `list`, each when it is needed. Every page is a call of its own, with the whole
        `timeout_ms`, and may have another revision.
        """
        token: str | None = None
        while token != "":
            page = await self.list(namespace, page_size=page_size, consistency=consistency, page_token=token, **call)
            yield page
            token = page.next_page_token


class AsyncLogCalls(AsyncCalls):
    """Event logs."""

    async def list(
        self,
        *,
        namespace: str | None = None,
        name: str | None = None,
        page_size: int | None = None,
        page_token: str | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.LogPage:
        """Lists the logs that the caller may read, page by page, ordered by namespace and name. A page may have
        fewer logs than its size, even none, and still have a next page. Errors: INVALID_ARGUMENT / BAD_FIELD for
        a page token of another listing.

        - `namespace`: Only logs of this namespace; empty = of all namespaces that the caller may read.
        - `name`: Only logs with this name; empty = with any name.
        - `page_size`: Maximum number of logs in the page, 1 to 1,000; 0 = 100.
        - `page_token`: next_page_token of the previous page; empty = the first page. The token is authenticated,
          and valid only for the same namespace and name.
        """
        return await self._call(
            decode.log_page,
            "EventLogService/ListLogs",
            {},
            {"namespace": namespace, "name": name, "page_size": page_size, "page_token": page_token},
            call,
        )

    async def pages(
        self,
        *,
        namespace: str | None = None,
        name: str | None = None,
        page_size: int | None = None,
        **call: Unpack[types.PartOptions],
    ) -> AsyncIterator[models.LogPage]:
        """All pages of `list`, each when it is needed. Every page is a call of its own, with the whole
        `timeout_ms`, and may have another revision.
        """
        token: str | None = None
        while token != "":
            page = await self.list(namespace=namespace, name=name, page_size=page_size, page_token=token, **call)
            yield page
            token = page.next_page_token


class AsyncWatchCalls(AsyncCalls):
    """Open streams."""

    async def streams(
        self,
        *,
        namespace: str | None = None,
        member_id: str | None = None,
        page_size: int | None = None,
        page_token: str | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.OpenStreamPage:
        """Lists the open streams of one member, page by page: watches of keys and locks, and followers of event
        logs. It needs the access `admin` in the namespace of the request or, without a namespace, the namespaces
        `*`. The answering member asks the named one. The list is not a part of the replicated state: streams may
        begin and end between two pages. Errors: NOT_FOUND / NAMESPACE_NOT_FOUND, MEMBER_NOT_FOUND; UNAVAILABLE /
        MEMBER_UNREACHABLE when the named member does not answer, or its release does not know this call.

        - `namespace`: Only streams of this namespace; empty = of all namespaces.
        - `member_id`: Id of the member whose streams are listed; empty = the member that gets the request.
        - `page_size`: Maximum number of streams in the page, 1 to 100; 0 = 100.
        - `page_token`: next_page_token of the previous page; empty = the first page. The token is authenticated,
          and valid only for the same namespace and member.
        """
        return await self._call(
            decode.open_stream_page,
            "WatchService/ListStreams",
            {},
            {"namespace": namespace, "member_id": member_id, "page_size": page_size, "page_token": page_token},
            call,
        )

    async def stream_pages(
        self,
        *,
        namespace: str | None = None,
        member_id: str | None = None,
        page_size: int | None = None,
        **call: Unpack[types.PartOptions],
    ) -> AsyncIterator[models.OpenStreamPage]:
        """All pages of `streams`, each when it is needed. Every page is a call of its own, with the whole
        `timeout_ms`, and may have another revision.
        """
        token: str | None = None
        while token != "":
            page = await self.streams(
                namespace=namespace, member_id=member_id, page_size=page_size, page_token=token, **call
            )
            yield page
            token = page.next_page_token


class AsyncClusterCalls(AsyncCalls):
    """Information about the cluster."""

    async def get(self, **call: Unpack[types.CallOptions]) -> models.Cluster:
        """Lists the members and names the leader. The read is linearizable."""
        return await self._call(decode.cluster, "ClusterService/GetCluster", {}, {}, call)


class AsyncUserCalls(AsyncCalls):
    """Users, and their rights."""

    async def list(
        self, *, page_size: int | None = None, page_token: str | None = None, **call: Unpack[types.CallOptions]
    ) -> models.UserPage:
        """Lists the users whose role and namespaces the caller has, page by page. It needs the access `admin`.
        Errors: INVALID_ARGUMENT / BAD_FIELD for a page token of another listing.

        - `page_size`: Maximum number of users in the page, 1 to 1,000; 0 = 100.
        - `page_token`: next_page_token of the previous page; empty = the first page. The token is authenticated.
        """
        return await self._call(
            decode.user_page, "AccountService/ListUsers", {}, {"page_size": page_size, "page_token": page_token}, call
        )

    async def pages(
        self, *, page_size: int | None = None, **call: Unpack[types.PartOptions]
    ) -> AsyncIterator[models.UserPage]:
        """All pages of `list`, each when it is needed. Every page is a call of its own, with the whole
        `timeout_ms`, and may have another revision.
        """
        token: str | None = None
        while token != "":
            page = await self.list(page_size=page_size, page_token=token, **call)
            yield page
            token = page.next_page_token

    async def delete(self, user_id: str, **call: Unpack[types.CallOptions]) -> models.Changed:
        """Deletes a user with all API keys and tokens. It needs the access `admin`. Errors: NOT_FOUND /
        USER_NOT_FOUND; FAILED_PRECONDITION / LAST_OWNER.

        - `user_id`: Id of the user.
        """
        return await self._call(decode.changed, "AccountService/DeleteUser", {"user_id": user_id}, {}, call)


class AsyncApiKeyCalls(AsyncCalls):
    """API keys. Each acts for the user who created it."""

    async def list(
        self,
        *,
        user_id: str | None = None,
        all: bool = False,
        include_revoked: bool = False,
        page_size: int | None = None,
        page_token: str | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.ApiKeyPage:
        """Lists API keys without their secrets, page by page: the caller's own with any token, those of other users
        with the access `admin`. Errors: INVALID_ARGUMENT / BAD_FIELD for a page token of another listing.

        - `user_id`: The user whose keys to list; empty = the caller.
        - `all`: Whether to list the keys of all users whose role and namespaces the caller has, whatever `user_id`
          is.
        - `include_revoked`: Whether to list revoked keys too.
        - `page_size`: Maximum number of keys in the page, 1 to 1,000; 0 = 100.
        - `page_token`: next_page_token of the previous page; empty = the first page. The token is authenticated,
          and valid only for the same users and the same `include_revoked`.
        """
        return await self._call(
            decode.api_key_page,
            "AccountService/ListApiKeys",
            {},
            {
                "user_id": user_id,
                "all": all,
                "include_revoked": include_revoked,
                "page_size": page_size,
                "page_token": page_token,
            },
            call,
        )

    async def pages(
        self,
        *,
        user_id: str | None = None,
        all: bool = False,
        include_revoked: bool = False,
        page_size: int | None = None,
        **call: Unpack[types.PartOptions],
    ) -> AsyncIterator[models.ApiKeyPage]:
        """All pages of `list`, each when it is needed. Every page is a call of its own, with the whole
        `timeout_ms`, and may have another revision.
        """
        token: str | None = None
        while token != "":
            page = await self.list(
                user_id=user_id, all=all, include_revoked=include_revoked, page_size=page_size, page_token=token, **call
            )
            yield page
            token = page.next_page_token

    async def revoke(self, api_key_id: str, **call: Unpack[types.CallOptions]) -> models.RevokedApiKey:
        """Revokes an API key and all of its tokens, at once and permanently. A repetition has the same answer.
        Errors: NOT_FOUND / API_KEY_NOT_FOUND.

        - `api_key_id`: Id of the key.
        """
        return await self._call(
            decode.revoked_api_key, "AccountService/RevokeApiKey", {"api_key_id": api_key_id}, {}, call
        )


class AsyncAdminCalls(AsyncCalls):
    """The administration of a cluster, or of one member."""

    async def get_status(self, **call: Unpack[types.CallOptions]) -> models.StatusResult:
        """Returns the state of this member. Local: it needs no majority, and the member answers in every state."""
        return await self._call(decode.status_result, "ClusterAdminService/GetStatus", {}, {}, call)

    async def list_members(self, **call: Unpack[types.CallOptions]) -> models.Membership:
        """Lists the members as the leader knows them after a round trip to a majority. Other members forward the
        call to the leader.
        """
        return await self._call(decode.membership, "ClusterAdminService/ListMembers", {}, {}, call)

    async def member_counters(
        self, *, ids: Sequence[str] | None = None, window_seconds: int | None = None, **call: Unpack[types.CallOptions]
    ) -> models.MemberCountersResult:
        """Returns the state of some or all members and their counters of the last minutes. The answering member
        asks the others, and waits for each at most 1 s. It needs no majority. A member that does not answer has
        a `problem` in the answer; it does not fail the call. Errors: NOT_FOUND / MEMBER_NOT_FOUND.

        - `ids`: Ids of the members, none twice; empty = all members of the membership that the answering member has
          applied.
        - `window_seconds`: How far back the counters go, in seconds, 1 to 900; 0 = 900. Each member keeps a sample
          for every 5 s.
        """
        return await self._call(
            decode.member_counters_result,
            "ClusterAdminService/GetMemberCounters",
            {},
            {"ids": ids, "window_seconds": window_seconds},
            call,
        )

    async def settings(self, **call: Unpack[types.CallOptions]) -> models.Settings:
        """Reads the replicated settings: the set values, the defaults and the bounds. The read is linearizable."""
        return await self._call(decode.settings, "ClusterAdminService/GetSettings", {}, {}, call)

    async def bootstrap(
        self, cluster_id: str, incarnation: str, owner: types.Owner, **call: Unpack[types.CallOptions]
    ) -> models.BootstrapResult:
        """Founds the cluster on one EMPTY member, with its owner and the namespace `default`, in one log entry.
        Served on the admin port only. A repetition on the member that it founded returns OK. A member that was
        started with a backup to restore founds the cluster with the state of that backup, and the owner becomes
        one of its owners. This takes as long as reading the backup, and continues after the call's deadline:
        repeat the call. Errors: FAILED_PRECONDITION / NOT_EMPTY; for a restore also FAILED_PRECONDITION /
        BACKUP_REFUSED, and UNAVAILABLE / BACKUP_STORE_UNAVAILABLE.

        - `cluster_id`: Id of the new cluster: a UUID. The caller must record it before the call.
        - `incarnation`: Id of the data directory that may found it, as returned by GetStatus. A member with another
          one refuses the call.
        - `owner`: The first owner of the cluster.
        """
        return await self._call(
            decode.bootstrap_result,
            "ClusterAdminService/Bootstrap",
            {"cluster_id": cluster_id, "incarnation": incarnation, "owner": owner},
            {},
            call,
        )

    async def add_member(
        self, name: str, *, if_config_index: int | None = None, **call: Unpack[types.CallOptions]
    ) -> models.AddMemberResult:
        """Adds a learner that no process has claimed yet. The process that claims it brings its addresses. Errors:
        ALREADY_EXISTS / MEMBER_EXISTS; FAILED_PRECONDITION / CONFIG_CHANGED, CONFIG_CHANGE_IN_PROGRESS.

        - `name`: Name of the member, unique in the cluster.
        - `if_config_index`: The config_index of the membership must be equal to it, else FAILED_PRECONDITION /
          CONFIG_CHANGED; 0 = unconditional.
        """
        return await self._call(
            decode.add_member_result,
            "ClusterAdminService/AddMember",
            {"name": name},
            {"if_config_index": if_config_index},
            call,
        )

    async def promote_members(
        self, ids: Sequence[str], *, if_config_index: int | None = None, **call: Unpack[types.CallOptions]
    ) -> models.ChangeResult:
        """Gives learners a vote. Several learners at once are one joint change. Members that vote already cause no
        error. Errors: NOT_FOUND / MEMBER_NOT_FOUND; FAILED_PRECONDITION / LEARNER_NOT_READY when a learner has
        not caught up, QUORUM_UNSAFE when the leader would not be in contact with a majority of the new voters,
        CONFIG_CHANGED, CONFIG_CHANGE_IN_PROGRESS.

        - `ids`: Ids of the members, at least one.
        - `if_config_index`: The config_index of the membership must be equal to it, else FAILED_PRECONDITION /
          CONFIG_CHANGED; 0 = unconditional.
        """
        return await self._call(
            decode.change_result,
            "ClusterAdminService/PromoteMembers",
            {"ids": ids},
            {"if_config_index": if_config_index},
            call,
        )

    async def remove_members(
        self, ids: Sequence[str], *, if_config_index: int | None = None, **call: Unpack[types.CallOptions]
    ) -> models.ChangeResult:
        """Removes members. Several members at once are one joint change. Errors: NOT_FOUND / MEMBER_NOT_FOUND;
        FAILED_PRECONDITION / IS_LEADER when the leader is among them (transfer the leadership first),
        LAST_VOTER, QUORUM_UNSAFE when too few of the other members are in contact, CONFIG_CHANGED,
        CONFIG_CHANGE_IN_PROGRESS.

        - `ids`: Ids of the members, at least one.
        - `if_config_index`: The config_index of the membership must be equal to it, else FAILED_PRECONDITION /
          CONFIG_CHANGED; 0 = unconditional.
        """
        return await self._call(
            decode.change_result,
            "ClusterAdminService/RemoveMembers",
            {"ids": ids},
            {"if_config_index": if_config_index},
            call,
        )

    async def transfer_leadership(
        self, *, target_id: str | None = None, if_term: int | None = None, **call: Unpack[types.CallOptions]
    ) -> models.TransferResult:
        """Transfers the leadership to another voter. The answer is OK once the other voter leads, or UNAVAILABLE
        after one election timeout without success. Errors: NOT_FOUND / MEMBER_NOT_FOUND; FAILED_PRECONDITION
        when the term is not `if_term`.

        - `target_id`: Id of the new leader, a voter; empty = the voter whose log is closest to the leader's.
        - `if_term`: The term must be equal to it, else FAILED_PRECONDITION; 0 = unconditional.
        """
        return await self._call(
            decode.transfer_result,
            "ClusterAdminService/TransferLeadership",
            {},
            {"target_id": target_id, "if_term": if_term},
            call,
        )

    async def reset_owner(self, owner: types.Owner, **call: Unpack[types.CallOptions]) -> models.ResetOwnerResult:
        """Lets an owner of the cluster log in again. The user with the e-mail address becomes active, with the role
        owner, all namespaces and the new password. The call creates the user if it does not exist. The user
        keeps its API keys. Served on the admin port only. The call can be repeated. Errors: INVALID_ARGUMENT /
        BAD_FIELD that names `owner.email`, `owner.password` or `owner.api_key`; RESOURCE_EXHAUSTED / QUOTA when
        the user has too many API keys.

        - `owner`: The owner. An empty `api_key` adds none. A key that the owner already has stays valid.
        """
        return await self._call(decode.reset_owner_result, "ClusterAdminService/ResetOwner", {"owner": owner}, {}, call)

    async def start_backup(
        self, *, if_store: str | None = None, allow_leaderless: bool = False, **call: Unpack[types.CallOptions]
    ) -> models.StartBackupResult:
        """Begins a snapshot of the state into the backup store of this member, and answers at once. GetBackupStatus
        of the same member shows its progress. Served on the admin port only. Errors: FAILED_PRECONDITION /
        NO_BACKUP_STORE when the member was started without `--backup-store`, OTHER_BACKUP_STORE when its store
        is not `if_store`, BACKUP_IN_PROGRESS when it already takes a snapshot; UNAVAILABLE / NO_LEADER unless
        `allow_leaderless` is set, so that a backup never misses acknowledged writes. A repetition with the
        request-id of a backup that the member still knows returns that backup.

        - `if_store`: The store of the member must be this one, in the form of `store` in GetBackupStatusResponse;
          empty = any.
        - `allow_leaderless`: Whether the backup may begin while the member has no leader. The backup may then miss
          acknowledged writes.
        """
        return await self._call(
            decode.start_backup_result,
            "ClusterAdminService/StartBackup",
            {},
            {"if_store": if_store, "allow_leaderless": allow_leaderless},
            call,
        )

    async def get_backup_status(
        self, *, id: str | None = None, member_id: str | None = None, **call: Unpack[types.CallOptions]
    ) -> models.BackupStatus:
        """Reports the backups of one member, their last verification, and the continuous archive of the cluster.
        Local: it needs no majority. Errors: NOT_FOUND / MEMBER_NOT_FOUND; UNAVAILABLE / MEMBER_UNREACHABLE when
        that member does not answer.

        - `id`: Id of a backup of the member; empty = the running backup, or else the last one.
        - `member_id`: Id of the member; empty = the answering member.
        """
        return await self._call(
            decode.backup_status, "ClusterAdminService/GetBackupStatus", {}, {"id": id, "member_id": member_id}, call
        )

    async def list_backups(
        self, *, cluster_id: str | None = None, **call: Unpack[types.CallOptions]
    ) -> models.BackupList:
        """Lists the snapshots in the backup store of this member, and what can be restored from each. It reads the
        store's list of objects, not the objects. Other ports than the admin port show only the backups of the
        cluster of this member. Errors: FAILED_PRECONDITION / NO_BACKUP_STORE; UNAVAILABLE /
        BACKUP_STORE_UNAVAILABLE when the store does not answer.

        - `cluster_id`: Id of the cluster; empty = the cluster of this member. Only the admin port takes another
          one.
        """
        return await self._call(
            decode.backup_list, "ClusterAdminService/ListBackups", {}, {"cluster_id": cluster_id}, call
        )

    async def compact(self, revision: int, **call: Unpack[types.CallOptions]) -> models.CompactResult:
        """Drops the change history below a revision; watches can no longer start there. The call can be repeated:
        history that was dropped stays dropped.

        - `revision`: Changes below this revision are dropped. A revision above the newest one counts as the newest.
        """
        return await self._call(decode.compact_result, "ClusterAdminService/Compact", {"revision": revision}, {}, call)
