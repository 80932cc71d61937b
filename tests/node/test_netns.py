"""A node in a network of its own, whose cable is pulled."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from greenroom.testing.hub_process import HubProcess
from tests.conftest import checked
from tests.far_node import FarNode
from tests.stage import Stage

NUMBER = os.getpid() % 200 + 20
SPACE, OUTER, INNER = f"gr{os.getpid()}", f"gro{os.getpid()}"[:15], f"gri{os.getpid()}"[:15]
HUB_IP, NODE_IP = f"10.213.{NUMBER}.1", f"10.213.{NUMBER}.2"


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


@pytest.fixture
def cable() -> Iterator[None]:
    if os.geteuid() or not shutil.which("ip"):
        pytest.skip("needs root and the program ip")
    try:
        ip("netns", "add", SPACE)
    except subprocess.CalledProcessError as error:
        pytest.skip(f"no network namespaces here: {error.stderr.decode().strip()}")
    try:
        ip("link", "add", OUTER, "type", "veth", "peer", "name", INNER, "netns", SPACE)
        ip("addr", "add", f"{HUB_IP}/24", "dev", OUTER)
        ip("link", "set", OUTER, "up")
        for words in (
            ["addr", "add", f"{NODE_IP}/24", "dev", INNER],
            ["link", "set", INNER, "up"],
            ["link", "set", "lo", "up"],
        ):
            ip("-n", SPACE, *words)
        yield
    finally:
        ip("netns", "del", SPACE)


@pytest.fixture
def stage(tmp_path: Path, cable: None) -> Iterator[Stage]:
    env = {"GREENROOM_ALLOW_PLAINTEXT": "1"}
    for running in checked(HubProcess(tmp_path / "data", env=env, args=["--host", HUB_IP])):
        with Stage(running) as stage:
            yield stage


def test_a_pulled_cable_interrupts_nothing_and_loses_nothing(stage: Stage, tmp_path: Path) -> None:
    node = FarNode(stage, tmp_path, "far", "--insecure", prefix=["ip", "netns", "exec", SPACE]).start(stage.hub.url)
    try:
        node.wait_for("connected")
        assert stage.api.get("/api/nodes").json()[0]["insecure"] is True  # NF-08: the page warns of it
        said = [f"w{number}" for number in range(40)]
        run_id = stage.start("\n".join(f"SAY {word}\nSLEEP 0.5" for word in said))
        stage.until(lambda: stage.run(run_id).get("items", 0) > 3, "the agent to be at work")
        ip("link", "set", OUTER, "down")
        node.wait_for("unreachable")
        assert stage.run(run_id)["status"] == "running"
        ip("link", "set", OUTER, "up")
        assert stage.end(run_id)["status"] == "completed"
        items = stage.items(run_id)
        assert [item["number"] for item in items] == list(range(1, len(items) + 1))
        assert "".join(item["data"]["text"] for item in items if item["kind"] == "said").split() == said
    finally:
        node.stop()
