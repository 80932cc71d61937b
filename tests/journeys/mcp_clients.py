"""Agents of the journeys: official MCP clients of a real hub, each with a credential of its own."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from types import TracebackType
from typing import Any, TypeVar

import httpx2
import msgspec
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import LONG_MS, WAIT_S

OLD, NEW = "2025-11-25", "2026-07-28"
"""A wait that shall be ended by what it waits for, and not by time."""
T = TypeVar("T")
_numbers = itertools.count(1)


def fresh(word: str) -> str:
    """A name that no other test uses."""
    return f"{word} {next(_numbers)}"


@asynccontextmanager
async def connected(url: str, token: str | None, version: str = OLD, path: str = "/mcp") -> AsyncIterator["Talker"]:
    """A client with this bearer token."""
    headers = {"authorization": f"Bearer {token}"} if token else {}
    async with httpx2.AsyncClient(headers=headers, timeout=WAIT_S) as http:
        transport = streamable_http_client(url + path, http_client=http)
        async with Client(transport, mode="legacy" if version == OLD else NEW, cache=None) as client:
            yield Talker(client)


class Talker:
    """Calls tools and reads what they say."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def blocks(self, tool: str, **arguments: Any) -> list[Any]:
        """The blocks of a result."""
        result = await asyncio.wait_for(self.client.call_tool(tool, arguments), WAIT_S)
        assert not result.is_error, result.content
        self._assert_object(result)
        return list(result.content)

    def _assert_object(self, result: Any) -> None:
        """JSON that is no object has an object beside it: some clients take the text itself for that, and refuse it."""
        try:
            value = msgspec.json.decode(result.content[0].text) if result.content else {}
        except (AttributeError, msgspec.DecodeError):
            return
        structured = result.structured_content
        assert isinstance(value if structured is None else structured, dict), result

    async def call(self, tool: str, **arguments: Any) -> Any:
        """The value of a result of one JSON block."""
        (block,) = await self.blocks(tool, **arguments)
        return msgspec.json.decode(block.text)

    async def misfit(self, tool: str, **arguments: Any) -> Any:
        """What is said of arguments that do not fit."""
        result = await asyncio.wait_for(self.client.call_tool(tool, arguments), WAIT_S)
        assert result.is_error, result.content
        (block,) = result.content
        return msgspec.json.decode(block.text)  # type: ignore[union-attr]


class Agent(Talker):
    """An agent in a thread: it keeps its context, as a well-behaved client does."""

    def __init__(self, client: Client, agent_id: str, token: str, name: str) -> None:
        super().__init__(client)
        self.id, self.token, self.name = agent_id, token, name
        self.thread_id = ""
        self.context: dict[str, Any] = {}
        self.read: list[dict[str, Any]] = []

    async def join(self, topic: str) -> dict[str, Any]:
        """Join the thread of this topic, or open it."""
        said: dict[str, Any] = await self.call("bus_connect", thread_name=topic)
        self.thread_id = said["thread"]["thread_id"]
        self.context = said
        return said

    async def post(self, content: str, **fields: Any) -> Any:
        """Post with the newest context."""
        sync = {"expected_last_seq": self.context["current_seq"], "reply_token": self.context["reply_token"]}
        said = await self.call("msg_post", thread_id=self.thread_id, content=content, **{**sync, **fields})
        if "reply_token" in said:
            self.context = said
        return said

    async def wait(self, **fields: Any) -> Any:
        """Wait from the newest seq known, and keep what comes."""
        arguments = {"after_seq": self.context["current_seq"], "timeout_ms": LONG_MS, **fields}
        said = await self.call("msg_wait", thread_id=self.thread_id, return_format="json", **arguments)
        if "reply_token" in said:
            self.context = said
            self.read += said["messages"]
        return said

    async def say(self, content: str, **fields: Any) -> Any:
        """Post, and read what others wrote meanwhile until it fits."""
        while True:
            said = await self.post(content, **fields)
            if "error" not in said:
                return said
            assert said["error"] == "SeqMismatchError", said
            await self.wait()


class Stage:
    """A hub and the clients that a test brings to it; all are closed at its end."""

    def __init__(self, hub: HubProcess, version: str = OLD) -> None:
        self.hub = hub
        self.version = version
        self._open = AsyncExitStack()
        self._operator: Talker | None = None

    async def __aenter__(self) -> "Stage":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._open.aclose()

    async def talker(self, token: str | None = None, path: str = "/mcp") -> Talker:
        """A further client with this token, or with the operator's."""
        return await self.open(connected(self.hub.url, token or self.hub.token, self.version, path))

    async def open(self, client: AbstractAsyncContextManager[T]) -> T:
        """Keep a client open until the end."""
        return await self._open.enter_async_context(client)

    async def operator(self) -> Talker:
        """The operator's client."""
        self._operator = self._operator or await self.talker()
        return self._operator

    async def agent(self, name: str = "") -> Agent:
        """An agent that has registered and is connected with a token of its own."""
        operator = await self.operator()
        said = await operator.call("agent_register", ide=name or fresh("Tester"), model="T")
        talker = await self.talker(said["token"])
        return Agent(talker.client, said["agent_id"], said["token"], said["name"])

    async def agents(self, topic: str, count: int = 2) -> list[Agent]:
        """Agents in one thread; the first is its admin."""
        found = [await self.agent() for _ in range(count)]
        for agent in found:
            await agent.join(topic)
        return found

    async def person_says(self, thread_id: str, content: str, key: str = "", **fields: Any) -> Any:
        """A person posts, over REST."""
        headers = {"authorization": f"Bearer {self.hub.token}"} | ({"idempotency-key": key} if key else {})
        async with httpx2.AsyncClient(timeout=WAIT_S) as http:
            answer = await http.post(
                f"{self.hub.url}/api/threads/{thread_id}/messages",
                json={"author": "human", "content": content, **fields},
                headers=headers,
            )
        assert answer.status_code == 201, answer.text
        return answer.json()


def contents(messages: list[dict[str, Any]]) -> list[str]:
    """What messages say."""
    return [message["content"] for message in messages]
