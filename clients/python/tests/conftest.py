"""Settings and fixtures of all tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings

from quoin.testing import LocalCluster, local_cluster

# Without a deadline, because a busy machine is no failure.
settings.register_profile("quoin", deadline=None, max_examples=50, derandomize=True, database=None)
settings.load_profile("quoin")


@pytest.fixture(scope="session")
def cluster() -> Iterator[LocalCluster]:
    """A cluster of three members."""
    with local_cluster(members=3) as running:
        yield running
