"""Hubs that can start agents: each with a node of its own, ended with the test or with the module."""

import contextlib
import os
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import psutil
import pytest

from greenroom.testing.hub_process import HubProcess, wait_until
from tests.conftest import checked
from tests.runs.stage import Stage


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "one_stage: the tests of a module share a hub and its node")


@pytest.fixture
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    """A hub with a node and rehearsal profiles: of its own, unless the module's tests share one."""
    if request.node.get_closest_marker("one_stage") is None:
        yield from staged(tmp_path)
        return
    stage: Stage = request.getfixturevalue("shared_stage")
    yield stage
    with Stage(stage.hub) as after:  # the hub may have been restarted
        after.tidy()


@pytest.fixture(scope="module")
def shared_stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """One for a whole module, for tests that do not disturb each other."""
    yield from staged(tmp_path_factory.mktemp("stage"))


def staged(folder: Path, awaits_node: bool = True) -> Iterator[Stage]:
    """A hub with a node that is connected. Afterwards no process of it is left."""
    hub = HubProcess(folder / "data", env={"GREENROOM_LOCAL_NODE": "1"})
    try:
        for running in checked(hub):
            with Stage(running) as stage:
                if awaits_node:
                    stage.until(stage.has_node, "the node of the hub")
                yield stage
    finally:
        end_node(hub.data)
    left = [p for p in psutil.process_iter(["cmdline"]) if str(folder) in " ".join(p.info["cmdline"] or [])]
    assert not left, left


def end_node(data: Path) -> None:
    """End the node of a data directory, if it runs or is just starting."""
    for process in psutil.process_iter(["cmdline"]):
        said = process.info["cmdline"] or []
        if "greenroom" in said and "node" in said and str(data) in said:
            with contextlib.suppress(ProcessLookupError, psutil.NoSuchProcess):
                os.kill(process.pid, signal.SIGTERM)
                wait_until(partial(_has_ended, process))


def _has_ended(process: psutil.Process) -> bool:
    """An init may take seconds to collect what has ended."""
    return bool(process.status() == psutil.STATUS_ZOMBIE)
