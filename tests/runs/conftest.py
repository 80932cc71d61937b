"""Hubs that can start agents: each with a node of its own, ended with the test."""

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from greenroom.testing.hub_process import HubProcess
from tests.conftest import checked
from tests.runs.stage import Stage


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """A hub with a node and rehearsal profiles; afterwards no process of it is left."""
    hub = HubProcess(tmp_path / "data", env={"GREENROOM_LOCAL_NODE": "1"})
    try:
        for running in checked(hub):
            with Stage(running) as stage:
                yield stage
    finally:
        end_node(hub.data)
    left = [p for p in psutil.process_iter(["cmdline"]) if str(tmp_path) in " ".join(p.info["cmdline"] or [])]
    assert not left, left


def end_node(data: Path) -> None:
    """End the node of a data directory, if it runs."""
    lock = data / "node" / "lock"
    text = lock.read_text().strip() if lock.exists() else ""
    if text:
        with contextlib.suppress(ProcessLookupError, psutil.NoSuchProcess):
            node = psutil.Process(int(text))
            if "greenroom" in " ".join(node.cmdline()):
                os.kill(node.pid, signal.SIGTERM)
                node.wait(20)
