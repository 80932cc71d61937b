"""Claude Code in its own terminal, through a hub and a node as a person has them: sat at, driven, stopped, taken up."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from greenroom.runtimes.scripted_model import write_model_wiring
from greenroom.testing.agent_clis import CLAUDE
from greenroom.testing.fake_llm import FakeModel
from greenroom.testing.hub_process import HubProcess
from greenroom.testing.machine_requirements import skip_or_fail
from tests import ROOT
from tests.cli.shell import done
from tests.conftest import checked, end_node
from tests.far_node import FarNode
from tests.node.test_attach import Looker, Tmux, attach
from tests.stage import Stage

CLIS = ROOT / ".clis"
KEY = "sk-ant-fake-of-twenty-characters"
ONE_CALL = (1000, 50, 0.005)
"""What the model says that it has used, and what that costs by Claude Code's prices."""
QUESTION = "Do you want to proceed?"


class Seated(Stage):
    """A stage whose profile `claude` lives in its terminal, in a folder that it has been trusted with before."""

    def __init__(self, hub: HubProcess, model: FakeModel, folder: Path) -> None:
        super().__init__(hub)
        home, self.desk = folder / "home", folder / "desk"
        self.desk.mkdir()
        wiring = write_model_wiring("claude", home, model.url)
        assert wiring is not None
        home.mkdir(exist_ok=True)
        known = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "customApiKeyResponses": {"approved": [KEY[-20:]]},
            "projects": {str(self.desk): {"hasTrustDialogAccepted": True}},
        }
        (home / ".claude.json").write_text(json.dumps(known))
        env = {"HOME": str(home), **wiring.env, "ANTHROPIC_API_KEY": KEY}
        self.made = {"driver": "claude", "directory": str(self.desk), "env": env, "options": {"attach": True}}
        self.make("claude")

    def make(self, name: str, **fields: Any) -> None:
        answer = self.api.put(f"/api/profiles/{name}", json={**self.made, **fields})
        assert answer.status_code == 200, answer.text

    def cli(self, *words: str) -> Any:
        return done(self.hub.data, *words, "--json").json


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seated]:
    """One for all, whose nodes find Claude Code."""
    if not (CLIS / "ready").exists():
        skip_or_fail("Claude Code is not installed: run `make clis`")
    folder = tmp_path_factory.mktemp("seated")
    path = os.pathsep.join([str((CLIS / CLAUDE).parent), os.environ["PATH"]])
    hub = HubProcess(folder / "data", env={"GREENROOM_LOCAL_NODE": "1", "PATH": path})
    try:
        with FakeModel() as model, pytest.MonkeyPatch.context() as patch:
            patch.setenv("PATH", path)
            for running in checked(hub):
                with Seated(running, model, folder) as stage:
                    yield stage
    finally:
        end_node(hub.data)


@pytest.fixture
def screens(tmp_path: Path) -> Iterator[list[Tmux]]:
    """Two people's terminals, as large as people's are."""
    found = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        found.append(Tmux(tmp_path / name))
        found[-1].resize(110, 40)
    yield found
    for one in found:
        one.close()


def used(run: dict[str, Any]) -> tuple[int, int, float]:
    return run["input_tokens"], run["output_tokens"], run["cost_usd"]


