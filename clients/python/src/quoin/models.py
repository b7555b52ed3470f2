"""The answers of the service, as frozen dataclasses."""

from quoin._core.elections import Leader as Leader
from quoin._core.logs import AppendBatchResult as AppendBatchResult
from quoin._core.logs import AppendResult as AppendResult
from quoin._core.streams import WatchBatch as WatchBatch
from quoin._core.transactions import BatchPart as BatchPart
from quoin._core.transactions import BranchResult as BranchResult
from quoin._core.transactions import TransactionEntry as TransactionEntry
from quoin._core.transactions import TransactionResult as TransactionResult
from quoin._generated.models import *  # noqa: F403
