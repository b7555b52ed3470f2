"""A cluster on this machine, for the tests of applications.

In a `conftest.py`: `from quoin.testing import quoin_cluster`. A test that takes `quoin_cluster` gets a `LocalCluster`.
It is started by `npx quoin start`, or by the command in the environment variable `QUOIN_START`.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import quoin

PORTS_PER_MEMBER = 10
START_SECONDS = 120.0
STOP_SECONDS = 20.0
_MEMBER = re.compile(r"^\s+(q-\d+)\s+(\d+)\s", re.MULTILINE)


@dataclass
class LocalCluster:
    """A running cluster, and what a client needs."""

    # gRPC addresses of the members.
    endpoints: list[str]
    # Their addresses for administration, which want `admin_token`.
    admin_endpoints: list[str]
    admin_token: str = field(repr=False)
    # The key of the owner, who may do everything.
    api_key: str = field(repr=False)
    email: str
    password: str = field(repr=False)
    # The process of each member, by name. `q-0` has the first endpoint.
    pids: dict[str, int]
    # The data of the members, with `endpoints.json`.
    directory: Path
    _started: list[subprocess.Popen[str]] = field(default_factory=list, repr=False)

    def client(self, **options: Any) -> quoin.Client:
        """A client of the owner, to be closed."""
        return quoin.Client(self.endpoints, api_key=self.api_key, **options)

    def async_client(self, **options: Any) -> quoin.AsyncClient:
        """The same for asyncio."""
        return quoin.AsyncClient(self.endpoints, api_key=self.api_key, **options)

    def admin(self) -> quoin.AdminClient:
        """A client that administers the first member, to be closed."""
        return quoin.AdminClient(endpoint=self.admin_endpoints[0], token=self.admin_token)

    def kill(self, name: str) -> None:
        """Kills a member, as a crash would."""
        os.kill(self.pids[name], signal.SIGKILL)

    def start(self, name: str) -> None:
        """Starts a killed member again, and returns when it serves."""
        process, shown = _launch(["--member", name, "--data-dir", str(self.directory)])
        self._started.append(process)
        found = re.search(r"process (\d+)", shown, re.IGNORECASE)
        self.pids[name] = int(found[1]) if found else process.pid


@contextlib.contextmanager
def local_cluster(members: int = 1) -> Iterator[LocalCluster]:
    """Starts a cluster of 1, 3 or 5 members on free ports, and removes it with its data at the end."""
    directory = Path(tempfile.mkdtemp(prefix="quoin-"))
    data = directory / "data"
    process: subprocess.Popen[str] | None = None
    cluster: LocalCluster | None = None
    try:
        base = ["--members", str(members), "--data-dir", str(data)]
        process, shown = _launch([*base, "--base-port", str(_free_ports(members))])
        access = json.loads((data / "endpoints.json").read_text())
        cluster = LocalCluster(
            endpoints=access["grpc"],
            admin_endpoints=access["admin"],
            admin_token=(data / "admin-token").read_text().strip(),
            api_key=access["api_key"],
            email=access["owner"]["email"],
            password=access["owner"]["password"],
            pids={name: int(pid) for name, pid in _MEMBER.findall(shown)},
            directory=data,
        )
        yield cluster
    finally:
        for one in [*(cluster._started if cluster else []), *([process] if process else [])]:
            _stop(one)
        shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture(scope="session")
def quoin_cluster() -> Iterator[LocalCluster]:
    """A cluster of one member, for all tests of a run."""
    with local_cluster() as cluster:
        yield cluster


def _launch(arguments: list[str]) -> tuple[subprocess.Popen[str], str]:
    """Runs the command until it is ready. Returns the process, and what it has shown."""
    command = [*shlex.split(os.environ.get("QUOIN_START", "npx quoin start")), *arguments]
    # A session of its own, so that a Ctrl-C for the tests does not end it before them, and nothing is left of it.
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    shown: list[str] = []
    ready = threading.Event()

    def read() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            shown.append(line)
            if "ready" in line.lower() or "again" in line.lower():
                ready.set()
        ready.set()

    threading.Thread(target=read, name="quoin-cluster-output", daemon=True).start()
    if not ready.wait(START_SECONDS) or process.poll() is not None:
        _stop(process)
        raise RuntimeError(f"{shlex.join(command)} has not started a cluster:\n{''.join(shown)}")
    return process, "".join(shown)


def _stop(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(STOP_SECONDS)
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(STOP_SECONDS)
    if process.stdout is not None:
        process.stdout.close()


def _free_ports(members: int) -> int:
    """The first of enough free ports in a row."""
    for _ in range(100):
        base = random.randrange(20_000, 32_000 - members * PORTS_PER_MEMBER, PORTS_PER_MEMBER)
        if all(_is_free(base + at) for at in range(members * PORTS_PER_MEMBER)):
            return base
    raise RuntimeError(f"no {members * PORTS_PER_MEMBER} free ports in a row")


def _is_free(port: int) -> bool:
    with socket.socket() as one:
        try:
            one.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
