"""The coordinator: what becomes of threads in which everybody waits."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from greenroom.app import open_hub
from greenroom.ids import new_id, new_secret
from greenroom.link.tokens import new_token
from greenroom.rules.access.model import HUB, Principal
from greenroom.rules.access.queries import get_principal
from greenroom.rules.agents.model import RegisterAgent
from greenroom.rules.threads.commands import CreateThread, DecideAdmin, UpdateThreadSettings
from greenroom.rules.threads.events import AdminDecided, MessagePosted
from greenroom.rules.threads.model import Message
from greenroom.rules.threads.queries import find_messages
from greenroom.services.coordinator import Coordinator
from greenroom.services.hub import Hub
from greenroom.settings import Settings
from greenroom.testing.timeouts import WAIT_S

pytestmark = pytest.mark.anyio
LONG_MS = 3600_000


class Hands:
    """A clock that is put forward by hand."""

    def __init__(self) -> None:
        self._ms = 1_800_000_000_000

    def now(self) -> int:
        return self._ms

    def measure_lag_ms(self) -> int:
        return 0

    def move(self, ms: int) -> None:
        return

    def pass_s(self, seconds: float) -> None:
        self._ms += int(seconds * 1000)


class Play:
    """A thread, its agents, and a coordinator that looks when it is told to."""

    def __init__(self, hub: Hub, clock: Hands) -> None:
        self.hub, self.clock = hub, clock
        self.coordinator = Coordinator(hub.log, hub.presence, hub.bus.waiters)
        self.thread_id = new_id("thr")

    async def agent(self) -> Principal:
        made, agent_id = new_token("agent"), new_id("agt")
        await self.hub.log.do(
            RegisterAgent(
                by=HUB, agent_id=agent_id, credential_id=made.credential_id, digest=made.digest, ide="A", model="M"
            )
        )
        found = get_principal(self.hub.rows, made.text, self.clock.now())
        assert found is not None
        return found

    async def join(self, *agents: Principal) -> None:
        """Open the thread; the first agent is its admin."""
        create = CreateThread(by=agents[0], thread_id=self.thread_id, topic="quiet", nonce=new_secret(12))
        await self.hub.log.do(create)
        for agent in agents:
            await self.hub.bus.issue_sync_context(agent, self.thread_id, None)
            self.hub.presence.note_activity(agent.agent_id or "", "joined")

    @asynccontextmanager
    async def waiting(self, *agents: Principal) -> AsyncIterator[list["asyncio.Task[Any]"]]:
        """While these agents wait."""
        waits = [asyncio.create_task(self.hub.bus.wait(agent, self.thread_id, None, LONG_MS)) for agent in agents]
        await asyncio.sleep(0)
        assert len(self.hub.bus.waiters.find_waiters(self.thread_id)) == len(agents)
        try:
            yield waits
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)

    async def look(self) -> list[Message]:
        """What the thread holds after the coordinator has looked."""
        await self.coordinator.check_threads()
        return find_messages(self.hub.rows, self.thread_id)


@pytest.fixture
async def play(tmp_path: Path) -> AsyncIterator[Play]:
    clock = Hands()
    async with asyncio.timeout(WAIT_S), open_hub(tmp_path / "data", Settings(coordinator_s=3600), clock) as hub:
        yield Play(hub, clock)


async def test_when_the_only_agent_waits_too_long_a_person_is_asked_once(play: Play) -> None:
    ann = await play.agent()
    await play.join(ann)
    async with play.waiting(ann) as (wait,):
        play.clock.pass_s(59)
        assert await play.look() == []
        play.clock.pass_s(2)
        (question,) = await play.look()
        assert (question.author_id, question.role, question.priority) == ("system", "system", "system")
        assert question.metadata is not None
        assert question.metadata["visibility"] == "human_only"
        assert question.metadata["actions"] == ["takeover", "cancel"]
        assert question.metadata["candidate_admin_id"] == ann.agent_id
        play.clock.pass_s(300)
        assert await play.look() == [question], "one question at a time"
        await asyncio.sleep(0)
        assert not wait.done(), "a question to people wakes no agent"
        decide = {"thread_id": play.thread_id, "source_message_id": question.id, "result_id": new_id("msg")}
        done = await play.hub.log.do(DecideAdmin(by=HUB, action="cancel", **decide))
        assert [type(record.event) for record in done.records] == [AdminDecided, MessagePosted]
        again = await play.hub.log.do(DecideAdmin(by=HUB, action="takeover", **decide))
        assert len(again.records) == 0, "a decision is taken once"


async def test_with_several_agents_the_admin_is_told_to_go_on_too(play: Play) -> None:
    ann, bob = await play.agent(), await play.agent()
    await play.join(ann, bob)
    async with play.waiting(ann, bob) as waits:
        play.clock.pass_s(61)
        question, instruction = await play.look()
        assert question.metadata is not None and instruction.metadata is not None
        assert question.metadata["actions"] == ["switch", "keep"]
        assert question.metadata["candidate_admin_id"] == bob.agent_id, "not who is the admin already"
        assert instruction.handoff_target == ann.agent_id
        assert "visibility" not in instruction.metadata
        for waited in await asyncio.gather(*waits):
            assert [message.id for message in waited.messages] == [instruction.id]


async def test_while_somebody_is_there_and_does_not_wait_nobody_is_asked(play: Play) -> None:
    ann, bob = await play.agent(), await play.agent()
    await play.join(ann, bob)
    async with play.waiting(ann):
        play.clock.pass_s(600)
        assert await play.look() == []
        play.hub.presence.leave(bob.agent_id or "")
        assert len(await play.look()) == 1, "who has gone is not waited for"


async def test_a_thread_may_be_left_alone_or_be_given_more_time(play: Play) -> None:
    ann = await play.agent()
    await play.join(ann)

    async def set_to(**settings: Any) -> None:
        await play.hub.log.do(UpdateThreadSettings(by=HUB, thread_id=play.thread_id, **settings))

    async with play.waiting(ann):
        await set_to(auto_administrator_enabled=False)
        play.clock.pass_s(600)
        assert await play.look() == []
        await set_to(auto_administrator_enabled=True, timeout_seconds=900)
        assert await play.look() == []
        play.clock.pass_s(301)
        assert len(await play.look()) == 1


async def test_who_waits_in_short_pieces_has_waited_all_the_time(play: Play) -> None:
    ann = await play.agent()
    await play.join(ann)
    for _ in range(3):
        async with play.waiting(ann):
            play.clock.pass_s(14)
            assert await play.look() == []
        play.clock.pass_s(1)
        play.hub.bus.waiters.forget_left()
    async with play.waiting(ann):
        play.clock.pass_s(16)
        assert len(await play.look()) == 1


async def test_who_was_away_for_a_while_begins_to_wait_anew(play: Play) -> None:
    ann = await play.agent()
    await play.join(ann)
    async with play.waiting(ann):
        play.clock.pass_s(50)
    play.clock.pass_s(40)
    async with play.waiting(ann):
        play.clock.pass_s(50)
        assert await play.look() == []
        play.clock.pass_s(11)
        assert len(await play.look()) == 1


async def test_the_hub_looks_by_itself(tmp_path: Path) -> None:
    clock = Hands()
    async with asyncio.timeout(WAIT_S), open_hub(tmp_path / "data", Settings(coordinator_s=1), clock) as hub:
        play = Play(hub, clock)
        ann = await play.agent()
        await play.join(ann)
        asked = asyncio.Event()
        hub.log.subscribe(lambda commit: asked.set() if find_messages(hub.rows, play.thread_id) else None)
        async with play.waiting(ann):
            clock.pass_s(61)
            await asked.wait()
