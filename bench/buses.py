"""How the load generator speaks to the two buses, and to the building blocks that stand in for one."""

import asyncio
import secrets
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec

from bench.mcp_wire import McpSession
from bench.wire import Client, Reply, WireError

READ_PAGE = 1000


Kind = Literal["greenroom", "peer", "raw", "noop"]


class Target(msgspec.Struct, frozen=True):
    """A running server."""

    kind: Kind
    url: str
    pid: int
    operator_token: str = ""

    @property
    def mcp_path(self) -> str:
        return "/mcp/sse" if self.kind == "peer" else "/mcp"

    def headers_of_operator(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.operator_token}"} if self.operator_token else {}


class Agent(msgspec.Struct, frozen=True):
    id: str
    token: str


class Context(msgspec.Struct, frozen=True):
    """What a post must show under strict sync."""

    seq: int
    reply_token: str


class Thread(msgspec.Struct, frozen=True):
    id: str
    context: Context


class Stored(msgspec.Struct, frozen=True):
    """A message as it is read back."""

    content: str
    seq: int


def headers_of(target: Target, agent: Agent) -> dict[str, str]:
    """Both buses look at X-Agent-Token; Greenroom also wants the bearer on every request."""
    headers = {"x-agent-token": agent.token}
    if target.kind == "greenroom":
        headers["authorization"] = f"Bearer {agent.token}"
    return headers


class Rest:
    """REST calls of one caller on one connection."""

    def __init__(self, target: Target, headers: Mapping[str, str]) -> None:
        self._client = Client(target.url)
        self._headers = {"content-type": "application/json", **headers}

    async def ask(self, method: str, path: str, body: Any = None) -> Reply:
        head = self._client.request_head(method, path, self._headers)
        return await self._client.ask(head, b"" if body is None else msgspec.json.encode(body))

    async def need(self, method: str, path: str, body: Any = None) -> Any:
        reply = await self.ask(method, path, body)
        if reply.status not in (200, 201):
            raise WireError(f"{method} {path}: HTTP {reply.status} {reply.body[:300]!r}")
        return msgspec.json.decode(reply.body)

    def close(self) -> None:
        self._client.close()


async def register_agents(target: Target, count: int) -> list[Agent]:
    shares = [count // 8 + (n < count % 8) for n in range(8)]
    groups = await asyncio.gather(*(_register_some(target, share) for share in shares))
    return [agent for group in groups for agent in group]


async def _register_some(target: Target, count: int) -> list[Agent]:
    rest = Rest(target, target.headers_of_operator())
    agents = []
    for _ in range(count):
        said = await rest.need("POST", "/api/agents/register", {"ide": "bench", "model": "load"})
        agents.append(Agent(said["agent_id"], said["token"]))
    rest.close()
    return agents


async def create_thread(target: Target, creator: Agent) -> Thread:
    rest = Rest(target, headers_of(target, creator))
    body = {"topic": f"bench {secrets.token_hex(6)}", "creator_agent_id": creator.id}
    said = await rest.need("POST", "/api/threads", body)
    rest.close()
    return Thread(said["id"], Context(said["current_seq"], said["reply_token"]))


async def open_session(target: Target, agent: Agent | None = None) -> McpSession:
    headers = {} if agent is None else headers_of(target, agent)
    return await McpSession(target.url, target.mcp_path, headers).open()


async def read_thread(target: Target, reader: Agent, thread_id: str) -> list[Stored]:
    """Everything in a thread, page by page."""
    rest = Rest(target, headers_of(target, reader))
    found: list[Stored] = []
    after = 0
    while True:
        path = f"/api/threads/{thread_id}/messages?after_seq={after}&limit={READ_PAGE}"
        page = msgspec.convert(await rest.need("GET", path), list[Stored])
        page = [message for message in page if message.seq > after]
        if not page:
            rest.close()
            return found
        found += page
        after = page[-1].seq


class Loss(msgspec.Struct):
    """Acknowledged messages against what was read back."""

    lost: int
    doubled: int


async def count_losses(target: Target, reader: Agent, thread_ids: Iterable[str], acked: Iterable[str]) -> Loss:
    return compare([m for thread_id in thread_ids for m in await read_thread(target, reader, thread_id)], acked)


def compare(stored: list[Stored], acked: Iterable[str]) -> Loss:
    contents = Counter(message.content for message in stored)
    seqs = Counter(message.seq for message in stored)
    return Loss(
        lost=sum(1 for content in acked if content not in contents),
        doubled=sum(n - 1 for n in contents.values()) + sum(n - 1 for n in seqs.values()),
    )
