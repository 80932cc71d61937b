"""`/ws`: in text frames runs are started, cancelled and followed in the words of the run-tree clients.

Binary frames are another door's: a connection is handed over to it with the first of them.
"""

import asyncio
import json
import logging
from typing import Any, Protocol

import msgspec
from starlette.types import Receive, Scope, Send

from greenroom.doors import claudia_workflows
from greenroom.doors.credentials import Bucket, peer_of
from greenroom.doors.endpoint import PRINCIPAL
from greenroom.doors.errors import note_refused
from greenroom.doors.line import Line
from greenroom.hub import Hub
from greenroom.log.errors import Refused, Unavailable
from greenroom.log.ids import new_id
from greenroom.log.model import Commit
from greenroom.nouns.access.model import NOBODY, Principal
from greenroom.nouns.runs.commands import CancelRun
from greenroom.nouns.runs.events import RunCreated
from greenroom.nouns.runs.model import RUNS, Run
from greenroom.nouns.runs.queries import current_run, find_runs, find_tree, may_see_run, need_run
from greenroom.nouns.runs.start import start_run
from greenroom.nouns.threads.events import MessagePosted
from greenroom.nouns.threads.model import THREADS
from greenroom.nouns.threads.queries import may_see

logger = logging.getLogger(__name__)
PATH = "/ws"
_STATUS = {"waiting": "running", "interrupted": "failed"}
_FRAME_CHARS = 1_100_000
_FRAMES = 200
_FRAMES_PER_S = 20.0
_UNSENT_BYTES = 16 << 20
_SHOWN = 200
Json = dict[str, Any]


class AgentSpawn(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="agent_spawn", rename="camel"):
    agent_id: str
    session_id: str = ""
    parent_run_id: str | None = None
    input: Any = None


class AgentCancel(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="agent_cancel", rename="camel"):
    agent_run_id: str
    cascade: bool = True


class AgentStatusQuery(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="agent_status_query", rename="camel"
):
    agent_run_id: str | None = None
    session_id: str | None = None


Wish = AgentSpawn | AgentCancel | AgentStatusQuery | claudia_workflows.WorkflowStart
_decode = msgspec.json.Decoder(Wish).decode


class BinaryFrames(Protocol):
    """Who serves a connection that speaks in binary frames; `first` is one that has come already."""

    async def serve(
        self, by: Principal, peer: str, receive: Receive, send: Send, first: bytes | None = None
    ) -> None: ...


class ClaudiaSocket:
    """The ASGI application at `/ws`; the guard has proven who calls, or that nobody claims to be somebody."""

    def __init__(self, hub: Hub, binary: BinaryFrames) -> None:
        self._hub = hub
        self._binary = binary

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        by = scope.get(PRINCIPAL, NOBODY)
        await send({"type": "websocket.accept"})
        first = await self._serve_text(by, receive, send) if "read" in by.rights else None
        if first is not None or "read" not in by.rights:
            await self._binary.serve(by, peer_of(scope), receive, send, first)

    async def _serve_text(self, by: Principal, receive: Receive, send: Send) -> bytes | None:
        """Serve text frames to the end; or up to the first binary one, and return that."""
        client = Client(self._hub, by)
        end = self._hub.log.subscribe(client.on_commit)
        try:
            await client.line.serve(send, client.read(receive), client.show())
        finally:
            end()
        return client.first


