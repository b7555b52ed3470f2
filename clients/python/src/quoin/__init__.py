"""Python SDK of Quoin. Start with `Client` or `AsyncClient`; a failed operation raises a `QuoinError`."""

from quoin import models as models
from quoin import ops as ops
from quoin._async.client import AsyncAdminClient as AsyncAdminClient
from quoin._async.client import AsyncClient as AsyncClient
from quoin._async.elections import AsyncElection as AsyncElection
from quoin._async.elections import AsyncLeadership as AsyncLeadership
from quoin._async.locks import AsyncHold as AsyncHold
from quoin._async.locks import AsyncReadWriteHold as AsyncReadWriteHold
from quoin._async.memory import AsyncMemoryRegion as AsyncMemoryRegion
from quoin._async.sessions import AsyncSession as AsyncSession
from quoin._async.transactions import AsyncOptimisticTransaction as AsyncOptimisticTransaction
from quoin._async.transactions import AsyncTransaction as AsyncTransaction
from quoin._async.watches import AsyncItems as AsyncItems
from quoin._async.watches import AsyncWatch as AsyncWatch
from quoin._core.effects import Signal as Signal
from quoin._core.errors import QuoinError as QuoinError
from quoin._generated.reasons import *  # noqa: F403
from quoin._io.channels import VERSION
from quoin._io.channels import ChannelOptions as ChannelOptions
from quoin._io.channels import TlsOptions as TlsOptions
from quoin._sync.client import AdminClient as AdminClient
from quoin._sync.client import Client as Client
from quoin._sync.elections import Election as Election
from quoin._sync.elections import Leadership as Leadership
from quoin._sync.locks import Hold as Hold
from quoin._sync.locks import ReadWriteHold as ReadWriteHold
from quoin._sync.memory import MemoryRegion as MemoryRegion
from quoin._sync.sessions import Session as Session
from quoin._sync.transactions import OptimisticTransaction as OptimisticTransaction
from quoin._sync.transactions import Transaction as Transaction
from quoin._sync.watches import Items as Items
from quoin._sync.watches import Watch as Watch
from quoin._types import Guard as Guard
from quoin._types import SessionGuard as SessionGuard

__version__ = VERSION
