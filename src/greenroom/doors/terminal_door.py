"""The door to agents' terminals: a WebSocket that shows a screen, and takes keys from people who may type.

Sent to a viewer: `screen` (the lines that changed, or the `whole`), `writer` (who types, and the viewer's own id),
`none` (the agent has no terminal), `ended`, `away` (its node cannot be reached), `said` and `thought` (its words as
they come), `pong`. Taken from it: `keys`, `size`, `take` (type from now on) and `ping`.

A connection can be cut without a word to either side, and what was sent over it can arrive much later. So a viewer
sends `ping` every few seconds, takes itself for cut off when no `pong` follows, and sends the newest `at` of a `pong`
or a `writer` with its keys: the hub does not type keys that are too old. A viewer comes back with `?was=` and its id,
and types on if it did before.
"""

import asyncio
import contextlib
from typing import Literal
from urllib.parse import parse_qsl

import msgspec
from starlette.types import Receive, Scope, Send

from greenroom.doors.http.routes import PRINCIPAL
from greenroom.log.model import Commit
from greenroom.rules.access.model import NOBODY, Principal
from greenroom.rules.agents.model import AGENTS
from greenroom.rules.runs.model import RUNS
from greenroom.rules.runs.queries import get_current_run, may_see_run
from greenroom.services.hub import Hub
from greenroom.services.node_links import NodeLinks
from greenroom.services.watched_terminals import MOST_KEYS, Viewer, WatchedTerminal, WatchedTerminals

PATH = "/api/agents/{agent_id}/attach"
_SEND_S = 20.0


class ViewerFrame(msgspec.Struct, frozen=True):
    """A frame of a viewer."""

    op: Literal["keys", "size", "take", "ping"]
    data: str = ""
    rows: int = 0
    columns: int = 0
    at: int | None = None
    """The newest that the hub has said; older clients do not send it."""


_DECODE = msgspec.json.Decoder(ViewerFrame).decode


class TerminalDoor:
    """The application behind the path; the guard has authenticated the caller."""

    def __init__(self, hub: Hub, links: NodeLinks) -> None:
        self._hub = hub
        self._attachments = WatchedTerminals(links)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        by: Principal = scope.get(PRINCIPAL, NOBODY)
        agent_id = scope["path_params"]["agent_id"]
        if not self._may_look(by, agent_id):
            await send({"type": "websocket.close", "code": 4403, "reason": "no such agent for you"})
            return
        query = dict(parse_qsl(scope.get("query_string", b"").decode("latin-1")))
        viewer = Viewer(by, by.name, may_type="operate" in by.rights and query.get("read_only") != "1")
        sight = self._attachments.join(agent_id, viewer, query.get("was", ""))
        if sight is None:
            await send({"type": "websocket.close", "code": 1013, "reason": "too many look at this agent"})
            return
        try:
            await send({"type": "websocket.accept"})
            async with asyncio.TaskGroup() as tasks:
                writing = tasks.create_task(_write(viewer, send))
                reading = tasks.create_task(_read(sight, viewer, receive))
                end = self._hub.log.subscribe(lambda commit: self._end_if_hidden(commit, by, agent_id, reading), RUNS)
                try:
                    await asyncio.wait([reading])
                finally:
                    end()
                writing.cancel()
            if reading.cancelled():
                await send({"type": "websocket.close", "code": 4403, "reason": "no such agent for you"})
        except* (TimeoutError, OSError):
            pass  # it does not read: it may come again
        finally:
            self._attachments.leave(agent_id, viewer)

    def _end_if_hidden(self, commit: Commit, by: Principal, agent_id: str, reading: asyncio.Task[None]) -> None:
        """An agent may be called into a thread that whoever looks may not see."""
        if by.may_operate:
            return
        called = any(c.row is not None and c.row.agent_id == agent_id for c in commit.changes)
        if called and not self._may_look(by, agent_id):
            reading.cancel()

    def _may_look(self, by: Principal, agent_id: str) -> bool:
        """An agent sees the terminals of those that it has called. A viewer of certain threads sees the terminal of an
        agent that has worked in no other: the screen shows what it did before too."""
        if "read" not in by.rights or self._hub.rows.get(AGENTS, agent_id) is None:
            return False
        if by.kind in ("operator", "viewer"):
            if not by.is_confined:
                return True
            runs = self._hub.rows.find(RUNS, {"agent_id": agent_id})
            return bool(runs) and all(may_see_run(self._hub.rows, by, run) for run in runs)
        run = get_current_run(self._hub.rows, agent_id)
        return run is not None and may_see_run(self._hub.rows, by, run)


async def _write(viewer: Viewer, send: Send) -> None:
    while True:
        text = await viewer.take()
        async with asyncio.timeout(_SEND_S):
            await send({"type": "websocket.send", "text": text})


async def _read(sight: WatchedTerminal, viewer: Viewer, receive: Receive) -> None:
    """Take what a viewer sends until it has gone, or does not speak our language."""
    with contextlib.suppress(OSError, msgspec.DecodeError):
        await _handle_frames(sight, viewer, receive)


async def _handle_frames(sight: WatchedTerminal, viewer: Viewer, receive: Receive) -> None:
    while True:
        message = await receive()
        if message["type"] != "websocket.receive":
            return
        text = message.get("text") or ""
        if len(text) > 2 * MOST_KEYS:
            return
        wish = _DECODE(text)
        match wish.op:
            case "keys":
                if not viewer.is_late(wish.at):
                    sight.type(viewer, wish.data)
            case "size":
                sight.resize(viewer, wish.rows, wish.columns)
            case "take":
                sight.take_over(viewer)
            case "ping":
                viewer.note({"op": "pong", "at": viewer.age_ms})
