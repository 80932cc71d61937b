"""Two agents talk while a person puts in a word: over HTTP, over stdio, and over a hub that is killed meanwhile."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import httpx2
import pytest
from mcp import Client, StdioServerParameters

from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests.journeys.mcp_clients import NEW, OLD, Agent, Stage, connected, contents, fresh

pytestmark = pytest.mark.anyio
both_eras = pytest.mark.parametrize("version", [OLD, NEW])
ROUNDS = 10
WORDS = 5
T = TypeVar("T")


class Talk:
    """A conversation of ten messages each, every one an answer to the one before, and of a person who puts in words."""

    def __init__(self, ann: Agent, bob: Agent) -> None:
        self.ann, self.bob = ann, bob
        self._said = 0
        self._moved = asyncio.Condition()

    async def lead(self) -> None:
        for number in range(ROUNDS):
            await self._say(self.ann, f"ann {number}")
            await until_read(self.ann, f"bob {number}")

    async def follow(self) -> None:
        for number in range(ROUNDS):
            await until_read(self.bob, f"ann {number}")
            await self._say(self.bob, f"bob {number}")

    async def interrupt(self, says: Callable[[str, str], Awaitable[Any]]) -> None:
        for number in range(WORDS):
            await self.reaches(3 * number + 1)
            await says(self.ann.thread_id, f"person {number}")

    async def reaches(self, count: int) -> None:
        """Wait until so many messages were said."""
        async with self._moved:
            await self._moved.wait_for(lambda: self._said >= count)

    async def _say(self, who: Agent, content: str) -> None:
        await who.say(content)
        async with self._moved:
            self._said += 1
            self._moved.notify_all()


async def until_read(me: Agent, content: str) -> None:
    while content not in contents(me.read):
        await me.wait()


async def converse(ann: Agent, bob: Agent, stage: Stage) -> None:
    talk = Talk(ann, bob)
    async with asyncio.timeout(WAIT_S), asyncio.TaskGroup() as tasks:
        tasks.create_task(talk.lead())
        tasks.create_task(talk.follow())
        tasks.create_task(talk.interrupt(stage.person_says))


async def assert_all_once(ann: Agent, bob: Agent) -> None:
    """The thread holds everything once, in order, and each has read all that the others said, once."""
    for who in (ann, bob):
        await who.wait(timeout_ms=0)
    everything = await ann.call(
        "msg_list", thread_id=ann.thread_id, return_format="json", include_system_prompt=False, limit=1000
    )
    said = contents(everything)
    for name, count in (("ann", ROUNDS), ("bob", ROUNDS), ("person", WORDS)):
        assert [content for content in said if content.startswith(name)] == [f"{name} {n}" for n in range(count)]
    assert len(said) == 2 * ROUNDS + WORDS
    seqs = [message["seq"] for message in everything]
    assert seqs == sorted(set(seqs))
    for who in (ann, bob):
        others = [message["msg_id"] for message in everything if message["author_id"] != who.id]
        assert [message["msg_id"] for message in who.read] == others


@both_eras
async def test_two_agents_and_a_person_talk_and_each_reads_everything_once(
    shared_hub: HubProcess, version: str
) -> None:
    async with Stage(shared_hub, version) as stage:
        ann, bob = await stage.agents(fresh("talk"))
        await converse(ann, bob, stage)
        await assert_all_once(ann, bob)


@both_eras
async def test_the_same_through_stdio(shared_hub: HubProcess, version: str, tmp_path: Path) -> None:
    async with Stage(shared_hub, version) as stage:
        talkers = []
        for name in ("ann", "bob"):
            agent = await stage.agent()
            client = await stage.open(over_stdio(shared_hub, tmp_path / name, agent.token, version))
            talkers.append(Agent(client, agent.id, agent.token, agent.name))
        ann, bob = talkers
        for who in (ann, bob):
            await who.join(f"stdio {tmp_path}")
        await converse(ann, bob, stage)
        await assert_all_once(ann, bob)


@contextlib.asynccontextmanager
async def over_stdio(hub: HubProcess, file: Path, token: str, version: str) -> AsyncIterator[Client]:
    """A client of `greenroom mcp`, which an agent's program starts for itself."""
    file.write_text(token)
    file.chmod(0o600)
    arguments = ["-m", "greenroom", "mcp", "--url", hub.url, "--token-file", str(file)]
    server = StdioServerParameters(command=sys.executable, args=arguments)
    async with Client(server, mode="legacy" if version == OLD else NEW, cache=None) as client:
        yield client


class Survivor(Agent):
    """An agent that connects anew when its hub is gone, and repeats what it does not know to have arrived."""

    def __init__(self, hub: HubProcess, version: str, up: asyncio.Event, agent: Agent) -> None:
        super().__init__(agent.client, agent.id, agent.token, agent.name)
        self._hub, self._version, self._up = hub, version, up
        self._posts = 0

    async def call(self, tool: str, **arguments: Any) -> Any:
        return await self._insist(lambda agent: agent.call(tool, **arguments))

    async def post(self, content: str, **fields: Any) -> Any:
        self._posts += 1
        return await super().post(content, **{"key": f"post {self._posts}", **fields})

    async def _insist(self, ask: Callable[[Any], Awaitable[T]]) -> T:
        while True:
            await self._up.wait()
            try:
                async with connected(self._hub.url, self.token, self._version) as talker:
                    return await ask(talker)
            except (Exception, asyncio.CancelledError) as lost:
                task = asyncio.current_task()
                if isinstance(lost, AssertionError) or (task is not None and task.cancelling()):
                    raise


@both_eras
async def test_a_hub_that_is_killed_and_started_again_loses_and_doubles_nothing(hub: HubProcess, version: str) -> None:
    up = asyncio.Event()
    up.set()
    async with Stage(hub, version) as stage:
        ann, bob = [Survivor(hub, version, up, await stage.agent()) for _ in range(2)]
    for who in (ann, bob):
        await who.join("interrupted")

    talk = Talk(ann, bob)

    async def kill() -> None:
        for count in (4, 13):
            await talk.reaches(count)
            up.clear()
            await asyncio.to_thread(hub.kill)
            await asyncio.to_thread(hub.restart)
            up.set()

    async def says(thread_id: str, content: str) -> None:
        while True:
            await up.wait()
            with contextlib.suppress(httpx2.TransportError):
                await stage.person_says(thread_id, content, key=content.replace(" ", "-"))
                return

    async with asyncio.timeout(WAIT_S), asyncio.TaskGroup() as tasks:
        tasks.create_task(talk.lead())
        tasks.create_task(talk.follow())
        tasks.create_task(talk.interrupt(says))
        tasks.create_task(kill())
    await assert_all_once(ann, bob)