def test_a_person_sits_at_it_types_watches_an_answer_from_elsewhere_and_leaves(
    stage: Seated, screens: list[Tmux]
) -> None:
    first = stage.cli("run", "claude", "SAY before anybody came", "--keep-as", "clyde")
    assert (first["status"], first["output"]) == ("completed", "before anybody came")
    assert first["usage"] == {"input_tokens": 1000, "output_tokens": 50, "cost_usd": ONE_CALL[2]}
    mine, other = screens
    attach(mine, stage, "clyde")
    mine.sees("● before anybody came")
    mine.type("SAY typed by a person")
    mine.sees("❯ SAY typed by a person")
    mine.press("Enter")
    mine.sees("● typed by a person")

    begun = stage.cli("run", "claude", "USE_TOOL bash touch allowed\nSAY saw it", "--agent", "clyde", "--detach")
    mine.sees(QUESTION)
    attach(other, stage, "clyde", "--read-only")
    other.sees(QUESTION)
    other.type("2")
    (ask,) = stage.cli("ask", "list")
    assert (ask["subject"]["tool"], ask["subject"]["arguments"]["command"]) == ("Bash", "touch allowed")
    stage.cli("ask", "approve", ask["id"])
    ended = stage.end(begun["run_id"])
    assert (ended["status"], ended["output"]) == ("completed", "saw it")
    assert used(ended) == (3000, 150, 3 * ONE_CALL[2]), "two calls, and one for what the person has said"
    assert (stage.desk / "allowed").exists()
    for one in screens:
        one.sees("● saw it")
        one.press("C-b", "d")
        one.sees("You have left")
    assert stage.done("SAY still here", profile="claude", agent="clyde")["output"] == "still here"


def test_the_hub_s_tools_are_there_from_the_first_prompt_on(stage: Seated) -> None:
    begun = stage.done("USE_TOOL bus_get_config {}\nSAY called", profile="claude")
    assert begun["output"] == "called"
    finished = [item["data"] for item in stage.items(begun["id"]) if item["kind"] == "call_finished"]
    assert [one["ok"] for one in finished] == [True]


def test_a_run_is_cancelled_in_the_middle_and_the_agent_takes_the_next(stage: Seated) -> None:
    stage.done("SAY before", profile="claude", keep_as="cleo")
    begun = stage.start("SLOW 200 0.5\nSAY never", profile="claude", agent="cleo")
    looker = Looker(stage, str(stage.run(begun)["agent_id"]))
    looker.sees(" tokens)")
    assert stage.cli("runs", "cancel", begun)["status"] == "cancelled"
    after = stage.done("RECALL", profile="claude", agent="cleo")
    assert after["status"] == "completed"
    assert "SAY before" in after["output"]
    looker.close()


def test_after_a_kill_of_the_node_the_session_goes_on_in_a_new_process(stage: Seated) -> None:
    stage.done("SAY before", profile="claude", keep_as="clara")
    begun = stage.start("USE_TOOL bash touch unanswered\nSAY never", profile="claude", agent="clara")
    agent_id = str(stage.run(begun)["agent_id"])
    stage.asked()
    os.kill(int((stage.hub.data / "node" / "lock").read_text()), signal.SIGKILL)
    assert stage.end(begun)["status"] == "interrupted"
    resumed = stage.api.post(f"/api/runs/{begun}/resume", json={"prompt": "RECALL"}).json()
    ended = stage.end(resumed["id"])
    assert (ended["status"], ended["agent_id"]) == ("completed", agent_id)
    assert "SAY before" in ended["output"]
    assert used(ended) == ONE_CALL, "what was used before the resume is not counted again"
    assert stage.cli("ask", "list") == []
    assert not (stage.desk / "unanswered").exists()


def test_one_on_another_machine_is_sat_at_and_refused_like_one_here(
    stage: Seated, tmp_path: Path, screens: list[Tmux]
) -> None:
    node = FarNode(stage, tmp_path, "far").start(stage.hub.url)
    try:
        node.wait_for("connected")
        stage.make("faraway", node="far")
        begun = stage.start("USE_TOOL bash touch there\nSAY went on", profile="faraway", keep_as="fay")
        stage.until(lambda: stage.run(begun)["status"] == "waiting", "it to ask")
        assert stage.run(begun)["node_id"] == node.id
        attach(screens[0], stage, "fay")
        screens[0].sees(QUESTION)
        stage.cli("ask", "deny", stage.asked()["id"], "--text", "not today")
        assert stage.end(begun)["output"] == "went on"
        assert not (stage.desk / "there").exists()
        screens[0].sees("● went on")
        screens[0].press("C-b", "d")
        screens[0].sees("You have left")
    finally:
        node.stop()
