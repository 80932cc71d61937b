"""A node finds an agent's CLI that is installed while it runs, and the agents that it holds go on."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from greenroom.testing.hub_process import HubProcess
from tests.conftest import checked, end_node
from tests.stage import Stage


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """Where programs are installed."""
    folder = tmp_path / "bin"
    folder.mkdir()
    return folder


@pytest.fixture
def stage(tmp_path: Path, programs: Path) -> Iterator[Stage]:
    """A hub whose node looks for programs there, too."""
    path = os.pathsep.join([str(programs), "/usr/bin", "/bin"])
    hub = HubProcess(tmp_path / "data", env={"GREENROOM_LOCAL_NODE": "1", "PATH": path})
    try:
        for running in checked(hub):
            with Stage(running) as stage:
                yield stage
    finally:
        end_node(hub.data)


def drivers(stage: Stage) -> dict[str, str]:
    (node,) = stage.api.get("/api/nodes").json()
    return dict(node["drivers"])


def install(program: Path, version: str) -> None:
    program.write_text(f"#!/bin/sh\necho {version}\n")
    program.chmod(0o755)


def test_a_cli_is_found_that_was_installed_after_the_node_had_looked(stage: Stage, programs: Path) -> None:
    at_work = stage.start("SHELL touch made\nSAY still here")
    ask = stage.asked()
    assert "gemini" not in drivers(stage)
    refused = stage.api.post("/api/runs", json={"profile": "gemini", "prompt": "hello"})
    assert refused.status_code == 409
    assert "No node has the driver 'gemini': install it where a node looks for programs" in refused.text
    install(programs / "gemini", "9.9.9")
    stage.until(lambda: drivers(stage).get("gemini") == "9.9.9", "the node to find it")
    assert stage.decide(ask["id"], "approve").status_code == 200
    assert stage.end(at_work)["output"] == "still here"
