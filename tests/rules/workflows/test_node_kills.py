"""Workflows whose node, agents or both are killed at random moments: no step is completed without its effect."""

import contextlib
import os
import random
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from greenroom.testing.timeouts import TEST_LIMIT_S
from tests.rules.runs.test_crashes import node_pid
from tests.rules.workflows.plays import Play
from tests.stage import Stage

ROUNDS = int(os.environ.get("GREENROOM_TEST_KILLS", "9"))
_AT_ONCE = 3
_EVENTS = 150
"""About as many as the agents of a round make; the kill falls at one of them."""
pytestmark = pytest.mark.timeout(TEST_LIMIT_S + 60 * ROUNDS)
Json = dict[str, Any]


def script(step: str, effects: Path, place: Path, thread: str) -> str:
    """Every directive that does something, with pauses in which a kill may fall."""
    mark = f"{{{{ run.id }}}} {step}"
    name = place / f"{{{{ run.id }}}}-{step}"
    return "\n".join(
        [
            "SAY begun",
            f"SHELL sleep 0.1; echo '{mark} shell' >> {effects}",
            "SLEEP 0.2",
            f"WRITE {name} one two",
            f"EDIT {name} two => three, two",
            "SLEEP 0.2",
            f"POST {thread} {mark}",
            f"SPAWN hands SHELL echo '{mark} child' >> {effects}",
            "SLEEP 0.1",
            "SAY all of it",
            'OUTPUT {"is": "done"}',
        ]
    )


def agents_of(pid: int) -> list[psutil.Process]:
    found = psutil.Process(pid).children()
    return [one for one in found if "greenroom.rehearsal" in " ".join(one.cmdline())]


def kill(stage: Stage, what: str) -> None:
    """End the node, its agents or all of them at once, without a warning."""
    node = node_pid(stage)
    with contextlib.suppress(psutil.NoSuchProcess):
        victims = [] if what == "node" else [one.pid for one in agents_of(node)]
        for pid in [*([] if what == "agents" else [node]), *victims]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def seq(stage: Stage) -> int:
    """How many events the hub's log has."""
    return int(stage.api.get("/api/metrics", headers={"Accept": "application/json"}).json()["seq"])


@pytest.fixture
def play(stage: Stage) -> Iterator[Play]:
    stage.profile("hands", approvals="never", may_spawn=True, max_depth=2)
    yield Play(stage)


def test_no_step_is_completed_without_its_effect_wherever_nodes_and_agents_are_killed(
    play: Play, stage: Stage, tmp_path: Path
) -> None:
    effects, place = tmp_path / "effects", tmp_path / "files"
    effects.touch()
    place.mkdir()
    thread = stage.api.post("/api/threads", json={"topic": "kills"}).json()["id"]
    steps = [{"id": name, "profile": "hands", "prompt": script(name, effects, place, thread)} for name in ("a", "b")]
    steps[1]["dependencies"] = ["a"]
    seed = random.randrange(10**6)
    chance = random.Random(seed)
    done: list[str] = []
    killed: Counter[str] = Counter()
    for number in range(ROUNDS):
        what = ("node", "agents", "both")[number % 3]
        runs = [play.start(*steps, name=f"kills-{number}-{one}") for one in range(_AT_ONCE)]
        until = seq(stage) + chance.randrange(_EVENTS)
        stage.until(lambda until=until: seq(stage) >= until, "enough to happen")
        kill(stage, what)
        for run_id in runs:
            ended = play.end(run_id)
            found = play.steps(run_id)
            killed[what] += sum(len(step["attempts"]) > 1 or step["status"] == "failed" for step in found.values())
            assert what == "agents" or ended["status"] == "completed", (seed, number, ended, found)
            for name, step in found.items():
                if step["status"] == "completed":
                    assert step["output"] == {"is": "done"}, (seed, number, step)
                    done.append(f"{run_id} {name}")
    print(f"seed {seed}: {len(done)} steps completed, {dict(killed)} cut off")
    marks = Counter(effects.read_text().splitlines())
    said = Counter(one["content"] for one in stage.api.get(f"/api/threads/{thread}/messages?limit=500").json())
    for step in done:
        shell, child = marks[f"{step} shell"], marks[f"{step} child"]
        assert (shell, said[step]) == (1, 1) and child, (seed, step, shell, said[step], child)
        assert (place / step.replace(" ", "-")).read_text() == "one three, two"
    assert killed["node"] and killed["both"], "no kill has met an agent at work"
