"""Through a hub and a node, people get the runtime's own terminal program on the live conversation."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from greenroom.runtimes.scripted_model import write_model_wiring
from greenroom.testing.agent_clis import CODEX
from greenroom.testing.fake_llm import FakeModel
from greenroom.testing.hub_process import HubProcess
from greenroom.testing.machine_requirements import skip_or_fail
from tests import ROOT
from tests.conftest import checked, end_node
from tests.node.test_attach import Looker
from tests.node.test_hygiene import marked
from tests.stage import Stage

CLIS = ROOT / ".clis"


@pytest.fixture
def stage() -> Iterator[Stage]:
    """A hub whose node finds Codex, in a folder whose path is short enough for a socket."""
    if not (CLIS / "ready").exists():
        skip_or_fail("Codex is not installed: run `make clis`")
    path = os.pathsep.join([str((CLIS / CODEX).parent), os.environ["PATH"]])
    with tempfile.TemporaryDirectory(prefix="gr") as folder:
        hub = HubProcess(Path(folder) / "data", env={"GREENROOM_LOCAL_NODE": "1", "PATH": path})
        try:
            for running in checked(hub):
                with Stage(running) as stage:
                    yield stage
        finally:
            end_node(hub.data)


def test_who_attaches_sits_in_the_live_conversation_and_leaves_it_running(stage: Stage, tmp_path: Path) -> None:
    with FakeModel() as model:
        wiring = write_model_wiring("codex", tmp_path / "home", model.url)
        assert wiring is not None
        env = {"HOME": str(tmp_path / "home"), **wiring.env}
        profile = {"driver": "codex", "model": wiring.model, "env": env, "options": {"attach": True}}
        assert stage.api.put("/api/profiles/codex", json=profile).status_code == 200
        first = stage.done("SAY before anybody came", profile="codex", keep_as="cody")
        assert first["status"] == "completed", first
        agent_id = str(first["agent_id"])
        alone = len(marked(stage))
        looker = Looker(stage, agent_id)
        looker.sees("before anybody came")
        assert len(marked(stage)) > alone
        run_id = stage.start("SAY while somebody looks", profile="codex", agent="cody")
        looker.sees("while somebody looks")
        assert stage.end(run_id)["output"] == "while somebody looks"
        looker.close()
        stage.until(lambda: len(marked(stage)) == alone, "the program beside the agent to be gone")
        assert stage.done("SAY still here", profile="codex", agent="cody")["output"] == "still here"
