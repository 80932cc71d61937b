"""One client that posts, in each of the ways that are compared."""

from typing import Protocol

import msgspec

from bench.buses import Agent, Context, Rest, Target, Thread, headers_of, open_session
from bench.mcp_wire import McpSession
from bench.wire import Client, WireError

_encode = msgspec.json.Encoder().encode


class _Posted(msgspec.Struct):
    seq: int


_decode_posted = msgspec.json.Decoder(_Posted).decode


class Poster(Protocol):
    async def prepare(self) -> None:
        """Get what the next post needs; not part of the measured time."""

    async def post(self, content: str) -> int:
        """Post once and return the seq that was acknowledged."""

    def close(self) -> None: ...


class RestPoster:
    """A post without sync fields, as the REST door allows; for `raw` the same request to the bare handler."""

    def __init__(self, target: Target, agent: Agent, thread: Thread) -> None:
        self._client = Client(target.url)
        headers = {"content-type": "application/json", **headers_of(target, agent)}
        path = f"/api/threads/{thread.id}/messages"
        self._head = self._client.request_head("POST", path, headers)
        self._author = agent.id

    async def prepare(self) -> None:
        return

    async def post(self, content: str) -> int:
        body = _encode({"author": self._author, "content": content})
        reply = await self._client.ask(self._head, body)
        if reply.status != 201:
            raise WireError(f"post: HTTP {reply.status} {reply.body[:200]!r}")
        return _decode_posted(reply.body).seq

    def close(self) -> None:
        self._client.close()


class McpPoster:
    """msg_post in a thread of its own, with a fresh context each time.

    Greenroom hands out the next context with each post. The peer does not, so its contexts are fetched beforehand,
    outside the measured time.
    """

    def __init__(self, target: Target, agent: Agent, thread: Thread, session: McpSession) -> None:
        self._agent, self._thread_id, self._session = agent, thread.id, session
        self._rest = Rest(target, headers_of(target, agent))
        self._context: Context | None = thread.context
        self._last_seq = thread.context.seq
        self._stock: list[str] = []

    async def stock_up(self, count: int) -> None:
        """Fetch reply tokens for the posts to come."""
        self._stock = [(await self._fetch_context()).reply_token for _ in range(count)]

    async def prepare(self) -> None:
        if self._context is None and self._stock:
            self._context = Context(self._last_seq, self._stock.pop())
        if self._context is None:
            self._context = await self._fetch_context()

    async def post(self, content: str) -> int:
        await self.prepare()
        context, self._context = self._context, None
        assert context is not None
        answer = await self._session.call(
            "msg_post",
            {
                "thread_id": self._thread_id,
                "author": self._agent.id,
                "content": content,
                "expected_last_seq": context.seq,
                "reply_token": context.reply_token,
            },
        )
        if answer.failed or "error" in answer.value:
            self._stock.clear()  # a sync error takes every token of the agent with it
            raise WireError(f"msg_post: {answer.value}")
        said = answer.value
        self._last_seq = said["seq"]
        if "reply_token" in said:
            self._context = Context(said["current_seq"], said["reply_token"])
        return self._last_seq

    async def _fetch_context(self) -> Context:
        path = f"/api/threads/{self._thread_id}/sync-context"
        said = await self._rest.need("POST", path, {"agent_id": self._agent.id})
        return Context(said["current_seq"], said["reply_token"])

    def close(self) -> None:
        self._rest.close()
        self._session.close()


class NoopPoster:
    """The same arguments to a tool that does nothing."""

    def __init__(self, session: McpSession) -> None:
        self._session = session

    async def prepare(self) -> None:
        return

    async def post(self, content: str) -> int:
        arguments = {
            "thread_id": "thr_none",
            "author": "agt_none",
            "content": content,
            "expected_last_seq": 0,
            "reply_token": "none",
        }
        answer = await self._session.call("noop", arguments)
        if answer.failed:
            raise WireError(f"noop: {answer.value}")
        seq: int = answer.value["seq"]
        return seq

    def close(self) -> None:
        self._session.close()


async def open_noop_poster(target: Target) -> NoopPoster:
    return NoopPoster(await open_session(target))


async def open_mcp_poster(target: Target, agent: Agent, thread: Thread) -> McpPoster:
    return McpPoster(target, agent, thread, await open_session(target, agent))
