"""How many agents a machine holds: as its setting and its open files allow; the others wait, or sleep."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from greenroom.open_files import PER_AGENT, count_agents_within
from greenroom.testing.hub_process import HubProcess
from tests.conftest import checked, end_node
from tests.rules.runs.test_crashes import node_pid
from tests.stage import Stage

_FEW = 200
"""Open files of a small node: enough for 17 agents."""


@contextmanager
def limited(folder: Path, soft: int, hard: int, **env: str) -> Iterator[Stage]:
    """A hub and a node that may have so many files open."""
    prefix = ("prlimit", f"--nofile={soft}:{hard}")
    hub = HubProcess(folder / "data", env={"GREENROOM_LOCAL_NODE": "1", **env}, prefix=prefix)
    try:
        for running in checked(hub):
            with Stage(running) as stage:
                yield stage
    finally:
        end_node(hub.data)


def local(stage: Stage) -> dict[str, Any]:
    """The node of the hub's own machine, once it is connected."""
    found = stage.until(
        lambda: [one for one in stage.api.get("/api/nodes").json() if one.get("state") == "connected"], "the node"
    )
    return dict(found[0])


def test_the_limit_of_open_files_is_raised_as_far_as_it_may_be(tmp_path: Path) -> None:
    with limited(tmp_path, 256, 4096, GREENROOM_LOCAL_CAPACITY="40") as stage:
        assert local(stage)["capacity"] == 40
        for pid in (stage.hub.pid, node_pid(stage)):
            assert psutil.Process(pid).rlimit(resource.RLIMIT_NOFILE) == (4096, 4096)
        assert "open files" not in stage.hub.stderr


def test_a_changed_setting_holds_for_a_node_that_has_gone_on_meanwhile(tmp_path: Path) -> None:
    with limited(tmp_path, 4096, 4096) as stage:
        assert local(stage)["capacity"] == 16
        node = node_pid(stage)
        stage.hub.stop()
        stage.hub.restart({**stage.hub.env, "GREENROOM_LOCAL_CAPACITY": "3"})
        stage.until(lambda: local(stage)["capacity"] == 3, "the setting to hold")
        assert node_pid(stage) == node


def test_more_agents_than_files_allow_all_do_their_work_and_idle_ones_sleep(tmp_path: Path) -> None:
    agents = 60
    with limited(tmp_path, _FEW, _FEW, GREENROOM_LOCAL_CAPACITY="500") as stage:
        most = count_agents_within(_FEW)
        assert local(stage)["capacity"] == most
        assert f"holds {most} agents at once and not 500 (local_capacity)" in stage.hub.stderr
        runs = [stage.start(f"SAY {number}", keep=True) for number in range(agents)]
        assert [stage.end(run)["output"] for run in runs] == [str(number) for number in range(agents)]
        node = psutil.Process(node_pid(stage))
        stage.until(lambda: len(node.children()) <= most, "idle agents to fall asleep")
        assert node.num_fds() < _FEW
        asleep = stage.run(runs[0])["agent_id"]
        woken = stage.done("RECALL", agent=asleep, profile="rehearsal")
        assert woken["output"] == "prompts: 2, first: SAY 0"
        assert PER_AGENT * most < _FEW