class Client:
    """One connection: what it is to be told, and the names it has given to its sessions."""

    def __init__(self, hub: Hub, by: Principal) -> None:
        self._hub = hub
        self._by = by
        self.line: Line[str] = Line(_UNSENT_BYTES, "too slow: connect again and query")
        self._changed: dict[str, None] = {}
        self._flows: dict[str, None] = {}
        self._wake = asyncio.Event()
        self._sessions: dict[str, str] = {}
        self.first: bytes | None = None
        """The first binary frame, with which this part of the connection is over."""

    async def read(self, receive: Receive) -> None:
        pace = Bucket(_FRAMES, _FRAMES_PER_S)
        while not self.line.ended:
            message = await receive()
            text = message.get("text")
            if message["type"] == "websocket.disconnect":
                self.line.end()
            elif text is None:
                self.first = message["bytes"]
                self.line.end()
            elif not pace.take():
                self.line.close(1008, "too many frames")
            elif len(text) > _FRAME_CHARS:
                self.line.close(1009, "frame too large")
            else:
                await self._hear(text)

    async def show(self) -> None:
        """Tell of changed runs as they are then: what changes often while the client is slow is told once."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            changed, self._changed = self._changed, {}
            flows, self._flows = self._flows, {}
            for run_id in changed:
                if (run := self._hub.rows.get(RUNS, run_id)) is not None:
                    self._tell(self._update(run))
            for flow_id in flows:
                if (flow := claudia_workflows.update_of(self._hub, flow_id)) is not None:
                    self._tell(flow)
            await self.line.room()

    async def _hear(self, text: str) -> None:
        wish: Wish | None = None
        try:
            wish = _decode(text)
            await self._do(wish)
        except (msgspec.MsgspecError, RecursionError) as error:
            logger.info("a frame of %s is not understood: %s", self._by.id, error)
            self._tell({"type": "error", "code": "bad_frame", "message": f"This frame is not understood: {error}."})
        except (Refused, Unavailable) as no:
            self._tell({"type": "error", "code": no.code, "message": no.message})
            if isinstance(no, Refused) and wish is not None:
                note_refused(self._hub, self._by, f"WS {PATH} {wish.__struct_config__.tag}", no)

    async def _do(self, wish: Wish) -> None:
        log = self._hub.log
        match wish:
            case AgentSpawn():
                thread = log.rows.get(THREADS, wish.session_id)
                here = thread is not None and may_see(log.rows, self._by, thread)
                fields = {"thread_id": wish.session_id if here else None, "parent_id": wish.parent_run_id}
                run = await start_run(log, self._by, wish.agent_id, prompt_of(wish.input), **fields)
                if wish.session_id and not here:
                    self._sessions[run.root_id] = wish.session_id
                self._see(run)
            case AgentCancel():
                seed = new_id("ord")
                cancel = CancelRun(by=self._by, run_id=wish.agent_run_id, cascade=wish.cascade, order_seed=seed)
                await log.do(cancel)
                self._see(need_run(log.rows, self._by, wish.agent_run_id))
            case claudia_workflows.WorkflowStart():
                started = await claudia_workflows.start(self._hub, self._by, wish)
                self._flows[started.id] = None
                self._wake.set()
            case AgentStatusQuery():
                for run in self._asked_for(wish):
                    self._see(run)

    def _asked_for(self, wish: AgentStatusQuery) -> list[Run]:
        rows = self._hub.rows
        if wish.agent_run_id is not None:
            return [need_run(rows, self._by, wish.agent_run_id)]
        named = [root for root, session in self._sessions.items() if session == wish.session_id]
        found = [run for root in named for run in find_tree(rows, root)]
        recent = find_runs(rows, self._by, limit=_SHOWN)
        return found + [r for r in reversed(recent) if wish.session_id in (None, self._session(r)) and r not in found]

    def on_commit(self, commit: Commit) -> None:
        """Note what this client is to be told of; it must be quick."""
        for record in commit.records:
            event = record.event
            if isinstance(event, RunCreated) and event.parent_id is not None:
                run = self._hub.rows.get(RUNS, event.run_id)
                if run is not None and may_see_run(self._hub.rows, self._by, run):
                    child = shape(run, self._session(run))
                    self._tell({"type": "agent_spawned", "parentRunId": event.parent_id, "childRun": child})
            elif isinstance(event, MessagePosted) and event.agent:
                self._relay(event)
        for run_id in claudia_workflows.changed_runs(self._hub, self._by, commit):
            self._flows[run_id] = None
            self._wake.set()
        for change in commit.changes:
            if change.table is RUNS and change.row is not None:
                self._see(change.row)

    def _relay(self, event: MessagePosted) -> None:
        """A word from the agent of one run to that of another, by mail or by handoff."""
        rows = self._hub.rows
        thread = rows.get(THREADS, event.thread_id)
        to = (thread.mailbox_of if thread else None) or event.handoff_target
        source, target = current_run(rows, event.author_id), current_run(rows, to) if to else None
        if source is None or target is None or source.id == target.id:
            return
        if may_see_run(rows, self._by, source) and may_see_run(rows, self._by, target):
            ends = {"fromAgentRunId": source.id, "toAgentRunId": target.id}
            self._tell({"type": "agent_message_relay", **ends, "content": event.content})

    def _see(self, run: Run) -> None:
        if may_see_run(self._hub.rows, self._by, run):
            self._changed[run.id] = None
            self._wake.set()

    def _tell(self, frame: Json) -> None:
        self.line.send(json.dumps(frame, ensure_ascii=False))

    def _session(self, run: Run) -> str:
        return self._sessions.get(run.root_id) or run.thread_id or run.root_id

    def _update(self, run: Run) -> Json:
        return {"type": "agent_run_update", "agentRun": shape(run, self._session(run))}


def prompt_of(given: Any) -> str:
    """The prompt in an input of any form: a text, an object with a prompt, or else its JSON."""
    if isinstance(given, dict) and isinstance(given.get("prompt"), str):
        return str(given["prompt"])
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False, indent=2)


def shape(run: Run, session: str) -> Json:
    """A run in the clients' words."""
    error = run.error or ("interrupted" if run.status == "interrupted" else None)
    optional = {"completedAt": run.ended_at, "error": error}
    return {
        "id": run.id,
        "agentId": run.profile,
        "parentRunId": run.parent_id,
        "rootRunId": run.root_id,
        "sessionId": session,
        "status": _STATUS.get(run.status, run.status),
        "input": run.prompt,
        "output": run.output if run.result is None else run.result,
        "depth": run.depth,
        "startedAt": run.started_at or run.created_at,
        "tokenUsage": {"input": run.input_tokens, "output": run.output_tokens},
        **{name: value for name, value in optional.items() if value is not None},
    }
