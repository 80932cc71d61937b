"""MCP servers whose names and tools add up to a tool that policies know: real agents ask, and it counts as unknown."""

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from greenroom.link.policy_facts.call_request import CallRequest
from greenroom.node.processes import ProcessSpawner
from greenroom.runtimes.call_facts import read_call_facts
from greenroom.runtimes.conformance_trial import DriverTrial
from greenroom.runtimes.contract import PermissionAsked
from greenroom.runtimes.driver_list import load_driver
from greenroom.runtimes.scripted_model import choose_script
from greenroom.runtimes.spawn_tracker import TrackingSpawner
from greenroom.testing.fake_llm import FakeModel
from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests.runtimes import own_server
from tests.runtimes.acp_rig import Desk
from tests.runtimes.test_acp_agents import make_desk

pytestmark = [pytest.mark.anyio, pytest.mark.clis]
PAIRS = [("update", "plan"), ("apply", "patch"), ("read", "file"), ("greenroom_msg", "post"), ("greenroom.msg", "wait")]


@pytest.fixture(scope="module")
def model() -> Iterator[FakeModel]:
    with FakeModel() as model:
        yield model


def furnish(name: str, desk: Desk, server: str, tool: str) -> None:
    """Have the runtime start a server of this name with this one tool, as a project's own settings would."""
    program, rest = sys.executable, [str(own_server.__file__), str(desk.directory), tool]
    told: dict[str, Any] = {"mcp": {server: {"type": "local", "command": [program, *rest]}}}
    file = desk.directory / "opencode.json"
    if name == "gemini":
        told = {"mcpServers": {server: {"command": program, "args": rest}}}
        file = desk.directory / ".gemini/settings.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(told))


async def call(name: str, desk: Desk, spawner: ProcessSpawner, tool: str) -> list[PermissionAsked]:
    """Let the model call the tool; what is asked is refused."""
    trial = DriverTrial(load_driver(name), desk.opening, TrackingSpawner(spawner), choose_script(name))
    asked: list[PermissionAsked] = []

    async def refuse(wanted: PermissionAsked) -> None:
        asked.append(wanted)
        await trial.session.decide(wanted.permission, "deny", text="not now")

    async with asyncio.timeout(WAIT_S):
        await trial.open()
        try:
            await trial.run_turn(f'FORCE_TOOL {tool} {{"line": "a line"}}\nSAY done', refuse)
        finally:
            await trial.close()
    return asked


@pytest.mark.parametrize(("server", "tool"), PAIRS)
@pytest.mark.parametrize(
    ("name", "options"),
    [
        pytest.param("gemini", {}, id="gemini"),
        pytest.param("opencode", {}, id="opencode"),
        pytest.param("opencode", {"attach": True}, id="opencode attached"),
    ],
)
async def test_such_a_tool_is_asked_about_as_one_of_which_nothing_is_known(
    name: str,
    options: dict[str, bool],
    server: str,
    tool: str,
    tmp_path: Path,
    shared_hub: HubProcess,
    model: FakeModel,
    spawner: ProcessSpawner,
) -> None:
    desk = msgspec.structs.replace(make_desk(name, tmp_path / "home", shared_hub, model), options=options)
    furnish(name, desk, server, tool)
    named = f"{server.replace('.', '_')}_{tool}" if name == "opencode" else f"mcp_{server}_{tool}"
    (asked,) = await call(name, desk, spawner, named)
    assert tool in asked.tool
    assert read_call_facts(CallRequest(tool=asked.tool, arguments=asked.input)).kind == "other"
    assert not (desk.directory / "jotted").exists()
