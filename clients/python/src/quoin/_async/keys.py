"""Keys and values."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING

from quoin import _types as types
from quoin._async.calls import AsyncKeyValueCalls
from quoin._core.effects import pause
from quoin._core.transactions import transaction_result
from quoin._generated import models

if TYPE_CHECKING:
    from typing_extensions import Unpack

# Between two looks at a namespace that is being deleted.
DELETION_PAUSE_MS = 250.0


class AsyncKeyValueClient(AsyncKeyValueCalls):
    """Keys and values in namespaces. A value is bytes; a str is sent as its UTF-8 form."""

    async def scan(
        self,
        namespace: str,
        *,
        prefix: str | None = None,
        page_size: int | None = None,
        keys_only: bool = False,
        **call: Unpack[types.PartOptions],
    ) -> AsyncIterator[models.KeyEntry]:
        """All keys with a prefix, in the order of their UTF-8 bytes, page by page as they are needed."""
        async for page in self.pages(namespace, prefix=prefix, page_size=page_size, keys_only=keys_only, **call):
            for entry in page.items:
                yield entry

    async def increment(
        self,
        namespace: str,
        key: str,
        delta: int = 1,
        *,
        ttl_seconds: int | None = None,
        guard: types.Guarding | None = None,
        **call: Unpack[types.CallOptions],
    ) -> int:
        """Adds to the number whose decimal text is the value of a key, and returns the sum. An absent key counts as 0.

        `ttl_seconds` is the life of the key if this creates it. Raises NotANumberError and NumberOverflowError.
        """
        operation = {"increment": {"key": key, "delta": delta, "ttl_seconds": ttl_seconds}}
        given = {"namespace": namespace, "success": [operation]}
        result = await self._call(transaction_result, "TransactionService/Transact", given, {"guard": guard}, call)
        assert isinstance(result.results[0], models.TransactedIncrement)
        return result.results[0].value

    async def until_namespace_deleted(
        self, namespace: str, *, on_progress: Callable[[models.NamespaceInfo], object] | None = None
    ) -> None:
        """Waits until nothing is left of a namespace whose deletion has begun, however long that takes.

        Returns at once if it is not being deleted. `on_progress` gets what is left, a few times a second.
        """
        while True:
            page = await self.list_namespaces(prefix=namespace, page_size=1)
            left = page.namespaces[0] if page.namespaces else None
            if left is None or left.name != namespace or not left.deleting:
                return
            if on_progress is not None:
                on_progress(left)
            await self._io.run(pause(DELETION_PAUSE_MS, self._context.closing))
