"""The examples of the manual, as they stand there."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from quoin.testing import LocalCluster, local_cluster

MANUAL = Path(__file__).resolve().parents[3] / "docs"
PAGE = MANUAL / "python.md"
TABS = MANUAL / "sdks.md"


@pytest.mark.skipif(not PAGE.exists(), reason="the page is only in the repository")
def test_every_example_runs(cluster: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".quoin").symlink_to(cluster.directory)
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) > 12
    # A lock that protects a write is short.
    assert len([line for line in blocks[0].splitlines() if line.strip()]) <= 12
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    names["test_greeting"](cluster)
    names["client"].close()


@pytest.mark.skipif(not TABS.exists(), reason="the page is only in the repository")
def test_every_tab_runs(cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUOIN_API_KEY", cluster.api_key)
    blocks = re.findall(r"^```python \[Python\]\n(.*?)^```", TABS.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 4
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block.replace("127.0.0.1:7400", cluster.endpoints[0]), str(TABS), "exec"), names)


@pytest.mark.skipif("QUOIN_EMPTY_PYTHON" not in os.environ, reason="no empty environment was made")
def test_the_first_example_runs_in_an_empty_environment(tmp_path: Path) -> None:
    with local_cluster() as one:
        (tmp_path / ".quoin").symlink_to(one.directory)
        example = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)[0]
        script = tmp_path / "example.py"
        script.write_text(example + "    print(client.kv.get('default', 'report').value)\n")
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        command = [os.environ["QUOIN_EMPTY_PYTHON"], str(script)]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stdout) == (0, "b'data'\n"), done.stderr
