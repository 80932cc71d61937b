"""What a listener of GET /events hears, and that it hears it once."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from greenroom.doors.sync import event_stream
from greenroom.ids import new_id
from greenroom.rules.access.model import HUB
from greenroom.rules.agents.model import UpdateAgent
from greenroom.rules.threads import commands as c
from greenroom.testing.timeouts import WAIT_S
from tests.doors.sync.sync_rig import Rig, serving

pytestmark = pytest.mark.anyio


class Heard(NamedTuple):
    id: str | None
    type: str
    payload: Any


class Listening:
    """An open stream."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self._lines = response.aiter_lines()

    async def next(self) -> Heard:
        """The next event; an error if the stream ends first."""
        fields: dict[str, str] = {}
        async with asyncio.timeout(WAIT_S):
            async for line in self._lines:
                name, _, value = line.partition(": ")
                if line and line != ":":
                    fields[name] = value
                elif not line and "data" in fields:
                    assert fields["event"] == "message"
                    data = json.loads(fields["data"])
                    return Heard(fields.get("id"), data["type"], data["payload"])
        raise EOFError

    async def comment(self) -> None:
        """Nothing but a comment."""
        async with asyncio.timeout(WAIT_S):
            assert await anext(self._lines) == ":"

    async def until(self, kind: str) -> list[Heard]:
        """Events up to the first of a kind, that one included."""
        out = [await self.next()]
        while out[-1].type != kind:
            out.append(await self.next())
        return out

    async def rest(self) -> list[Heard]:
        """Everything until the hub ends the stream."""
        out = []
        try:
            while True:
                out.append(await self.next())
        except (EOFError, httpx.RemoteProtocolError):
            return out


@asynccontextmanager
async def listening(rig: Rig, token: str | None = None, after: str | None = None) -> AsyncIterator[Listening]:
    headers = {} if after is None else {"last-event-id": after}
    async with rig.http(token) as http, http.stream("GET", "/events", headers=headers) as response:
        assert response.status_code == 200
        yield Listening(response)


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    async with serving(tmp_path / "data") as rig:
        yield rig


async def everything(rig: Rig) -> str:
    """One of each thing that the bus tells of; returns the thread in which it last happened."""
    do = rig.hub.log.do
    agent, token = await rig.agent()
    by = rig.principal(token)
    thread = await rig.thread("all of it", by=by)
    first = await rig.post(thread, "one \x85 two \u2028 三", by=by)
    metadata = {"handoff_target": agent, "stop_reason": "complete"}
    await rig.post(thread, "two", by=by, reply_to=first, metadata=metadata)
    await rig.hub.bus.edit(by, first, "edited")
    await do(c.React(by=by, message_id=first, agent_id=None, reaction="ok"))
    await do(c.Unreact(by=by, message_id=first, agent_id=None, reaction="ok"))
    await do(UpdateAgent(by=by, agent_id=agent, description="new"))
    await do(c.UpdateThreadSettings(by=by, thread_id=thread, timeout_seconds=77))
    await do(c.SetThreadState(by=by, thread_id=thread, state="review"))
    await do(c.ArchiveThread(by=by, thread_id=thread))
    await do(c.UnarchiveThread(by=by, thread_id=thread))
    await do(c.CloseThread(by=by, thread_id=thread, summary="done"))
    last = await rig.thread("short-lived", by=by)
    await do(c.DeleteThread(by=by, thread_id=last))
    return last


async def test_every_kind_of_event_is_told_with_the_seq_for_its_id(rig: Rig) -> None:
    async with listening(rig) as stream:
        await everything(rig)
        heard = {event.type: event for event in await stream.until("thread.deleted")}
    assert list(heard) == [
        "thread.new",
        "msg.new",
        "agent.online",
        "msg.handoff",
        "msg.stop",
        "msg.reply",
        "msg.edit",
        "msg.react",
        "msg.unreact",
        "agent.updated",
        "thread.updated",
        "thread.state",
        "thread.archived",
        "thread.unarchived",
        "thread.closed",
        "thread.deleted",
    ]
    new, agent = heard["msg.new"], heard["agent.online"].payload
    thread = new.payload["thread_id"]
    assert heard["agent.online"].id is None
    assert agent == {"agent_id": agent["agent_id"], "name": "Test (M)", "ide": "Test", "model": "M"}
    assert new.id == str(new.payload["seq"])
    assert new.payload == {
        "msg_id": new.payload["msg_id"],
        "thread_id": thread,
        "author": "Test (M)",
        "author_id": agent["agent_id"],
        "role": "user",
        "seq": int(new.id),
        "content": "two",
    }
    place = {"msg_id": new.payload["msg_id"], "thread_id": thread}
    assert heard["msg.handoff"].payload == {**place, "from_agent": "Test (M)", "to_agent": agent["agent_id"]}
    assert heard["msg.stop"].payload == {**place, "agent": "Test (M)", "reason": "complete"}
    first = heard["msg.reply"].payload["reply_to_msg_id"]
    assert heard["msg.reply"].payload == {
        **place,
        "reply_to_msg_id": first,
        "author": "Test (M)",
        "seq": int(new.id),
    }
    edit = {"edited_by": agent["agent_id"], "version": 1, "content": "edited"}
    assert heard["msg.edit"].payload == {"msg_id": first, "thread_id": thread, **edit}
    reaction = {"message_id": first, "thread_id": thread, "agent_id": agent["agent_id"], "reaction": "ok"}
    react = heard["msg.react"].payload
    assert react == {**reaction, "reaction_id": react["reaction_id"], "agent_name": "Test (M)"}
    assert heard["msg.unreact"].payload == reaction
    assert heard["agent.updated"].payload == {"agent_id": agent["agent_id"], "description": "new"}
    assert heard["thread.updated"].payload == {"thread_id": thread, "settings": {"timeout_seconds": 77}}
    assert heard["thread.state"].payload == {"thread_id": thread, "state": "review"}
    assert heard["thread.closed"].payload == {"thread_id": thread, "summary": "done"}
    assert heard["thread.archived"].payload == heard["thread.unarchived"].payload == {"thread_id": thread}
    deleted = heard["thread.deleted"].payload
    assert deleted == {"thread_id": deleted["thread_id"], "topic": "short-lived", "message_count": 0}


