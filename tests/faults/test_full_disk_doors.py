"""A full disk as it is met at every door: the same word everywhere, and what can be read is still read."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
import websockets

from greenroom.testing.hub_process import HubProcess
from greenroom.testing.rest_agents import open_thread
from greenroom.testing.timeouts import WAIT_S
from tests.cli.shell import greenroom
from tests.conftest import assert_in_order
from tests.faults.conftest import SmallDisk
from tests.journeys.mcp_clients import NEW, OLD, connected

pytestmark = pytest.mark.anyio


@pytest.fixture
def cramped(small_disk: SmallDisk) -> Iterator[HubProcess]:
    """A hub whose data is on the small disk; its complaints are kept elsewhere."""
    hub = HubProcess(small_disk.path / "data")
    hub.stderr_path = small_disk.path.parent / "hub.stderr"
    hub.start()
    yield hub
    small_disk.empty()
    assert_in_order(hub, hub.stop())


@pytest.mark.parametrize("version", [OLD, NEW])
async def test_agents_over_mcp_are_told_and_go_on_with_the_same_token(
    cramped: HubProcess, small_disk: SmallDisk, version: str
) -> None:
    async with connected(cramped.url, cramped.token, version) as agent:
        joined = await agent.call("bus_connect", thread_name="cramped", ide="A", model="M")
        mine = {"agent_id": joined["agent"]["agent_id"], "token": joined["agent"]["token"]}
        thread = joined["thread"]["thread_id"]
        post = {
            "thread_id": thread,
            "author": mine["agent_id"],
            "content": "x" * 20_000,
            "expected_last_seq": joined["current_seq"],
            "reply_token": joined["reply_token"],
        }
        small_disk.fill()
        for tool, arguments in (
            ("msg_post", post),
            ("agent_register", {"ide": "B", "model": "M", "description": "y" * 2000}),
            ("thread_create", {"topic": "another", "system_prompt": "z" * 9000, **mine}),
        ):
            refused = await agent.call(tool, **arguments)
            assert refused.get("code") == "storage_full", (tool, refused)
            assert refused["retry_after"] >= 1, refused
        listed = await agent.call("msg_list", thread_id=thread, return_format="json", include_system_prompt=False)
        assert listed == []
        small_disk.empty()
        assert (await agent.call("msg_post", **post))["seq"] > joined["current_seq"], "nothing was used up"


async def test_people_are_told_at_the_command_line_and_their_page_stays_connected(
    cramped: HubProcess, small_disk: SmallDisk
) -> None:
    thread = await open_thread(cramped.url, cramped.token)
    headers = {"authorization": f"Bearer {cramped.token}"}
    address = cramped.url.replace("http", "ws", 1) + "/sync"
    async with asyncio.timeout(WAIT_S), websockets.connect(address, additional_headers=headers, proxy=None) as page:

        async def next_of(op: str) -> dict[str, Any]:
            while (frame := json.loads(await page.recv()))["op"] != op:
                pass
            return dict(frame)

        await page.send(json.dumps({"op": "subscribe", "id": 1, "view": "thread", "key": thread}))
        await next_of("snapshot")
        small_disk.fill()
        say = ("thread", "post", thread, "w" * 20_000)
        refused = await asyncio.to_thread(greenroom, cramped.data, *say)
        assert (refused.code, refused.out) == (1, "")
        assert "disk" in refused.err and len(refused.err.splitlines()) == 1, refused.err
        small_disk.empty()
        assert (await asyncio.to_thread(greenroom, cramped.data, *say)).code == 0
        changed = await next_of("changes")
        assert "w" * 100 in json.dumps(changed)
