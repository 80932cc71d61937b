"""An approval that its node was not there to take: it is void, and the agent has to ask again."""

from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from greenroom.testing.hub_process import HubProcess, wait_until
from tests.cli.shell import done
from tests.conftest import checked
from tests.far_node import FarNode
from tests.rules.asks.desk import Desk
from tests.security.test_restore import left_behind
from tests.stage import Stage


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


@pytest.fixture
def hasty(tmp_path: Path) -> Iterator[Stage]:
    """A hub in which an approval has to be used within two seconds."""
    for running in checked(HubProcess(tmp_path / "hasty", env={"GREENROOM_APPROVAL_S": "2"})):
        with Stage(running) as stage:
            yield stage


@pytest.mark.anyio
async def test_an_approval_that_lay_in_the_buffer_of_a_frozen_node_is_not_acted_on(
    hasty: Stage, tmp_path: Path
) -> None:
    far, made = FarNode(hasty, tmp_path, "far"), tmp_path / "made"
    try:
        far.start(hasty.hub.url).wait_for("connected")
        run_id = hasty.start(f"SHELL touch {made}\nSAY done", node="far")
        asked = hasty.asked()
        assert far.process is not None
        program = psutil.Process(far.process.pid)
        program.suspend()
        with Desk(hasty.hub) as desk:
            other = await left_behind(desk, desk.agent())
            assert hasty.decide(asked["id"], "approve").status_code == 200
            assert desk.answer(other["id"], verdict="approve", digest=other["digest"]).status_code == 200
            wait_until(lambda: desk.show(other["id"]).get("lapsed_at"))  # so its time is over too
        program.resume()
        hasty.end(run_id)
        assert not made.exists()
        assert asked["id"] in done(hasty.hub.data, "audit", "list", "--type", "AnswerLapsed", "--json").out
    finally:
        far.stop()


def test_an_approval_that_a_frozen_node_takes_in_time_is_acted_on(tmp_path: Path) -> None:
    for running in checked(HubProcess(tmp_path / "data")):
        with Stage(running) as stage:
            far, made = FarNode(stage, tmp_path, "far"), tmp_path / "made"
            try:
                far.start(stage.hub.url).wait_for("connected")
                run_id = stage.start(f"SHELL touch {made}\nSAY done", node="far")
                asked = stage.asked()
                assert far.process is not None
                program = psutil.Process(far.process.pid)
                program.suspend()
                assert stage.decide(asked["id"], "approve").status_code == 200
                program.resume()
                assert stage.end(run_id)["output"] == "done"
                assert made.exists()
            finally:
                far.stop()
