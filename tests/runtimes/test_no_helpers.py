"""An agent that may not start others has no tool of its runtime for it either: real Claude Code and real Codex."""

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from greenroom.node.processes import ProcessSpawner
from greenroom.runtimes.conformance_trial import need_turn_end
from greenroom.testing.fake_llm import FakeModel
from tests.runtimes.native_rig import make_desk, on_trial

pytestmark = pytest.mark.anyio
HELPERS = {"claude": {"Agent", "Task"}, "codex": {"spawn_agent", "multi_agent", "collaboration"}}


@pytest.fixture
def bodies(tmp_path: Path) -> Path:
    """Where everything is that the model was asked."""
    (tmp_path / "bodies").mkdir()
    return tmp_path / "bodies"


@pytest.fixture
def model(bodies: Path) -> Iterator[FakeModel]:
    with FakeModel(bodies=bodies) as model:
        yield model


def offered_tools(bodies: Path) -> set[str]:
    """The names of all tools that the model was offered."""
    asked = [json.loads(path.read_text())["body"] for path in bodies.iterdir()]
    tools = [tool for body in asked for tool in body.get("tools") or []]
    tools += [inner for tool in tools for inner in tool.get("tools") or []]
    return {str(tool.get("name")) for tool in tools}


@pytest.mark.parametrize("may_spawn", [True, False])
@pytest.mark.parametrize("name", ["claude", "codex"])
async def test_a_runtime_has_helpers_of_its_own_only_if_the_profile_lets_it_spawn(
    name: str, may_spawn: bool, tmp_path: Path, model: FakeModel, bodies: Path, spawner: ProcessSpawner
) -> None:
    desk = msgspec.structs.replace(make_desk(name, tmp_path / "home", model.url), may_spawn=may_spawn)
    async with on_trial(name, desk, spawner) as trial:
        await trial.open()
        need_turn_end(await trial.run_turn("SAY hello"), "done")
    offered = offered_tools(bodies)
    assert len(offered) > 3, offered
    assert bool(offered & HELPERS[name]) is may_spawn, offered
