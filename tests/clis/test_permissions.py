"""Agents that ask before they run a command: the ask is in the hub, and they obey the answer."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from greenroom.testing.fake_llm import FakeModel
from tests.clis.hub_stage import install, run_stage
from tests.runtimes.acp_rig import COMMANDS
from tests.stage import Stage

pytestmark = pytest.mark.clis
AGENTS = [name for name in COMMANDS if not name.endswith("-acp")]


@pytest.fixture(scope="module")
def shared_stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    yield from run_stage(tmp_path_factory.mktemp("stage"))


@pytest.fixture
def stage(shared_stage: Stage) -> Iterator[Stage]:
    yield shared_stage
    shared_stage.tidy()


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_answers_a_prompt_and_runs_only_what_the_hub_allows(name: str, stage: Stage, tmp_path: Path) -> None:
    desk = tmp_path / "desk"
    desk.mkdir()
    with FakeModel() as model:
        install(stage, name, tmp_path / "home", model)
        for verdict in ("deny", "approve"):
            run = stage.start(f"USE_TOOL bash touch {verdict}\nSAY it is {verdict}", profile=name, directory=str(desk))
            ask = stage.asked()
            assert f"touch {verdict}" in str(ask)
            assert stage.decide(ask["id"], verdict).status_code == 200
            assert stage.end(run)["status"] == "completed", model.tail()
    assert [path.name for path in desk.iterdir() if not path.name.startswith(".")] == ["approve"]
    assert "it is approve" in str(stage.items(run))