async def test_text_with_odd_line_ends_is_one_event(rig: Rig) -> None:
    thread = await rig.thread()
    async with listening(rig) as stream:
        await rig.post(thread, "a\x85b\u2028c\u2029d\r\ne")
        assert (await stream.next()).payload["content"] == "a\x85b\u2028c\u2029d\r\ne"


async def test_whoever_comes_back_with_any_id_hears_the_rest_once_and_then_what_is_new(rig: Rig) -> None:
    await everything(rig)
    async with listening(rig, after="0") as stream:
        whole = await stream.until("thread.deleted")
    assert all(event.id for event in whole)
    assert len({event.id for event in whole}) == len(whole)
    for place, event in enumerate(whole):
        async with listening(rig, after=event.id) as stream:
            await rig.thread("later")
            marker = await rig.thread()
            heard = await stream.until("thread.new")
            while heard[-1].payload["thread_id"] != marker:
                heard += await stream.until("thread.new")
        assert heard[: len(whole) - place - 1] == whole[place + 1 :]
        ids = [event.id for event in heard]
        assert len(ids) == len(set(ids))


async def test_nothing_is_lost_or_doubled_where_the_past_meets_the_present(rig: Rig) -> None:
    thread = await rig.thread()
    posting = asyncio.create_task(post_many(rig, thread, 300))
    seen: list[str] = []
    after = "0"
    while len(seen) < 300:
        async with listening(rig, after=after) as stream:
            for _ in range(37):
                event = await stream.next()
                assert event.id
                after = event.id
                if event.type == "msg.new":
                    seen.append(event.payload["content"])
                if len(seen) == 300:
                    break
    await posting
    assert seen == [str(number) for number in range(300)]


async def post_many(rig: Rig, thread: str, count: int) -> None:
    for number in range(count):
        await rig.post(thread, str(number))


async def test_after_in_the_address_is_the_same_as_last_event_id(rig: Rig) -> None:
    thread = await rig.thread("here")
    async with rig.http() as http, http.stream("GET", "/events?after=0") as response:
        assert (await Listening(response).next()).payload["thread_id"] == thread


@pytest.mark.parametrize("given", ["x", "-1", "1.x", "1" * 19, "1e3", "٣"])
async def test_an_id_that_was_never_sent_is_refused(rig: Rig, given: str) -> None:
    async with rig.http() as http:
        for answer in (
            await http.get("/events", params={"after": given}),
            await http.get("/events", headers={b"last-event-id": given.encode()}),
        ):
            assert answer.status_code == 400
            assert answer.json()["code"] == "bad_event_id"


async def test_an_id_from_the_future_starts_now(rig: Rig) -> None:
    await rig.thread("before")
    async with listening(rig, after="999999") as stream:
        assert stream.response.headers["last-event-id"] == str(rig.hub.store.head())
        thread = await rig.thread("after")
        assert (await stream.next()).payload["thread_id"] == thread


