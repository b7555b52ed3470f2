# Made by scripts/generate.py from the contract. Do not edit.
"""Conditions and operations of transactions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from quoin import _types as types

# A condition or an operation, in the form of the contract: `{'put': {'key': 'k', 'value': 'v'}}`.
Part = Mapping[str, Any]


def hold(guard: types.Guarding) -> Part:
    """The hold is live."""
    return {"hold": guard}


def session(session_id: int) -> Part:
    """The session with this id is live, of any user."""
    return {"session_id": session_id}


def release(guard: types.Guarding) -> Part:
    """Releases a hold of the caller, after the last operation."""
    return {"release": guard}


def key(
    key: str,
    *,
    operator: types.Comparison | None = None,
    exists: bool | None = None,
    value: bytes | str | None = None,
    mod_revision: int | None = None,
    create_revision: int | None = None,
    version: int | None = None,
    session_id: int | None = None,
) -> Part:
    """A condition on one key. Exactly one of `exists` to `version` must be given. A key that does not exist has 0
    for its revisions and version, and no value: of the comparisons with a value, only NOT_EQUAL is true for it.

    - `key`: The key, 1 to 1,024 bytes.
    - `operator`: The relation; only EQUAL for `exists`.
    - `exists`: Whether the key exists.
    - `value`: Its value, 0 to 1 MiB.
    - `mod_revision`: Revision of its latest change.
    - `create_revision`: Revision that created it.
    - `version`: Number of changes since its creation.
    - `session_id`: Id of the session that it ends with; 0 = none.
    """
    return {
        "key": {
            "key": key,
            "operator": operator,
            "exists": exists,
            "value": value,
            "mod_revision": mod_revision,
            "create_revision": create_revision,
            "version": version,
            "session_id": session_id,
        }
    }


def prefix(prefix: str, unchanged_since: int) -> Part:
    """No other transaction or call has changed, created or deleted a key with the prefix after a revision. The
    change history answers this. A transaction looks back at most 4,000 revisions with changes and 1 MiB of them,
    with all of its comparisons together; beyond that, or where the history was dropped, the keys count as
    changed.

    - `prefix`: The prefix, at most 1,024 bytes; empty = all keys of the namespace.
    - `unchanged_since`: The last revision whose changes may count: that of the answer from which the caller knows
      the keys.
    """
    return {"prefix": {"prefix": prefix, "unchanged_since": unchanged_since}}


def log(log_id: str, last_sequence: int, *, operator: types.Comparison | None = None) -> Part:
    """A condition on one event log of the namespace.

    - `log_id`: Id of the log.
    - `operator`: The relation.
    - `last_sequence`: The last sequence of the log; 0 = it has never had an event.
    """
    return {"log": {"log_id": log_id, "operator": operator, "last_sequence": last_sequence}}


def put(
    key: str,
    value: bytes | str,
    *,
    ttl_seconds: int | None = None,
    expected_mod_revision: int | None = None,
    return_previous: bool | None = None,
    session_id: int | None = None,
) -> Part:
    """Creates or overwrites one key.

    - `key`: The key, 1 to 1,024 bytes.
    - `value`: The new value, 0 to 1 MiB.
    - `ttl_seconds`: Time to live of the key in seconds, 1 to 31,536,000 (one year); 0 = the key does not expire.
    - `expected_mod_revision`: If given, the key's mod_revision must be equal to it, else FAILED_PRECONDITION /
      REVISION_MISMATCH; 0 = the key must not exist.
    - `return_previous`: Whether the result contains the key as it was before.
    - `session_id`: A session of the caller's user, with which the key ends; 0 = none. As for PutKey.
    """
    return {
        "put": {
            "key": key,
            "value": value,
            "ttl_seconds": ttl_seconds,
            "expected_mod_revision": expected_mod_revision,
            "return_previous": return_previous,
            "session_id": session_id,
        }
    }


def delete(
    key: str,
    *,
    expected_mod_revision: int | None = None,
    return_previous: bool | None = None,
    missing_ok: bool | None = None,
) -> Part:
    """Deletes one key.

    - `key`: The key, 1 to 1,024 bytes.
    - `expected_mod_revision`: If given, the key's mod_revision must be equal to it, else FAILED_PRECONDITION /
      REVISION_MISMATCH.
    - `return_previous`: Whether the result contains the key as it was before.
    - `missing_ok`: Whether a key that does not exist is no error; else it is NOT_FOUND / KEY_NOT_FOUND.
    """
    return {
        "delete": {
            "key": key,
            "expected_mod_revision": expected_mod_revision,
            "return_previous": return_previous,
            "missing_ok": missing_ok,
        }
    }


def delete_prefix(prefix: str) -> Part:
    """Deletes all keys with a prefix. A transaction has at most 100 operations that delete by prefix, list keys,
    release holds or append several events.

    - `prefix`: The prefix, at most 1,024 bytes; empty = all keys of the namespace.
    """
    return {"delete_prefix": {"prefix": prefix}}


def touch(key: str, ttl_seconds: int) -> Part:
    """Gives one key a new time to live, and changes nothing else. Watches see no event.

    - `key`: The key, 1 to 1,024 bytes. It must exist, else NOT_FOUND / KEY_NOT_FOUND.
    - `ttl_seconds`: Time to live of the key in seconds, 1 to 31,536,000; 0 = the key does not expire any more.
    """
    return {"touch": {"key": key, "ttl_seconds": ttl_seconds}}


def increment(key: str, delta: int, *, ttl_seconds: int | None = None) -> Part:
    """Adds to the number whose decimal text is the value of a key. A key that does not exist counts as 0. A value
    that is no decimal number from -2^63 to 2^63 - 1 is FAILED_PRECONDITION / NOT_A_NUMBER, and a sum outside of
    that range is OUT_OF_RANGE / NUMBER_OVERFLOW.

    - `key`: The key, 1 to 1,024 bytes.
    - `delta`: What is added: -(2^53 - 1) to 2^53 - 1.
    - `ttl_seconds`: Time to live in seconds if this creates the key, 1 to 31,536,000; 0 = it does not expire. A key
      that exists keeps its time to live.
    """
    return {"increment": {"key": key, "delta": delta, "ttl_seconds": ttl_seconds}}


def get(key: str) -> Part:
    """Reads one key. A key that does not exist is not an error.

    - `key`: The key, 1 to 1,024 bytes.
    """
    return {"get": {"key": key}}


def list(
    prefix: str, *, limit: int | None = None, start_after: str | None = None, keys_only: bool | None = None
) -> Part:
    """Reads keys with a prefix, in the order of their UTF-8 bytes.

    - `prefix`: The prefix, at most 1,024 bytes; empty = all keys of the namespace.
    - `limit`: Maximum number of keys, 1 to 1,000; 0 = 100. The list also ends at about 256 KiB.
    - `start_after`: Only keys above this one; empty = from the first one.
    - `keys_only`: Whether to leave out the values.
    """
    return {"list": {"prefix": prefix, "limit": limit, "start_after": start_after, "keys_only": keys_only}}


def write_memory(region_id: str, offset: int, data: bytes | str, *, expected_version: int | None = None) -> Part:
    """Overwrites bytes of a region. Errors as for WriteMemory.

    - `region_id`: Id of the region.
    - `offset`: First byte to overwrite.
    - `data`: The new bytes.
    - `expected_version`: If given, the region's version must be equal to it, else FAILED_PRECONDITION /
      VERSION_MISMATCH.
    """
    return {
        "write_memory": {"region_id": region_id, "offset": offset, "data": data, "expected_version": expected_version}
    }


def read_memory(region_id: str, offset: int, length: int) -> Part:
    """Reads bytes of a region. Errors as for ReadMemory.

    - `region_id`: Id of the region.
    - `offset`: First byte to read.
    - `length`: Number of bytes, 0 to 1 MiB.
    """
    return {"read_memory": {"region_id": region_id, "offset": offset, "length": length}}


def append(
    log_id: str,
    payloads: Sequence[bytes | str],
    *,
    idempotency_key: str | None = None,
    expected_sequence: int | None = None,
) -> Part:
    """Appends events to a log of the namespace. Errors as for AppendEvents.

    - `log_id`: Id of the log.
    - `payloads`: The bytes of the events, 1 to 10,000 events.
    - `idempotency_key`: Of one event: its key, as for AppendEvent; empty = none. Of several events: the base of
      their keys, as for AppendEvents; required.
    - `expected_sequence`: If given, the last sequence of the log must be equal to it, else FAILED_PRECONDITION /
      SEQUENCE_CONFLICT; 0 = the log has never had an event.
    """
    return {
        "append": {
            "log_id": log_id,
            "payloads": payloads,
            "idempotency_key": idempotency_key,
            "expected_sequence": expected_sequence,
        }
    }


def transaction(
    *,
    compare: Sequence[Part] | None = None,
    success: Sequence[Part] | None = None,
    failure: Sequence[Part] | None = None,
) -> Part:
    """Operations within a transaction, under comparisons of their own, which see what the operations before have
    changed.

    - `compare`: As in TransactRequest.
    - `success`: As in TransactRequest.
    - `failure`: As in TransactRequest.
    """
    return {"transaction": {"compare": compare, "success": success, "failure": failure}}
