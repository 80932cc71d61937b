"""The REST door on a hub in this process, where what is rare can be made to happen."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from greenroom.app import open_hub
from greenroom.doors.http.routes import PRINCIPAL, Dispatcher
from greenroom.doors.rest import door
from greenroom.ids import new_id
from greenroom.rules.access.model import HUB, RIGHTS, Principal
from greenroom.rules.threads.commands import CreateTemplate, RaiseDecision
from greenroom.rules.threads.model import EDITS
from greenroom.services.hub import Hub
from greenroom.services.node_links import NodeLinks
from greenroom.settings import Settings

OPERATOR = Principal(id="cred_me", kind="operator", name="me", rights=RIGHTS["operator"], credential="cred_me")


def inside(data: Path, scene: Callable[[Hub, httpx.AsyncClient], Awaitable[None]]) -> None:
    """Play a scene in which an operator calls the door."""

    async def play() -> None:
        async with open_hub(data, Settings()) as hub:
            routes = Dispatcher(hub, door.endpoints(hub, NodeLinks(hub), []), _nowhere)

            async def app(scope: Scope, receive: Receive, send: Send) -> None:
                scope[PRINCIPAL] = OPERATOR
                await routes(scope, receive, send)

            async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://hub") as client:
                await scene(hub, client)

    asyncio.run(play())


async def _nowhere(scope: Scope, receive: Receive, send: Send) -> None:
    raise AssertionError(scope["path"])


def test_a_decision_is_taken_once(tmp_path: Path) -> None:
    async def scene(hub: Hub, client: httpx.AsyncClient) -> None:
        agent = (await client.post("/api/agents/register", json={"ide": "A", "model": "M"})).json()["agent_id"]
        thread = (await client.post("/api/threads", json={"topic": "t"})).json()["id"]
        question = new_id("msg")
        raised = RaiseDecision(
            by=HUB,
            thread_id=thread,
            message_id=question,
            instruction_id=new_id("msg"),
            kind="takeover",
            candidate_id=agent,
            about_seq=0,
        )
        await hub.log.do(raised)
        path = f"/api/threads/{thread}/admin/decision"

        async def decide(action: str) -> dict[str, Any]:
            answer = await client.post(path, json={"action": action, "source_message_id": question})
            assert answer.status_code == 200, answer.text
            said: dict[str, Any] = answer.json()
            return said

        wrong = await client.post(path, json={"action": "keep", "source_message_id": question})
        assert (wrong.status_code, wrong.json()["code"]) == (400, "bad_action")
        first = await decide("takeover")
        assert (first["already_decided"], first["notified_admin_id"]) == (False, agent)
        second = await decide("cancel")
        assert (second["already_decided"], second["action"], second["source_message_id"]) == (
            True,
            "takeover",
            question,
        )
        assert second["decided_at"]

    inside(tmp_path / "data", scene)


def test_a_bug_in_a_rule_is_a_500_without_its_words_and_in_the_log_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> list[Any]:
        raise ZeroDivisionError("inner words")

    async def scene(hub: Hub, client: httpx.AsyncClient) -> None:
        hub.log.decide[CreateTemplate] = broken
        with caplog.at_level(logging.ERROR):
            answer = await client.post("/api/templates", json={"id": "t", "name": "T", "system_prompt": "s"})
        assert (answer.status_code, answer.json()["code"]) == (500, "internal")
        assert "inner words" not in answer.text
        assert len([r for r in caplog.records if r.exc_info]) == 1
        assert (await client.get("/health")).json()["status"] == "ok"

    inside(tmp_path / "data", scene)


def test_a_hub_that_stops_says_when_to_come_back(tmp_path: Path) -> None:
    async def scene(hub: Hub, client: httpx.AsyncClient) -> None:
        thread = (await client.post("/api/threads", json={"topic": "t"})).json()["id"]
        hub.log.stop()
        answer = await client.post(f"/api/threads/{thread}/messages", json={"content": "x"})
        assert (answer.status_code, answer.json()["code"]) == (503, "stopping")
        assert answer.headers["retry-after"] == "1"
        assert (await client.get(f"/api/threads/{thread}/messages")).json() == []

    inside(tmp_path / "data", scene)


def test_a_page_of_long_messages_ends_before_it_fills_the_memory(tmp_path: Path) -> None:
    async def scene(hub: Hub, client: httpx.AsyncClient) -> None:
        thread = (await client.post("/api/threads", json={"topic": "t"})).json()["id"]
        path = f"/api/threads/{thread}/messages"
        for number in range(20):
            posted = await client.post(path, json={"content": f"{number} " + "x" * 999_000})
            assert posted.status_code == 201
        seen: list[str] = []
        after = 0
        while page := (await client.get(path, params={"after_seq": after})).json():
            assert sum(len(message["content"]) for message in page) <= 16_000_000
            seen += [message["content"].partition(" ")[0] for message in page]
            after = page[-1]["seq"]
        assert seen == [str(number) for number in range(20)]
        before, seen = after + 1, []
        while page := (await client.get(path, params={"before_seq": before})).json():
            seen = [message["content"].partition(" ")[0] for message in page] + seen
            before = page[0]["seq"]
        assert seen == [str(number) for number in range(20)]

    inside(tmp_path / "data", scene)


def test_credentials_that_hold_are_listed_and_the_newest_of_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("greenroom.rules.access.queries._REVOKED", 1)

    async def scene(hub: Hub, client: httpx.AsyncClient) -> None:
        made = [
            (await client.post("/api/credentials", json={"kind": "viewer", "name": f"v{n}"})).json()["id"]
            for n in range(3)
        ]
        for credential_id in made[:2]:
            await client.delete(f"/api/credentials/{credential_id}")
        listed = {one["name"] for one in (await client.get("/api/credentials")).json()}
        assert listed == {"operator", "v1", "v2"}

    inside(tmp_path, scene)


def test_with_a_thread_goes_what_its_messages_said_before_they_were_edited(tmp_path: Path) -> None:
    async def scene(hub: Hub, client: httpx.AsyncClient) -> None:
        threads = [(await client.post("/api/threads", json={"topic": topic})).json()["id"] for topic in ("a", "b")]
        for thread in threads:
            posted = (await client.post(f"/api/threads/{thread}/messages", json={"content": "before"})).json()["id"]
            assert (await client.put(f"/api/messages/{posted}", json={"content": "after"})).status_code == 200
        assert (await client.delete(f"/api/threads/{threads[0]}")).status_code == 200
        assert [edit.thread_id for edit in hub.rows.find(EDITS)] == [threads[1]]

    inside(tmp_path, scene)
