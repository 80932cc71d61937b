"""A person at an agent's terminal while a connection is cut: they are told so, type nothing, and go on afterwards."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.far_node import FarNode
from tests.node.test_attach import Tmux, attach, start
from tests.rules.runs.chaos import ChaosProxy
from tests.stage import Stage

pytestmark = pytest.mark.one_stage
CUT = "cut off; keys go nowhere · Ctrl-B D leaves"


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    terminal = Tmux(tmp_path)
    yield terminal
    terminal.close()


@pytest.fixture
def proxy(stage: Stage) -> Iterator[ChaosProxy]:
    proxy = ChaosProxy(stage.hub.port, seed=1)
    proxy.calm()
    yield proxy
    proxy.close()


def test_who_sits_at_an_agent_of_a_node_that_is_cut_off_types_nothing_until_it_is_back(
    stage: Stage, proxy: ChaosProxy, tmux: Tmux, tmp_path: Path
) -> None:
    node = FarNode(stage, tmp_path, "cut-node").start(f"http://127.0.0.1:{proxy.port}")
    try:
        node.wait_for("connected")
        profile = {"driver": "pty", "command": ["cat"], "node": "cut-node", "options": {"prompt": "none"}}
        assert stage.api.put("/api/profiles/far-cat", json=profile).status_code == 200
        run_id = stage.start("sit there", profile="far-cat")
        stage.until(lambda: stage.run(run_id)["status"] == "running", "the run to begin")
        agent_id = str(stage.run(run_id)["agent_id"])
        attach(tmux, stage, agent_id)
        tmux.sees("you type")
        tmux.type("before\n")
        tmux.sees("before\nbefore")
        proxy.refuse(True)
        tmux.sees(f"its node is {CUT}")
        tmux.type("lost\n")
        proxy.refuse(False)
        tmux.sees("you type")
        tmux.type("after\n")
        assert "lost" not in tmux.sees("after\nafter")
        tmux.press("C-b", "d")
        tmux.sees("You have left")
    finally:
        node.stop()


def test_who_is_cut_off_from_the_hub_types_nothing_and_sits_there_again_when_it_is_back(
    stage: Stage, proxy: ChaosProxy, tmux: Tmux, tmp_path: Path
) -> None:
    agent_id = start(stage, "near-cat", ["cat"])
    (tmp_path / "token").write_text(stage.hub.token)
    url = f"http://127.0.0.1:{proxy.port}"
    attach(tmux, stage, agent_id, "--url", url, "--token-file", str(tmp_path / "token"))
    tmux.sees("you type")
    proxy.refuse(True)
    tmux.sees(f"the hub is {CUT}")
    tmux.type("lost\n")
    proxy.refuse(False)
    tmux.sees("you type")
    tmux.type("after\n")
    assert "lost" not in tmux.sees("after\nafter")
    proxy.refuse(True)
    tmux.sees(CUT)
    tmux.press("C-b", "d")
    tmux.sees("You have left")


def test_the_keys_that_leave_a_terminal_also_leave_an_agent_that_has_none(stage: Stage, tmux: Tmux) -> None:
    run_id = stage.start("SAY hello there\nSLEEP 600")
    attach(tmux, stage, run_id)
    tmux.sees("· Ctrl-B D leaves")
    tmux.sees("hello there")
    tmux.type("d")
    tmux.press("C-b", "d")
    tmux.sees("You have left")
    tmux.type("echo back $((1+1))\n")
    tmux.sees("back 2")
    assert stage.run(run_id)["status"] == "running"
    stage.api.post(f"/api/runs/{run_id}/cancel", json={}).raise_for_status()
