"""Whoever reads a thread sees that one of it waits for a person, and is not woken by it."""

import asyncio
import json
from typing import Any

import httpx
import pytest

from greenroom.testing.timeouts import WAIT_S
from tests.journeys.mcp_clients import NEW, connected
from tests.rules.asks.desk import Desk
from tests.rules.asks.test_mcp import HERE, asked, texts

pytestmark = pytest.mark.anyio
SECRET = "May I delete the secret plan?"


def told(response: httpx.Response) -> list[tuple[str, str]]:
    return [(one["name"], one["kind"]) for one in response.json()["waiting_for_person"]]


async def wait(client: Any, thread_id: str, timeout_ms: int) -> dict[str, Any]:
    arguments = {"thread_id": thread_id, "timeout_ms": timeout_ms, "return_format": "json"}
    found: dict[str, Any] = json.loads(texts(await client.call_tool("msg_wait", arguments))[0])
    return found


async def test_readers_of_a_thread_see_who_waits_for_a_person_and_are_not_woken_by_it(desk: Desk) -> None:
    painter, reader, viewer = desk.agent("Painter"), desk.agent("Reader"), desk.bearer(kind="viewer")
    thread_id = desk.thread(painter)
    painter.post(thread_id, "I begin.")
    async with (
        connected(desk.hub.url, painter.token, NEW) as paints,
        connected(desk.hub.url, reader.token, NEW) as reads,
    ):
        await wait(reads.client, thread_id, 0)
        waiting = asyncio.ensure_future(wait(reads.client, thread_id, 2_500))
        question = {"project_directory": HERE, "question": SECRET}
        call = asyncio.ensure_future(paints.client.call_tool("ask_question", question))
        ask = await asked(desk, painter.id)
        assert ask["thread_id"] == thread_id
        assert not waiting.done()
        found = await waiting
        assert found["messages"] == []
        (one,) = found["waiting_for_person"]
        assert (one["agent_id"], one["kind"]) == (painter.id, "question")
        assert "secret plan" not in json.dumps(found)
        for path in ("wait-state", "wait?timeout_ms=0"):
            assert told(viewer.get(f"/api/threads/{thread_id}/{path}")) == [(ask["asker"]["name"], "question")]
        state = texts(await reads.client.call_tool("thread_wait_state_get", {"thread_id": thread_id}))[0]
        assert json.loads(state)["waiting_for_person"] == [one]
        desk.answer(ask["id"], text="No.")
        assert texts(await call) == ["No."]
        assert "waiting_for_person" not in await wait(reads.client, thread_id, 0)
    assert told(viewer.get(f"/api/threads/{thread_id}/wait-state")) == []


async def test_nobody_asks_in_a_thread_that_is_not_there_for_them(desk: Desk) -> None:
    for thread_id in ("thr_01nothing", f"mbx_{desk.agent('Other').id}"):
        refused = desk.asking.http.post("/api/asks", json={"title": SECRET, "thread_id": thread_id})
        assert (refused.status_code, refused.json()["code"]) == (404, "thread_not_found")


async def test_the_stream_of_events_tells_that_somebody_waits_and_that_it_is_over(desk: Desk) -> None:
    thread_id = desk.thread(desk.asking)
    seen: list[dict[str, Any]] = []
    headers = {"Authorization": f"Bearer {desk.hub.token}"}
    async with (
        asyncio.timeout(WAIT_S),
        httpx.AsyncClient(base_url=desk.hub.url, headers=headers) as http,
        http.stream("GET", "/events") as stream,
    ):
        ask = await asyncio.to_thread(desk.ask, SECRET, thread_id=thread_id)
        await asyncio.to_thread(desk.answer, ask["id"], text="No.")
        async for line in stream.aiter_lines():
            if line.startswith("data:") and "agent.waiting" in line and thread_id in line:
                seen.append(json.loads(line[5:])["payload"])
            if len(seen) == 2:
                break
    assert [one["waiting"] for one in seen] == [True, False]
    assert {one["kind"] for one in seen} == {"question"}
    assert "secret plan" not in json.dumps(seen)
