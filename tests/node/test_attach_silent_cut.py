"""A person at an agent's terminal while packets are dropped without a word: told so, typing nothing, and then going on.

The hub is on one machine, the node and the person on two others; either cable is pulled.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from greenroom.testing.hub_process import HubProcess
from tests.cables import DATABASE_IP, Cable, laid_cables
from tests.conftest import checked
from tests.far_node import FarNode
from tests.node.test_attach import Tmux, attach
from tests.node.test_attach_cut import CUT, tmux
from tests.stage import Stage

__all__ = ["tmux"]
HUB_IP = DATABASE_IP


@pytest.fixture
def cables() -> Iterator[list[Cable]]:
    """One to the node, one to the person."""
    with laid_cables(2) as cables:
        yield cables


@pytest.fixture
def stage(tmp_path: Path, cables: list[Cable]) -> Iterator[Stage]:
    hub = HubProcess(tmp_path / "data", {"GREENROOM_ALLOW_PLAINTEXT": "1"}, ["--host", HUB_IP])
    for running in checked(hub):
        with Stage(running) as stage:
            yield stage


@pytest.fixture
def seated(stage: Stage, cables: list[Cable], tmux: Tmux, tmp_path: Path) -> Iterator[Tmux]:
    """A person's terminal, at the terminal of an agent that repeats every line."""
    node = FarNode(stage, tmp_path, "far", "--insecure", prefix=cables[0].prefix).start(stage.hub.url)
    try:
        node.wait_for("connected")
        profile = {"driver": "pty", "command": ["cat"], "node": "far", "options": {"prompt": "none"}}
        assert stage.api.put("/api/profiles/far-cat", json=profile).status_code == 200
        run_id = stage.start("sit there", profile="far-cat")
        stage.until(lambda: stage.run(run_id)["status"] == "running", "the run to begin")
        (tmp_path / "token").write_text(stage.hub.token)
        options = ["--url", stage.hub.url, "--insecure", "--token-file", str(tmp_path / "token")]
        attach(tmux, stage, str(stage.run(run_id)["agent_id"]), *options, prefix=cables[1].prefix)
        tmux.sees("you type")
        tmux.type("before\n")
        tmux.sees("before\nbefore")
        yield tmux
        tmux.press("C-b", "d")
        tmux.sees("You have left")
    finally:
        for cable in cables:
            cable.plug_in()
        node.stop()


@pytest.mark.parametrize(("place", "who"), [(0, "its node"), (1, "the hub")], ids=["node", "person"])
def test_a_cut_without_a_word_is_told_and_nothing_typed_meanwhile_arrives(
    seated: Tmux, cables: list[Cable], place: int, who: str
) -> None:
    cables[place].pull()
    seated.type("early\n")  # nobody knows of the cut yet
    seated.sees(f"{who} is {CUT}")
    seated.type("lost\n")
    cables[place].plug_in()
    seated.sees("you type")
    seated.type("after\n")
    shown = seated.sees("after\nafter")
    assert "early" not in shown
    assert "lost" not in shown
