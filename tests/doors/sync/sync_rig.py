"""A hub with all its doors in this process, and a client that knows nothing but what the sync socket tells it."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import websockets
from websockets.asyncio.client import ClientConnection, connect

from greenroom.app import open_doors, open_hub
from greenroom.doors.http.server import HubServer, bind_socket, build_config
from greenroom.doors.login import LoginCodes
from greenroom.ids import new_id, new_secret
from greenroom.link.tokens import new_token
from greenroom.rules.access.model import HUB, CreateCredential, Principal, RevokeCredential
from greenroom.rules.access.queries import get_principal
from greenroom.rules.agents.model import RegisterAgent
from greenroom.rules.threads.commands import CreateThread
from greenroom.services.hub import Hub
from greenroom.settings import Settings
from greenroom.testing.timeouts import WAIT_S

Place = tuple[str, str | None]
"""A view and its key."""


class Rig:
    """A running hub, and who calls it."""

    def __init__(self, hub: Hub, port: int) -> None:
        self.hub = hub
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self.operator = (hub.data / "operator.token").read_text().strip()

    async def token(self, kind: str = "operator", **fields: Any) -> str:
        """A fresh credential."""
        made = new_token(kind)
        command = CreateCredential(
            by=HUB, credential_id=made.credential_id, kind=kind, name="test", digest=made.digest, **fields
        )
        await self.hub.log.do(command)
        return made.text

    async def revoke(self, token: str) -> None:
        credential = self.principal(token).credential
        assert credential is not None
        await self.hub.log.do(RevokeCredential(by=HUB, credential_id=credential))

    def principal(self, token: str) -> Principal:
        found = get_principal(self.hub.rows, token, self.hub.log.clock.now())
        assert found is not None
        return found

    async def agent(self, by: Principal = HUB) -> tuple[str, str]:
        """A fresh agent: its id and its token."""
        made, agent_id = new_token("agent"), new_id("agt")
        command = RegisterAgent(
            by=by, agent_id=agent_id, credential_id=made.credential_id, digest=made.digest, ide="Test", model="M"
        )
        await self.hub.log.do(command)
        return agent_id, made.text

    async def thread(self, topic: str = "", by: Principal = HUB) -> str:
        thread_id = new_id("thr")
        command = CreateThread(by=by, thread_id=thread_id, topic=topic or thread_id, nonce=new_secret(12))
        await self.hub.log.do(command)
        return thread_id

    async def post(self, thread_id: str, content: str = "hi", by: Principal = HUB, **fields: Any) -> str:
        posted = await self.hub.bus.post(by, thread_id, None, content, strict=False, **fields)
        return posted.event.message_id

    def http(self, token: str | None = None) -> httpx.AsyncClient:
        headers = {"authorization": f"Bearer {token or self.operator}"}
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=WAIT_S)

    def client(self, token: str | None = None) -> "SyncClient":
        return SyncClient(self.url, token or self.operator)


@asynccontextmanager
async def serving(data: Path, port: int = 0, **settings: Any) -> AsyncIterator[Rig]:
    """A hub, for as long as this is entered."""
    chosen = Settings(port=port, posts_per_minute=0, **settings)
    listener = bind_socket(chosen)
    port = listener.getsockname()[1]
    started = asyncio.Event()
    async with open_hub(data, chosen) as hub, open_doors(hub, port, LoginCodes()) as app:
        server = HubServer(build_config(app, chosen), hub, started.set)
        task = asyncio.create_task(server.serve(sockets=[listener]))
        await asyncio.wait_for(started.wait(), WAIT_S)
        try:
            yield Rig(hub, port)
        finally:
            server.handle_exit(signal.SIGTERM, None)
            await asyncio.wait_for(task, WAIT_S)
            listener.close()


@dataclass
class Held:
    """What a client holds of one view."""

    number: int
    limit: int | None
    seq: int | None = None
    rows: dict[tuple[str, str], Any] = field(default_factory=dict)
    more: bool = False
    error: str | None = None
    answers: list[str] = field(default_factory=list)
    """Which frames have answered a subscription, in order."""


class SyncClient:
    """Applies snapshots and changes, and resumes by seq; it has no rules of its own."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url.replace("http", "ws", 1) + "/sync"
        self._headers = {"authorization": f"Bearer {token}"}
        self._numbers = 0
        self.held: dict[Place, Held] = {}
        self.gone: list[Place] = []
        """Views that have ended, because what they show is not there any more."""
        self.frames: list[dict[str, Any]] = []
        self.signals: list[tuple[str, Any]] = []
        self.pongs = 0
        self.closed: int | None = None
        """The code with which the hub closed the socket."""
        self._heard = asyncio.Condition()
        self._socket: ClientConnection | None = None
        self._reader: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "SyncClient":
        await self.connect()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.drop()

    async def connect(self) -> None:
        """Open the socket, and take every view up where it was."""
        self.closed = None
        self._socket = await connect(
            self._url, additional_headers=self._headers, max_size=None, compression=None, proxy=None
        )
        self._reader = asyncio.create_task(self._read(self._socket))
        for place, held in tuple(self.held.items()):
            await self._ask(place, held)

    async def drop(self) -> None:
        """Break the connection off; what was not read is lost."""
        if self._socket is not None and self._reader is not None:
            self._socket.transport.abort()
            self._reader.cancel()
            with suppress(asyncio.CancelledError):
                await self._reader
            self._socket = self._reader = None

    async def send(self, frame: Any) -> None:
        assert self._socket is not None
        await self._socket.send(frame if isinstance(frame, str | bytes) else json.dumps(frame))

    async def subscribe(self, view: str, key: str | None = None, limit: int | None = None) -> Held:
        """Subscribe, and wait for the answer."""
        self._numbers += 1
        held = self.held[view, key] = Held(self._numbers, limit)
        await self._ask((view, key), held)
        await self.until(lambda: bool(held.answers))
        return held

    async def _ask(self, place: Place, held: Held) -> None:
        wish = {"op": "subscribe", "id": held.number, "view": place[0], "after": held.seq}
        if place[1] is not None:
            wish["key"] = place[1]
        if held.limit is not None:
            wish["limit"] = held.limit
        await self.send(wish)

    async def unsubscribe(self, view: str, key: str | None = None) -> None:
        held = self.held.pop((view, key))
        await self.send({"op": "unsubscribe", "id": held.number})
        await self.caught_up()

    async def caught_up(self) -> None:
        """Wait until everything has come that was sent before now."""
        wanted = self.pongs + 1
        await self.send({"op": "ping"})
        await self.until(lambda: self.pongs >= wanted)

    async def until(self, reached: Callable[[], bool]) -> None:
        """Wait for something that must come before the hub closes the socket."""
        async with asyncio.timeout(WAIT_S), self._heard:
            await self._heard.wait_for(lambda: reached() or self.closed is not None)
        if not reached():
            raise ConnectionError(f"closed with {self.closed}")

    async def _read(self, socket: ClientConnection) -> None:
        try:
            while True:
                self._apply(json.loads(await socket.recv()))
                async with self._heard:
                    self._heard.notify_all()
        except websockets.ConnectionClosed as closed:
            self.closed = closed.rcvd.code if closed.rcvd else 1006
            async with self._heard:
                self._heard.notify_all()

    def _apply(self, frame: dict[str, Any]) -> None:
        self.frames.append(frame)
        match frame["op"]:
            case "snapshot":
                held = self._numbered(frame["id"])
                held.rows = {(row["table"], row["key"]): row["row"] for row in frame["rows"]}
                held.seq, held.more = frame["seq"], frame["more"]
                held.answers.append("snapshot")
            case "changes":
                self._change((frame["view"], frame.get("key")), frame)
            case "resync":
                held = self._numbered(frame["id"])
                held.seq = None
                held.answers.append("resync")
            case "error":
                for place, held in tuple(self.held.items()):
                    if held.number == frame["id"]:
                        held.error = frame["error"]
                        held.answers.append("error")
                        if frame["error"] != "id_in_use":
                            self._end(place)
            case "signal":
                self.signals.append((frame["kind"], frame["payload"]))
            case "pong":
                self.pongs += 1

    def _change(self, place: Place, frame: dict[str, Any]) -> None:
        held = self.held.get(place)
        if held is None:  # it was on its way when we unsubscribed
            return
        assert held.seq is None or frame["seq"] > held.seq or "id" in frame, "a change was told twice"
        for row in frame["rows"]:
            if row["row"] is not None:
                held.rows[row["table"], row["key"]] = row["row"]
            elif place == ("thread", row["key"]) and row["table"] == "thread":
                self._end(place)
            else:
                held.rows.pop((row["table"], row["key"]), None)
        held.seq = frame["seq"]
        if "id" in frame:
            held.answers.append("changes")

    def _end(self, place: Place) -> None:
        self.gone.append(place)
        self.held.pop(place).rows.clear()

    def _numbered(self, number: int) -> Held:
        return next(held for held in self.held.values() if held.number == number)