async def test_nobody_hears_of_what_they_do_not_see(rig: Rig) -> None:
    enroller = await rig.token("agent", rights=["read", "chat", "register"])
    own_agent, token = await rig.agent(rig.principal(enroller))
    other_agent, _ = await rig.agent()
    await rig.hub.bus.post_mail(HUB, other_agent, "private")
    for after in (None, "0"):
        async with (
            listening(rig, token, after) as narrow,
            listening(rig, await rig.token("viewer"), after) as viewer,
            listening(rig, None, after) as operator,
        ):
            foreign = await rig.thread()
            await rig.post(foreign, "foreign")
            await rig.hub.bus.post_mail(HUB, other_agent, "private")
            await rig.hub.bus.post_mail(HUB, own_agent, "for you")
            rig.hub.signals.emit("agent.typing", {"thread_id": foreign, "agent_id": other_agent, "is_typing": True})
            await rig.hub.log.do(c.DeleteThread(by=HUB, thread_id=foreign))
            marker = await rig.thread(new_id("end"), by=rig.principal(token))
            told = {}
            for name, stream in (("narrow", narrow), ("viewer", viewer), ("operator", operator)):
                heard = await stream.until("thread.new")
                while heard[-1].payload["thread_id"] != marker:
                    heard += await stream.until("thread.new")
                told[name] = json.dumps(heard)
        assert foreign not in told["narrow"]
        assert "private" not in told["narrow"] + told["viewer"]
        assert "for you" in told["narrow"]
        assert foreign in told["viewer"]
        assert "agent.typing" in told["viewer"]
        assert "private" in told["operator"]


async def test_agents_do_not_hear_what_is_for_people_only(rig: Rig) -> None:
    _, token = await rig.agent()
    thread, person = await rig.thread(by=rig.principal(token)), rig.principal(rig.operator)
    secret = await rig.post(thread, "between us", person, metadata={"visibility": "human_only"})
    await rig.hub.bus.edit(person, secret, "between you and me")
    await rig.post(thread, "for all")
    for after in ("0", None):
        async with listening(rig, token, after) as agent, listening(rig, None, after) as operator:
            await rig.post(thread, "still between us", person, metadata={"visibility": "human_only"})
            await rig.hub.log.do(c.SetThreadState(by=HUB, thread_id=thread, state="review"))
            await rig.hub.log.do(c.SetThreadState(by=HUB, thread_id=thread, state="discuss"))
            heard = json.dumps(await agent.until("thread.state"))
            assert "between" not in heard
            assert ("for all" in heard) == (after == "0")
            assert "between us" in json.dumps(await operator.until("thread.state"))


async def test_a_quiet_stream_gets_a_comment_now_and_then(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "_QUIET_S", 0.02)
    async with listening(rig) as stream:
        for _ in range(3):
            await stream.comment()
        thread = await rig.thread()
        assert (await stream.next()).payload["thread_id"] == thread


async def test_a_revoked_credential_ends_its_stream_before_it_hears_more(rig: Rig) -> None:
    token = await rig.token("viewer")
    async with listening(rig, token) as stream, listening(rig) as other:
        await rig.revoke(token)
        await rig.thread()
        assert await stream.rest() == []
        assert (await other.next()).type == "thread.new"


async def test_streams_end_cleanly_when_the_hub_stops(tmp_path: Path) -> None:
    async with serving(tmp_path / "data") as rig:
        stack = listening(rig)
        stream = await stack.__aenter__()
    assert await stream.rest() == []
    await stack.__aexit__(None, None, None)


async def test_a_listener_that_does_not_read_is_cut_and_others_hear_on(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_stream, "OUTBOX_BYTES", 200_000)
    monkeypatch.setattr(event_stream, "SEND_S", 0.2)
    thread = await rig.thread()
    with socket.socket() as raw:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        others = asyncio.all_tasks()
        await asyncio.to_thread(raw.connect, ("127.0.0.1", rig.port))
        raw.sendall(
            b"GET /events HTTP/1.1\r\nhost: 127.0.0.1:%d\r\nauthorization: Bearer %b\r\n\r\n"
            % (rig.port, rig.operator.encode())
        )
        async with asyncio.timeout(WAIT_S):
            assert b"200 OK" in await asyncio.to_thread(raw.recv, 1024)
        its_tasks = asyncio.all_tasks() - others - {asyncio.current_task()}
        async with listening(rig) as stream:
            hearing = asyncio.create_task(hear_many(stream, 800))
            for _ in range(40):
                await asyncio.gather(*[rig.post(thread, "x" * 30_000) for _ in range(20)])
            assert await hearing == 800
        _, left = await asyncio.wait(its_tasks, timeout=WAIT_S)
        assert not left


async def hear_many(stream: Listening, count: int) -> int:
    for _ in range(count):
        await stream.next()
    return count


async def test_a_head_request_does_not_wait(rig: Rig) -> None:
    async with rig.http() as http:
        answer = await http.head("/events")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"


async def test_a_credential_that_may_not_read_hears_nothing(rig: Rig) -> None:
    async with rig.http(await rig.token("webhook")) as http:
        assert (await http.get("/events")).status_code == 403


async def test_a_principal_has_a_bounded_number_of_streams(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "MOST_STREAMS", 2)
    async with rig.http() as http, listening(rig):
        async with listening(rig):
            refused = await http.get("/events")
            assert (refused.status_code, refused.json()["code"]) == (429, "too_many_streams")
        async with listening(rig, await rig.token("viewer")):
            pass
