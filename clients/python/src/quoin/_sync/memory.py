# Made by scripts/generate.py from _async. Do not edit.
"""Memory regions, and a region as a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from quoin import _types as types
from quoin._core.errors import bad_field, quoin_error
from quoin._core.wire import checked_bytes, checked_count
from quoin._sync.calls import MemoryCalls

if TYPE_CHECKING:
    from typing_extensions import Unpack

# The limit of the service for one call.
CALL_BYTES_MAX = 4 * 1024 * 1024 - 64 * 1024


class MemoryClient(MemoryCalls):
    """Memory regions: single, atomic calls, and regions as files."""

    def open(self, namespace: str, region_id: str) -> MemoryRegion:
        """A region as a file, for reads and writes of any length. Sends no request by itself."""
        return MemoryRegion(self, namespace, region_id)


class MemoryRegion:
    """One region, and a position in it.

    A transfer that is too long for one call is divided into several calls, in order. Each call is atomic; all together
    are not. Calls that move the position must be made one after the other.
    """

    def __init__(self, client: MemoryClient, namespace: str, region_id: str) -> None:
        self._client = client
        self.namespace = namespace
        self.region_id = region_id
        # Offset of the next byte to read or write.
        self.position = 0

    def size(self) -> int:
        """Size of the region in bytes."""
        return (self._client.describe(self.namespace, self.region_id)).size_bytes

    def seek(self, offset: int, origin: Literal["start", "current", "end"] = "start") -> int:
        """Moves the position, and returns the new one. From the end, this reads the size of the region."""
        if origin not in ("start", "current", "end"):
            raise bad_field("origin", "must be start, current or end")
        base = 0 if origin == "start" else self.position if origin == "current" else self.size()
        position = base + checked_count(offset, "offset")
        if position < 0:
            raise bad_field("offset", f"leads to {position}")
        self.position = position
        return position

    def read(
        self,
        length: int,
        *,
        mixed: bool = False,
        on_progress: Callable[[int, int], object] | None = None,
        consistency: types.Consistency | None = None,
        **call: Unpack[types.PartOptions],
    ) -> bytes:
        """Reads from the position on, and moves it to the end of the read bytes. Otherwise like `read_at`."""
        data = self.read_at(
            self.position, length, mixed=mixed, on_progress=on_progress, consistency=consistency, **call
        )
        self.position += length
        return data

    def read_at(
        self,
        offset: int,
        length: int,
        *,
        mixed: bool = False,
        on_progress: Callable[[int, int], object] | None = None,
        consistency: types.Consistency | None = None,
        **call: Unpack[types.PartOptions],
    ) -> bytes:
        """Reads bytes from an offset on; the position stays.

        Raises VersionMismatchError if the region changes meanwhile, unless it may be `mixed`. After each call,
        `on_progress` gets the bytes that are done and the total.
        """
        if checked_count(length, "length") < 0:
            raise bad_field("length", f"must be a count of bytes, not {length}")
        checked_count(offset, "offset")
        data = bytearray()
        version: int | None = None
        while len(data) < length or version is None:
            at, left = offset + len(data), min(length - len(data), CALL_BYTES_MAX)
            part = self._client.read(self.namespace, self.region_id, at, left, consistency=consistency, **call)
            if version not in (None, part.version) and not mixed:
                text = f"region {self.region_id} was changed while it was read: its version was {version}"
                raise quoin_error(f"{text} and is {part.version}", code="ABORTED", reason="VERSION_MISMATCH")
            version = version or part.version
            data += part.data
            if on_progress is not None:
                on_progress(len(data), length)
        return bytes(data)

    def write(
        self,
        data: bytes | str,
        *,
        expected_version: int | None = None,
        guard: types.Guarding | None = None,
        on_progress: Callable[[int, int], object] | None = None,
        **call: Unpack[types.PartOptions],
    ) -> int:
        """Writes from the position on, and moves it to the end of the written bytes. Otherwise like `write_at`."""
        content = checked_bytes(data, "data")
        version = self.write_at(
            self.position, content, expected_version=expected_version, guard=guard, on_progress=on_progress, **call
        )
        self.position += len(content)
        return version

    def write_at(
        self,
        offset: int,
        data: bytes | str,
        *,
        expected_version: int | None = None,
        guard: types.Guarding | None = None,
        on_progress: Callable[[int, int], object] | None = None,
        **call: Unpack[types.PartOptions],
    ) -> int:
        """Writes bytes from an offset on; the position stays. Returns the version of the region.

        If one of several calls fails, the calls before it have written. With `expected_version` a write fails as soon
        as another client writes.
        """
        content = checked_bytes(data, "data")
        checked_count(offset, "offset")
        version, done = expected_version, 0
        while True:
            part = content[done : done + CALL_BYTES_MAX]
            expected = None if expected_version is None else version
            written = self._client.write(
                self.namespace, self.region_id, offset + done, part, expected_version=expected, guard=guard, **call
            )
            version = written.version
            done += len(part)
            if on_progress is not None:
                on_progress(done, len(content))
            if done == len(content):
                return version
