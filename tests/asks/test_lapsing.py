"""An approval that its node was not there to take: it is void, and the agent has to ask again."""

from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from greenroom.testing.hub_process import HubProcess
from tests.cli.shell import done
from tests.conftest import checked
from tests.runs.far_node import FarNode
from tests.runs.stage import Stage


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """A hub in which approvals are void unless they are taken at once."""
    for running in checked(HubProcess(tmp_path / "data", env={"GREENROOM_APPROVAL_S": "0"})):
        with Stage(running) as stage:
            yield stage


def test_a_node_that_was_away_is_not_given_an_approval_that_has_lapsed(stage: Stage, tmp_path: Path) -> None:
    far = FarNode(stage, tmp_path, "far")
    made = tmp_path / "made"
    try:
        far.start(stage.hub.url).wait_for("connected")
        run_id = stage.start(f"SHELL touch {made}\nSAY done", node="far")
        asked = stage.asked()
        assert far.process is not None
        program = psutil.Process(far.process.pid)
        program.suspend()
        far.wait_for("unreachable")
        assert stage.decide(asked["id"], "approve").status_code == 200
        program.resume()
        stage.end(run_id)
        assert not made.exists()
        assert asked["id"] in done(stage.hub.data, "audit", "list", "--type", "AnswerLapsed", "--json").out
    finally:
        far.stop()
