"""Two hubs that share a database are one room: what one takes, the other has."""

import asyncio
from pathlib import Path

import httpx
import pytest

from greenroom.testing.hub_process import HubProcess, wait_until
from greenroom.testing.rest_agents import open_thread, read_all_messages
from greenroom.testing.timeouts import WAIT_S
from tests.far_node import FarNode
from tests.stage import Stage

pytestmark = pytest.mark.anyio
Both = tuple[HubProcess, HubProcess]


def operator_of(hub: HubProcess) -> httpx.Client:
    return httpx.Client(base_url=hub.url, headers={"Authorization": f"Bearer {hub.token}"}, timeout=WAIT_S)


async def test_a_message_posted_at_one_hub_wakes_who_waits_at_the_other(two_hubs: Both) -> None:
    a, b = two_hubs
    thread_id = await open_thread(a.url, a.token)
    async with httpx.AsyncClient(
        base_url=b.url, headers={"Authorization": f"Bearer {b.token}"}, timeout=WAIT_S
    ) as other:
        waiting = asyncio.create_task(other.get(f"/api/threads/{thread_id}/wait", params={"after_seq": 0}))
        await asyncio.wait([waiting], timeout=0.3)
        with operator_of(a) as here:
            here.post(f"/api/threads/{thread_id}/messages", json={"content": "across"}).raise_for_status()
        answer = (await waiting).raise_for_status()
        assert "across" in answer.text
    assert [m["content"] for m in await read_all_messages(b.url, b.token, thread_id)] == ["across"]


async def test_a_token_revoked_at_one_hub_is_refused_at_the_other(two_hubs: Both) -> None:
    a, b = two_hubs
    with operator_of(a) as here:
        made = here.post("/api/credentials", json={"kind": "viewer", "name": "guest"}).raise_for_status().json()
        with httpx.Client(base_url=b.url, headers={"Authorization": f"Bearer {made['token']}"}) as guest:
            wait_until(lambda: guest.get("/api/threads").status_code == 200)
            here.delete(f"/api/credentials/{made['id']}").raise_for_status()
            wait_until(lambda: guest.get("/api/threads").status_code == 401)


async def test_a_run_asked_for_at_one_hub_runs_on_the_node_of_the_other(two_hubs: Both) -> None:
    a, b = two_hubs
    with Stage(a) as here, operator_of(b) as there:
        here.until(lambda: _connected(there) == 2, "both nodes are there")
        held = {n.get("hub"): n["name"] for n in there.get("/api/nodes").json()}
        node = held[_instance(b)]
        assert here.done("SAY hello from the other side", node=node)["output"] == "hello from the other side"


async def test_the_other_hub_goes_on_when_the_one_that_leads_is_killed(two_hubs: Both) -> None:
    a, b = two_hubs
    thread_id = await open_thread(a.url, a.token)
    with operator_of(b) as there:
        wait_until(lambda: _connected(there) == 2)
        a.kill()
        there.post(f"/api/threads/{thread_id}/messages", json={"content": "still here"}).raise_for_status()
        wait_until(lambda: "unreachable" in [n.get("state") for n in there.get("/api/nodes").json()])
    a.start()
    assert [m["content"] for m in await read_all_messages(a.url, a.token, thread_id)] == ["still here"]


async def test_a_node_goes_to_the_other_hub_when_its_own_is_gone(two_hubs: Both, tmp_path: Path) -> None:
    a, b = two_hubs
    with Stage(a) as here, Stage(b) as there:
        node = FarNode(here, tmp_path, "far", "--label", "far").start(a.url, b.url)
        try:
            node.wait_for("connected")
            run_id = here.start("TOOL bus_get_config {}\nSLEEP 3\nTOOL bus_get_config {}\nSAY ended", node="far")
            here.until(lambda: _called(here, run_id) == [True], "the agent to be at work")
            before = _hub_of(here, "far")
            a.kill()
            node.stage = there
            there.until(lambda: node.state == "connected" and _hub_of(there, "far") != before, "the node to move")
            assert there.end(run_id)["output"].split() == ["ended"]
            assert _called(there, run_id) == [True, True], "its tools have moved with its node"
            assert there.done("SAY here now", node="far")["output"] == "here now"
        finally:
            node.stop()


def _called(there: Stage, run_id: str) -> list[bool | None]:
    return [call.get("ok") for call in there.api.get(f"/api/runs/{run_id}/calls").json()]


def _hub_of(there: Stage, name: str) -> str:
    return next(str(n.get("hub")) for n in there.api.get("/api/nodes").json() if n["name"] == name)


def _instance(hub: HubProcess) -> str:
    return (hub.data / "hub.id").read_text().strip()


def _connected(there: httpx.Client) -> int:
    return len([n for n in there.get("/api/nodes").raise_for_status().json() if n.get("state") == "connected"])
