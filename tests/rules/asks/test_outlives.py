"""A permission outlives the hub: it is killed while one is open, comes back, and what was approved runs once."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest

from greenroom.runtimes.scripted_model import write_model_wiring
from greenroom.testing.fake_llm import FakeModel
from greenroom.testing.hub_process import HubEnded, HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests.conftest import checked, end_node
from tests.runtimes.acp_rig import CACHE, CLIS, COMMANDS
from tests.runtimes.native_rig import PROGRAMS
from tests.stage import Stage

LINE = "once"
T = TypeVar("T")
FOUND = {**{name: [str(path)] for name, path in PROGRAMS.items()}, "copilot": COMMANDS["copilot"]}


@pytest.fixture
def model(tmp_path: Path) -> Iterator[FakeModel]:
    with FakeModel(bodies=tmp_path) as model:
        yield model


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """A hub whose node finds the real CLIs."""
    path = os.pathsep.join([*(str(Path(command[0]).parent) for command in FOUND.values()), os.environ["PATH"]])
    hub = HubProcess(tmp_path / "data", env={"GREENROOM_LOCAL_NODE": "1", "PATH": path})
    try:
        for running in checked(hub):
            with Stage(running) as stage:
                yield stage
    finally:
        end_node(hub.data)


def cli(stage: Stage, *words: str) -> Any:
    """What the command line answers."""
    command = [sys.executable, "-m", "greenroom", "ask", *words, "--json", "--data", str(stage.hub.data)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def kill_and_return(stage: Stage) -> None:
    stage.hub.send_signal(signal.SIGKILL)
    stage.hub.wait()
    stage.hub.restart()


def test_a_permission_open_at_a_kill_is_answered_from_the_command_line_and_runs_once(stage: Stage) -> None:
    made = stage.hub.data.parent / "made"
    run_id = stage.start(f"SHELL echo {LINE} >> {made}\nSAY went on")
    asked = stage.asked()
    assert (stage.run(run_id)["status"], made.exists()) == ("waiting", False)
    assert asked["title"] in stage.run(run_id)["waiting_for"]
    kill_and_return(stage)
    (still,) = cli(stage, "list")
    assert (still["id"], still["digest"]) == (asked["id"], asked["digest"])
    assert cli(stage, "show", asked["id"])["subject"] == asked["subject"]
    (result,) = cli(stage, "approve", asked["id"], "--digest", asked["digest"])
    assert result["ok"]
    assert stage.end(run_id)["status"] == "completed"
    assert made.read_text() == f"{LINE}\n"


def insist(stage: Stage, work: Callable[[], T]) -> T:
    """What comes of work, also when the hub dies under it."""
    for _ in range(5):
        try:
            return work()
        except httpx.TransportError:
            stage.hub.wait()
            stage.hub.restart({"GREENROOM_FAILPOINT": ""})
    raise AssertionError("the hub dies again and again")


@pytest.mark.parametrize("place", ["log.committed:11", "log.announced:13", "log.answered:15"])
def test_a_hub_that_dies_around_the_answer_neither_loses_nor_doubles_it(stage: Stage, place: str) -> None:
    """AP-08, AP-12: wherever the hub dies, the call runs once."""
    made = stage.hub.data.parent / "made"
    run_id = stage.start(f"SHELL echo {LINE} >> {made}\nSAY went on")
    asked = stage.asked()
    stage.hub.kill()
    with contextlib.suppress(HubEnded):  # it may come that early; whoever calls next starts it again
        stage.hub.restart({"GREENROOM_FAILPOINT": place})
    answer = insist(stage, lambda: stage.decide(asked["id"], "approve"))
    assert answer.status_code in (200, 409), answer.text
    assert insist(stage, lambda: stage.end(run_id))["status"] == "completed"
    assert made.read_text() == f"{LINE}\n"
    if not stage.hub.is_running():  # it may have died with its very last word
        stage.hub.restart({"GREENROOM_FAILPOINT": ""})
    stage.hub.stop()
    stage.hub.restart({"GREENROOM_FAILPOINT": ""})


def test_the_words_of_a_denial_reach_the_agent(stage: Stage) -> None:
    run_id = stage.start("SHELL touch never\nSAY went on")
    stage.decide(stage.asked()["id"], "deny", text="use the other folder")
    ended = stage.end(run_id)
    assert ended["status"] in ("completed", "failed")
    assert "use the other folder" in json.dumps(stage.items(run_id)) + str(ended)


def installed(name: str, stage: Stage, model: FakeModel) -> Path:
    """A profile of a real CLI on the scripted model; the file that its tool is to make where it works."""
    if not (CLIS / "ready").exists():
        pytest.fail(f"{name} is not installed") if os.environ.get("CI") else pytest.skip("run `make clis`")
    home = stage.hub.data.parent / name
    work = home / "work"
    work.mkdir(parents=True)
    wiring = write_model_wiring(name, home, model.url)
    assert wiring is not None
    env = {**wiring.env, **CACHE.get(name, {}), "HOME": str(home)}
    profile = {"driver": name, "command": FOUND[name], "env": env, "model": wiring.model, "approvals": "always"}
    options = {"sandbox": "danger-full-access"} if name == "codex" else {}  # its own sandbox does not run everywhere
    stage.profile(name, **profile, start_timeout_s=int(WAIT_S), directory=str(work), options=options)
    stage.until(lambda: name in stage.api.get("/api/nodes").json()[0].get("drivers", {}), f"{name} to be found")
    return work / "made"


def body_texts(model: FakeModel, folder: Path) -> str:
    return "".join(path.read_text() for path in folder.glob("*.json"))


def command_of(asked: dict[str, Any]) -> str:
    return json.dumps(asked["subject"]["arguments"])


@pytest.mark.parametrize("name", sorted(FOUND))
def test_a_real_cli_waits_through_a_kill_of_the_hub_and_its_tool_runs_once(
    stage: Stage, model: FakeModel, name: str
) -> None:
    made = installed(name, stage, model)
    run_id = stage.start(f"USE_TOOL bash echo {LINE} >> {made}\nSAY done", profile=name)
    asked = stage.until(lambda: stage.api.get("/api/asks").json()["asks"], "the CLI to ask")[0]
    assert str(made) in command_of(asked)
    kill_and_return(stage)
    (still,) = cli(stage, "list")
    assert still["id"] == asked["id"]
    cli(stage, "approve", asked["id"], "--digest", asked["digest"])
    ended = stage.end(run_id)
    assert ended["status"] == "completed", ended
    assert made.exists(), stage.api.get(f"/api/runs/{run_id}/calls").text
    assert made.read_text() == f"{LINE}\n"


def test_codex_finishes_a_command_that_takes_longer_than_it_waits_for(stage: Stage, model: FakeModel) -> None:
    """By itself it goes on after ten seconds, which any command can take on a busy machine."""
    made = installed("codex", stage, model)
    run_id = stage.start(f"USE_TOOL bash sleep 11; echo {LINE} >> {made}\nSAY done", profile="codex")
    assert stage.decide(stage.asked()["id"], "approve").is_success
    assert stage.end(run_id)["status"] == "completed"
    assert made.read_text() == f"{LINE}\n"


@pytest.mark.parametrize("name", sorted(FOUND))
def test_the_words_of_a_denial_reach_the_model_behind_a_real_cli(
    stage: Stage, model: FakeModel, name: str, tmp_path: Path
) -> None:
    made = installed(name, stage, model)
    run_id = stage.start(f"USE_TOOL bash echo {LINE} >> {made}\nSAY done", profile=name)
    asked = stage.until(lambda: stage.api.get("/api/asks").json()["asks"], "the CLI to ask")[0]
    cli(stage, "deny", asked["id"], "--text", "rather use the blue folder")
    stage.end(run_id)
    assert not made.exists()
    assert "rather use the blue folder" in body_texts(model, tmp_path)


def test_claude_code_runs_the_arguments_that_a_person_has_changed(stage: Stage, model: FakeModel) -> None:
    made = installed("claude", stage, model)
    run_id = stage.start(f"USE_TOOL bash echo {LINE} >> {made}\nSAY done", profile="claude")
    asked = stage.until(lambda: stage.api.get("/api/asks").json()["asks"], "the CLI to ask")[0]
    changed = {**asked["subject"]["arguments"], "command": f"echo changed >> {made}"}
    (result,) = cli(stage, "approve", asked["id"], "--arguments", json.dumps(changed))
    assert result["ok"]
    assert stage.end(run_id)["status"] == "completed"
    assert made.read_text() == "changed\n"
