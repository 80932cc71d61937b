"""A real server on a loopback port with the MCP door behind a guard that takes a name for a credential."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, Literal, cast

import httpx2
import msgspec
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from greenroom.doors.compat import legacy_sse
from greenroom.doors.mcp.door import McpDoor
from greenroom.doors.mcp.tool import (
    Blocks,
    ImageBlock,
    McpCall,
    McpCatalog,
    NoArgs,
    Prompt,
    Resource,
    ResourceTemplate,
    TextBlock,
    Tool,
)
from greenroom.errors import Refused, Unavailable
from greenroom.log.signals import Signals
from greenroom.rules.access.model import RIGHTS, Principal, PrincipalKind
from greenroom.settings import Settings
from greenroom.testing.timeouts import WAIT_S

OLD, NEW = "2025-11-25", "2026-07-28"
KINDS: dict[str, PrincipalKind] = {"ann": "agent", "bob": "agent", "vera": "viewer", "opal": "operator"}
PEOPLE = {name: Principal(id=name, kind=kind, name=name, rights=RIGHTS[kind]) for name, kind in KINDS.items()}


class Stage:
    """What stands in for the hub: the tools leave here what was done, and wait here for what shall happen."""

    def __init__(self) -> None:
        self.signals = Signals()
        self.refusals = self
        self.refused: list[dict[str, Any]] = []
        self.said: list[str] = []
        self.started = asyncio.Semaphore(0)
        self.ended = asyncio.Semaphore(0)
        self.curtain = asyncio.Event()

    def note(self, **refused: Any) -> None:
        """What goes into the audit of a hub."""
        self.refused.append(refused)


class SayArgs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    text: Annotated[str, msgspec.Meta(description="what to say", max_length=100)]
    times: Annotated[int, msgspec.Meta(ge=1)] = 1
    tone: Literal["calm", "loud"] = "calm"


class FailArgs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    how: str


class ThreadArgs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    thread_id: str


def stage(call: McpCall[Any]) -> Stage:
    return cast(Stage, call.hub)


async def say(call: McpCall[SayArgs]) -> Any:
    stage(call).said.append(call.args.text)
    return {"by": call.by.id, "said": call.args.text * call.args.times, "language": call.language}


async def fail(call: McpCall[FailArgs]) -> Any:
    match call.args.how:
        case "refused":
            raise Refused.in_words("ReplyTokenInvalidError", "Call msg_wait first.", detail="TOKEN_INVALID")
        case "unavailable":
            raise Unavailable("busy.requests", 2.5)
        case _:
            raise ZeroDivisionError("the secret of the hub")


async def wait(call: McpCall[NoArgs]) -> Any:
    stage(call).started.release()
    try:
        await stage(call).curtain.wait()
    finally:
        stage(call).ended.release()
    return {"has_progress": call.has_progress}


async def show(call: McpCall[NoArgs]) -> Any:
    return Blocks([TextBlock("[1] ann (user)"), TextBlock("hello"), ImageBlock("aGk=", "image/png")])


async def close(call: McpCall[NoArgs]) -> Any:
    return {"ok": True}


async def read_config(call: McpCall[NoArgs]) -> Any:
    return {"preferred_language": call.language}


async def read_state(call: McpCall[ThreadArgs]) -> Any:
    if call.args.thread_id == "none":
        raise Refused.in_words("Thread not found", "There is no such thread.", "not_found")
    return f"state of {call.args.thread_id}"


async def summarize(call: McpCall[ThreadArgs]) -> str:
    return f"Summarize {call.args.thread_id}."


OFFER = McpCatalog(
    tools=(
        Tool("say", "Say something.", SayArgs, "chat", say),
        Tool("wait", "Wait for the curtain.", NoArgs, "chat", wait, waits=True),
        Tool("fail", "Fail in some way.", FailArgs, "read", fail),
        Tool("show", "Show blocks.", NoArgs, "read", show),
        Tool("close", "For operators.", NoArgs, "operate", close),
    ),
    resources=(Resource("chat://bus/config", "config", "The bus.", "read", read_config),),
    templates=(
        ResourceTemplate(
            "chat://threads/{thread_id}/state", "state", "A thread.", ThreadArgs, "read", read_state, "text/plain"
        ),
    ),
    prompts=(Prompt("summarize_thread", "Summarize a thread.", ThreadArgs, "read", summarize),),
    instructions="Be kind.",
)


class Rig:
    """The running server, and clients for it."""

    def __init__(self, port: int, door: McpDoor, stage: Stage, server: uvicorn.Server) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.door = door
        self.stage = stage
        self._server = server

    def break_off(self) -> None:
        """Drop every connection, as a hub that dies does."""
        for connection in tuple(self._server.server_state.connections):
            connection.transport.abort()

    def http(self, who: str = "ann") -> httpx2.AsyncClient:
        headers = {"x-who": who, "accept": "application/json, text/event-stream"}
        return httpx2.AsyncClient(base_url=self.url, headers=headers, timeout=WAIT_S)

    @asynccontextmanager
    async def client(self, version: str, who: str = "ann", path: str = "/mcp") -> AsyncIterator[Client]:
        async with self.http(who) as http:
            transport = streamable_http_client(self.url + path, http_client=http)
            async with Client(transport, mode="legacy" if version == OLD else NEW, cache=None) as client:
                yield client


@asynccontextmanager
async def serving(
    offer: McpCatalog = OFFER, progress_s: float = 0.05, port: int = 0, **settings: Any
) -> AsyncIterator[Rig]:
    """Serve while this is entered; on the way out the server has ended and so has every call."""
    stage = Stage()
    door = McpDoor(offer, cast(Any, stage), Settings(**settings), progress_s, legacy=legacy_sse.load_transport())

    async def guard(scope: Any, receive: Any, send: Any) -> None:
        who = dict(scope["headers"]).get(b"x-who", b"").decode() or _bearer(scope)
        if who in PEOPLE and scope["path"] in (*McpDoor.PATHS, *legacy_sse.PATHS):
            scope["greenroom.principal"] = PEOPLE[who]
            await door(scope, receive, send)
        else:
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body"})

    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        config = uvicorn.Config(guard, lifespan="off", log_level="error", timeout_graceful_shutdown=int(WAIT_S))
        server = uvicorn.Server(config)
        async with door.run():
            task = asyncio.create_task(server.serve(sockets=[listener]))
            try:
                yield Rig(listener.getsockname()[1], door, stage, server)
            finally:
                stage.curtain.set()
                stage.signals.emit("hub.stopping", {})
                server.should_exit = True
                await asyncio.wait_for(task, WAIT_S)


def _bearer(scope: Any) -> str:
    given: bytes = dict(scope["headers"]).get(b"authorization", b"")
    return given.decode().removeprefix("Bearer ")


async def soon(event: asyncio.Semaphore) -> None:
    """Wait for something that must happen."""
    await asyncio.wait_for(event.acquire(), WAIT_S)


def text_of(result: Any) -> Any:
    """The value in a result of one JSON block."""
    (block,) = result.content
    return msgspec.json.decode(block.text)
