"""MCP servers of a project's own, under names that begin as the hub's: real agents ask before they call them."""

import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from greenroom.link.policy_facts.call_request import CallRequest
from greenroom.node.processes import ProcessSpawner
from greenroom.runtimes.agents import need_agent
from greenroom.runtimes.call_facts import read_call_facts
from greenroom.runtimes.conformance_trial import DriverTrial
from greenroom.runtimes.contract import Heard, PermissionAsked
from greenroom.runtimes.driver_list import load_driver
from greenroom.runtimes.scripted_model import choose_script
from greenroom.runtimes.spawn_tracker import TrackingSpawner
from greenroom.testing.fake_llm import FakeModel
from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests.runtimes import own_server
from tests.runtimes.acp_rig import COMMANDS, Desk
from tests.runtimes.test_acp_agents import EVERYDAY, make_desk

pytestmark = pytest.mark.anyio
PROMPT = 'USE_TOOL jot_down {"line": "a line"}\nSAY done'


def opencode(program: str, rest: list[str]) -> dict[str, Any]:
    return {"desk/opencode.json": {"mcp": {"greenroom_notes": {"type": "local", "command": [program, *rest]}}}}


def copilot(program: str, rest: list[str]) -> dict[str, Any]:
    server = {"type": "local", "command": program, "args": rest, "tools": ["*"]}
    return {".copilot/mcp-config.json": {"mcpServers": {"greenroom_notes": server}}}


def claude(program: str, rest: list[str]) -> dict[str, Any]:
    return {
        "desk/.mcp.json": {"mcpServers": {"greenroom__notes": {"command": program, "args": rest}}},
        "desk/.claude/settings.json": {"enableAllProjectMcpServers": True},
    }


FILES: dict[str, Callable[[str, list[str]], dict[str, Any]]] = {
    "opencode": opencode,
    "copilot": copilot,
    "claude-agent-acp": claude,
}
STARTED = ("copilot", "gemini", "opencode", "codex-acp")
"""The agents that start such servers, and ask; no other does."""


def describe_server(name: str, program: str, rest: list[str]) -> dict[str, Any]:
    """The files that make an agent start the server: where it keeps its own, if nothing else is known of it."""
    if name in FILES:
        return FILES[name](program, rest)
    config = need_agent(name).mcp_config
    assert config is not None
    return {f"desk/{config.file}": {config.key: {"greenroom_notes": config.build_entry([program, *rest])}}}


@pytest.fixture(scope="module")
def model() -> Iterator[FakeModel]:
    with FakeModel() as model:
        yield model


def furnish(name: str, desk: Desk) -> None:
    """Write what makes the runtime start the server."""
    for file, told in describe_server(name, sys.executable, [str(own_server.__file__), str(desk.directory)]).items():
        path = desk.home / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(told))
    desk.directory.mkdir(parents=True, exist_ok=True)


async def jot(name: str, desk: Desk, spawner: ProcessSpawner) -> tuple[list[PermissionAsked], list[Heard]]:
    """Let the model call the tool; what is asked is refused."""
    trial = DriverTrial(load_driver(name), desk.opening, TrackingSpawner(spawner), choose_script(name))
    asked: list[PermissionAsked] = []

    async def refuse(wanted: PermissionAsked) -> None:
        asked.append(wanted)
        await trial.session.decide(wanted.permission, "deny", text="not now")

    async with asyncio.timeout(WAIT_S):
        await trial.open()
        try:
            return asked, await trial.run_turn(PROMPT, refuse)
        finally:
            await trial.close()


@pytest.mark.parametrize(
    ("name", "options"),
    [
        pytest.param("copilot", {}, marks=[] if "copilot" in EVERYDAY else pytest.mark.clis, id="copilot"),
        pytest.param("gemini", {}, marks=pytest.mark.clis, id="gemini"),
        pytest.param("opencode", {}, marks=pytest.mark.clis, id="opencode"),
    ],
)
async def test_a_call_of_such_a_server_is_asked_about_with_all_that_it_would_do(
    name: str,
    options: dict[str, Any],
    tmp_path: Path,
    shared_hub: HubProcess,
    model: FakeModel,
    spawner: ProcessSpawner,
) -> None:
    desk = msgspec.structs.replace(make_desk(name, tmp_path / "home", shared_hub, model), options=options)
    furnish(name, desk)
    (asked, *more), _ = await jot(name, desk, spawner)
    assert not more
    assert "jot_down" in asked.tool
    assert "a line" in str(asked.input)
    assert read_call_facts(CallRequest(tool=asked.tool, arguments=asked.input)).kind == "other"
    assert not (desk.directory / "jotted").exists()


@pytest.mark.clis
@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in STARTED])
async def test_any_other_agent_starts_no_server_but_the_hub(
    name: str, tmp_path: Path, shared_hub: HubProcess, model: FakeModel, spawner: ProcessSpawner
) -> None:
    desk = make_desk(name, tmp_path / "home", shared_hub, model)
    furnish(name, desk)
    asked, _ = await jot(name, desk, spawner)
    assert not asked
    assert not (desk.directory / "started").exists()
