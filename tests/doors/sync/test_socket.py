"""What a client of the sync socket is told, and what it is not."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from greenroom.doors.sync import view_reader
from greenroom.doors.sync.views import VIEWS
from greenroom.ids import new_secret
from greenroom.log.store_sqlite import SqliteSnapshot
from greenroom.rules.access.model import HUB
from greenroom.rules.threads import commands as c
from greenroom.rules.threads.queries import build_mailbox_id
from tests.doors.sync.sync_rig import Rig, serving

pytestmark = pytest.mark.anyio
FEW = ("templates", "triggers")
"""Views of what people write by hand."""


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    async with serving(tmp_path / "data") as rig:
        yield rig


async def test_a_subscription_is_answered_with_the_rows_and_then_with_every_change(rig: Rig) -> None:
    thread = await rig.thread("plans")
    async with rig.client() as client:
        held = await client.subscribe("thread", thread)
        assert {table for table, _ in held.rows} == {"thread", "member"}
        message = await rig.post(thread, "你好 \u2028 \U0001f600")
        await client.caught_up()
        assert held.rows["message", message]["content"] == "你好 \u2028 \U0001f600"
        assert held.rows["thread", thread]["messages"] == 1
        changes = [frame for frame in client.frames if frame["op"] == "changes"]
        assert [(frame["view"], frame["key"], "id" in frame) for frame in changes] == [("thread", thread, False)]
        assert all(row["seq"] == changes[0]["seq"] == rig.hub.store.head() for row in changes[0]["rows"])


async def test_a_resumed_subscription_gets_only_what_changed_and_what_is_gone(rig: Rig) -> None:
    kept, doomed, quiet = [await rig.thread() for _ in range(3)]
    async with rig.client() as client:
        held = await client.subscribe("threads")
        await client.drop()
        await rig.post(kept)
        await rig.hub.log.do(c.DeleteThread(by=HUB, thread_id=doomed))
        await client.connect()
        await client.until(lambda: len(held.answers) == 2)
        assert held.answers == ["snapshot", "changes"]
        assert [(row["key"], row["row"] is None) for row in client.frames[-1]["rows"]] == [
            (doomed, True),
            (kept, False),
        ]
        assert {key for _, key in held.rows} == {kept, quiet}


async def test_when_more_has_changed_than_a_snapshot_holds_a_snapshot_comes(rig: Rig) -> None:
    thread = await rig.thread()
    async with rig.client() as client:
        held = await client.subscribe("thread", thread, limit=5)
        await client.drop()
        posted = [await rig.post(thread, str(number)) for number in range(6)]
        await client.connect()
        await client.until(lambda: len(held.answers) == 2)
        assert held.answers == ["snapshot", "snapshot"]
        assert held.more
        assert [key for table, key in held.rows if table == "message"] == posted[1:]


async def test_when_more_is_gone_than_a_page_holds_a_snapshot_comes(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view_reader, "MOST_ROWS", 3)
    kept, *doomed = [await rig.thread() for _ in range(5)]
    async with rig.client() as client:
        held = await client.subscribe("threads")
        await client.drop()
        for thread in doomed:
            await rig.hub.log.do(c.DeleteThread(by=HUB, thread_id=thread))
        await client.connect()
        await client.until(lambda: len(held.answers) == 2)
        assert held.answers == ["snapshot", "snapshot"]
        assert {key for _, key in held.rows} == {kept}


async def test_no_view_is_read_by_going_through_a_table(rig: Rig) -> None:
    asked: list[str] = []

    def note(cursor: apsw.Cursor, sql: str, bindings: object) -> bool:
        asked.append(sql)
        return True

    by = rig.principal(rig.operator)
    with rig.hub.store.snapshot() as now:
        assert isinstance(now, SqliteSnapshot)
        now.connection.exec_trace = note
        for view in VIEWS.values():
            if view.name not in FEW:
                view_reader.read_all(view, "key", by, 10, now)
                view_reader.read_since(view, "key", by, 10, 1, now)
        now.connection.exec_trace = None
        plans = {sql: plan_of(now.connection, sql) for sql in asked}
    assert len(plans) > len(VIEWS)
    assert not {sql: plan for sql, plan in plans.items() if re.search(r"SCAN \w+$", plan, re.MULTILINE)}


def plan_of(connection: apsw.Connection, sql: str) -> str:
    """How SQLite would answer a question."""
    steps = connection.execute(f"EXPLAIN QUERY PLAN {sql}", [None] * sql.count("?"))
    return "\n".join(step[3] for step in steps)


async def test_a_seq_from_the_future_must_begin_anew(rig: Rig) -> None:
    async with rig.client() as client:
        held = await client.subscribe("threads")
        await client.drop()
        held.seq = rig.hub.store.head() + 1
        await client.connect()
        await client.until(lambda: len(held.answers) == 2)
        assert held.answers[-1] == "resync"
        assert (await client.subscribe("threads")).answers == ["snapshot"]


async def test_a_snapshot_of_a_long_thread_holds_its_newest_200_messages(rig: Rig) -> None:
    thread = await rig.thread()
    posted = await asyncio.gather(*[rig.post(thread, str(number)) for number in range(250)])
    async with rig.client() as client:
        held = await client.subscribe("thread", thread)
        shown = [row for (table, _), row in held.rows.items() if table == "message"]
        assert held.more
        assert len(shown) == 200
        assert [row["seq"] for row in shown] == sorted(row["seq"] for row in shown)
        assert shown[-1]["seq"] == held.rows["thread", thread]["current_seq"]
        everything = await rig.client().__aenter__()
        whole = await everything.subscribe("thread", thread, limit=1000)
        assert {key for table, key in whole.rows if table == "message"} == set(posted)
        await everything.drop()


async def test_a_snapshot_is_bounded_in_bytes(rig: Rig) -> None:
    thread = await rig.thread()
    for _ in range(60):
        await rig.post(thread, "x" * 32_000)
    async with rig.client() as client:
        held = await client.subscribe("thread", thread)
        assert held.more
        assert 30 <= len([key for table, key in held.rows if table == "message"]) < 40


async def test_no_reply_token_and_no_digest_is_shown(rig: Rig) -> None:
    _, token = await rig.agent()
    by = rig.principal(token)
    async with rig.client() as client:
        credentials = await client.subscribe("credentials")
        thread = await rig.thread(by=by)
        held = await client.subscribe("thread", thread)
        await rig.post(thread, "hello", by=by)
        await rig.token("viewer")
        await client.caught_up()
        members = [row for (table, _), row in held.rows.items() if table == "member"]
        assert members
        assert all(row["nonce"] == "" and "unused" not in row and "issued" not in row for row in members)
        assert len(credentials.rows) == 3
        assert all(row["digest"] == "" for row in credentials.rows.values())


async def test_agents_are_not_shown_what_is_for_people_only(rig: Rig) -> None:
    _, token = await rig.agent()
    thread = await rig.thread(by=rig.principal(token))

    async def post(number: int) -> None:
        await rig.post(thread, f"for all {number}")
        await rig.post(thread, f"between us {number}", metadata={"visibility": "human_only"})

    await post(1)
    async with rig.client(token) as agent, rig.client() as person:
        held = [await client.subscribe("thread", thread) for client in (agent, person)]
        await post(2)
        await agent.caught_up()
        await agent.drop()
        await post(3)
        await agent.connect()
        for client in (agent, person):
            await client.caught_up()
    shown, whole = ({row.get("content") for row in one.rows.values()} - {None} for one in held)
    assert shown == {"for all 1", "for all 2", "for all 3"}
    assert whole == shown | {"between us 1", "between us 2", "between us 3"}


async def test_a_deleted_thread_is_announced_as_gone_and_nothing_follows(rig: Rig) -> None:
    thread = await rig.thread()
    await rig.post(thread)
    async with rig.client() as client:
        held = await client.subscribe("thread", thread)
        await rig.hub.log.do(c.DeleteThread(by=HUB, thread_id=thread))
        await client.caught_up()
        assert client.gone == [("thread", thread)]
        assert held.rows == {}
        assert (await client.subscribe("thread", thread)).error == "thread_not_found"


async def test_a_mailbox_that_goes_and_comes_again_in_one_commit_is_announced_as_gone(rig: Rig) -> None:
    agent, _ = await rig.agent()
    await rig.hub.bus.post_mail(HUB, agent, "old")
    mailbox = build_mailbox_id(agent)
    async with rig.client() as client:
        await client.subscribe("thread", mailbox)
        threads = await client.subscribe("threads")
        await asyncio.gather(
            rig.hub.log.do(c.DeleteThread(by=HUB, thread_id=mailbox)),
            rig.hub.log.do(c.OpenMailbox(by=HUB, thread_id=mailbox, agent_id=agent, nonce=new_secret(12))),
        )
        await client.caught_up()
        assert client.gone == [("thread", mailbox)]
        assert threads.rows["thread", mailbox].get("messages", 0) == 0
        again = await client.subscribe("thread", mailbox)
        assert {table for table, _ in again.rows} == {"thread", "member"}


async def test_who_does_not_see_a_thread_never_hears_of_it(rig: Rig) -> None:
    enroller = await rig.token("agent", rights=["read", "chat", "register"])
    _, token = await rig.agent(rig.principal(enroller))
    foreign = await rig.thread()
    async with rig.client(token) as client:
        threads = await client.subscribe("threads")
        own = await rig.thread(by=rig.principal(token))
        await rig.post(foreign)
        for thread in (foreign, own):
            await rig.hub.log.do(c.DeleteThread(by=HUB, thread_id=thread))
        await client.caught_up()
        assert threads.rows == {}
        assert own in json.dumps(client.frames)
        assert foreign not in json.dumps(client.frames)
        missing = await client.subscribe("thread", "thr_nowhere")
        hidden = await client.subscribe("thread", await rig.thread())
        assert missing.error == hidden.error == "thread_not_found"


async def test_a_view_needs_its_right(rig: Rig) -> None:
    async with rig.client(await rig.token("viewer")) as client:
        assert (await client.subscribe("credentials")).error == "forbidden"
        assert (await client.subscribe("threads")).error is None


async def test_presence_is_told_to_who_watches_agents_and_typing_to_who_watches_the_thread(rig: Rig) -> None:
    thread, other = await rig.thread(), await rig.thread()
    agent, _ = await rig.agent()
    late, _ = await rig.agent()
    rig.hub.presence.note_activity(agent, "here")
    async with rig.client() as watcher, rig.client() as reader, rig.client() as elsewhere:
        await watcher.subscribe("agents")
        await reader.subscribe("thread", thread)
        await elsewhere.subscribe("thread", other)
        rig.hub.presence.note_activity(late, "here")
        rig.hub.presence.leave(agent)
        typing = {"thread_id": thread, "agent_id": agent, "is_typing": True}
        rig.hub.signals.emit("agent.typing", typing)
        for client in (watcher, reader, elsewhere):
            await client.caught_up()
        assert watcher.signals == [
            ("agents.online", {"agent_ids": [agent]}),
            ("agent.online", {"agent_id": late}),
            ("agent.offline", {"agent_id": agent}),
        ]
        assert reader.signals == [("agent.typing", typing)]
        assert elsewhere.signals == []


async def test_after_unsubscribing_nothing_more_comes(rig: Rig) -> None:
    thread = await rig.thread()
    async with rig.client() as client:
        await client.subscribe("thread", thread)
        await client.unsubscribe("thread", thread)
        before = len(client.frames)
        await rig.post(thread)
        await client.caught_up()
        assert [frame["op"] for frame in client.frames[before:]] == ["pong"]


@pytest.mark.parametrize("view", ["threads", "agents", "templates"])
async def test_every_view_of_everybody_answers_a_viewer(rig: Rig, view: str) -> None:
    async with rig.client(await rig.token("viewer")) as client:
        held: Any = await client.subscribe(view)
        assert held.answers == ["snapshot"]
