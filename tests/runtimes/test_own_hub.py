"""Where a person has connected a CLI to the hub for themselves, an agent of that CLI still speaks as itself."""

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from greenroom.cli.connect_files import PROGRAMS, add_entry, locate_config_file
from greenroom.node.processes import ProcessSpawner
from greenroom.runtimes.agents import AGENTS
from greenroom.runtimes.conformance_trial import DriverTrial, need_turn_end
from greenroom.runtimes.driver_list import load_driver
from greenroom.runtimes.scripted_model import choose_script
from greenroom.runtimes.spawn_tracker import TrackingSpawner
from greenroom.testing.fake_llm import FakeModel
from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests.runtimes import native_rig, test_acp_agents
from tests.runtimes.acp_rig import Desk, make_token

pytestmark = pytest.mark.anyio
PROMPT = """\
USE_TOOL bus_connect {{"thread_name": "{0}"}}
USE_TOOL msg_post {{"thread_id": "{{{{thread_id}}}}", "content": "here", "expected_last_seq": "{{{{current_seq}}}}", "reply_token": "{{{{reply_token}}}}"}}
SAY done"""  # noqa: E501


def connected() -> Iterator[Any]:
    """The agents that both a hub and a person can start."""
    for agent in AGENTS:
        if agent.drivers and agent.mcp_config:
            is_everyday = agent.name in (*native_rig.PROGRAMS, *test_acp_agents.EVERYDAY)
            yield pytest.param(agent.name, marks=[] if is_everyday else pytest.mark.clis, id=agent.name)


@pytest.fixture(scope="module")
def model() -> Iterator[FakeModel]:
    with FakeModel() as model:
        yield model


def make_desk(name: str, home: Path, hub: HubProcess, model: FakeModel) -> Desk:
    if name in native_rig.PROGRAMS:
        return native_rig.make_desk(name, home, model.url, hub)
    return test_acp_agents.make_desk(name, home, hub, model)


def connect(name: str, home: Path, hub: HubProcess) -> None:
    """What `greenroom connect` leaves behind: the hub in the CLI's own settings, with another agent's credential."""
    home.mkdir(exist_ok=True)
    token_file = home / "own.token"
    token_file.write_text(make_token(hub, "a person's own"))
    place = locate_config_file(name, home, None, {})
    command = [sys.executable, "-P", "-m", "greenroom", "mcp", "--url", hub.url, "--token-file", str(token_file)]
    place.file.parent.mkdir(parents=True, exist_ok=True)
    before = place.file.read_text() if place.file.exists() else ""
    place.file.write_text(add_entry(place, before, command))


def connect_by_hand(home: Path, hub: HubProcess) -> None:
    """The same for Codex as docs/users/mcp.md tells it."""
    config = home / PROGRAMS["codex"].file
    entry = f'\n[mcp_servers.greenroom]\nurl = "{hub.url}/mcp"\nbearer_token_env_var = "OWN_TOKEN"\nenabled = false\n'
    config.write_text(config.read_text() + entry)


def find_author(hub: HubProcess, topic: str) -> str:
    """Who has said the one thing that was said in a thread, as the hub knows."""
    with httpx.Client(base_url=f"{hub.url}/api/", headers={"Authorization": f"Bearer {hub.token}"}) as api:
        (thread,) = [one for one in api.get("threads").json()["threads"] if one["topic"] == topic]
        (message,) = api.get(f"threads/{thread['id']}/messages").json()
    return str(message["author"])


async def speak(name: str, desk: Desk, topic: str, spawner: ProcessSpawner) -> None:
    """Let the agent say something in a thread."""
    trial = DriverTrial(load_driver(name), desk.opening, TrackingSpawner(spawner), choose_script(name))
    async with asyncio.timeout(WAIT_S):
        await trial.open()
        try:
            need_turn_end(await trial.run_turn(PROMPT.format(topic)), "done")
        finally:
            await trial.close()


@pytest.mark.anywhere
@pytest.mark.parametrize("name", list(connected()))
async def test_an_agent_speaks_under_its_own_name(
    name: str, tmp_path: Path, shared_hub: HubProcess, model: FakeModel, spawner: ProcessSpawner
) -> None:
    desk = make_desk(name, tmp_path / "home", shared_hub, model)
    connect(name, desk.home, shared_hub)
    await speak(name, desk, str(tmp_path), spawner)
    assert find_author(shared_hub, str(tmp_path)).startswith(f"{name} (fake)")


async def test_codex_speaks_under_its_own_name_where_a_person_has_the_hub_by_its_address_too(
    tmp_path: Path, shared_hub: HubProcess, model: FakeModel, spawner: ProcessSpawner
) -> None:
    desk = make_desk("codex", tmp_path / "home", shared_hub, model)
    connect_by_hand(desk.home, shared_hub)
    await speak("codex", desk, str(tmp_path), spawner)
    assert find_author(shared_hub, str(tmp_path)).startswith("codex (fake)")
