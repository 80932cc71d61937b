"""`/ws` for run-tree clients: text frames that start, cancel and follow runs.

Binary frames are another protocol's: shared_socket.py hands the connection over to it with the first of them.
"""

import asyncio
import json
import logging
from typing import Any

import msgspec
from starlette.types import Receive, Send

from greenroom.buckets import Bucket
from greenroom.doors.compat.run_tree import workflows
from greenroom.doors.compat.run_tree.frames import (
    AgentCancel,
    AgentSpawn,
    AgentStatusQuery,
    PermissionDecision,
    RunCancel,
    RunStart,
    RunTreePing,
    RunTreeRequest,
    Wish,
    wrap_in_envelope,
)
from greenroom.doors.compat.run_tree.permissions import PERMISSION_EVENTS, RunTreePermissions
from greenroom.doors.http.errors import record_refusal
from greenroom.doors.http.websocket_sender import WebSocketSender
from greenroom.errors import Refused, Unavailable
from greenroom.ids import new_id
from greenroom.json_types import JsonObject
from greenroom.log.model import Commit
from greenroom.rules.access.model import Principal
from greenroom.rules.runs.commands import CancelRun
from greenroom.rules.runs.confined_runs import confine_run
from greenroom.rules.runs.events import RunCreated
from greenroom.rules.runs.model import ENDED, RUNS, Run
from greenroom.rules.runs.queries import find_runs, find_tree, get_current_run, may_see_run, need_run
from greenroom.rules.threads.events import MessagePosted
from greenroom.rules.threads.model import THREADS
from greenroom.rules.threads.queries import may_see_thread
from greenroom.rules.workflows.model import STEPS, WORKFLOW_RUNS
from greenroom.services.hub import Hub
from greenroom.services.run_service import start_run

logger = logging.getLogger(__name__)
PATH = "/ws"
_WATCHED = (RUNS, WORKFLOW_RUNS, STEPS, RunCreated, MessagePosted, *PERMISSION_EVENTS)
_STATUS = {"waiting": "running", "interrupted": "failed"}
_FRAME_CHARS = 1_100_000
_FRAMES = 200
_FRAMES_PER_S = 20.0
_UNSENT_BYTES = 16 << 20
_SHOWN = 200
_SESSIONS = 10_000


class RunTreeSocket:
    """The text frames of `/ws`, for whoever has the right to read."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._sessions: dict[str, str] = {}
        """The names that clients have given to the sessions of their runs, by run; all connections share them."""

    async def serve(self, by: Principal, receive: Receive, send: Send) -> bytes | None:
        """Serve text frames to the end; or up to the first binary one, and return that."""
        client = RunTreeClient(self._hub, by, self._sessions)
        end = self._hub.log.subscribe(client.on_commit, *_WATCHED)
        try:
            await client.line.serve(send, client.read(receive), client.send_changed_runs())
        finally:
            end()
        return client.first


class RunTreeClient:
    """One connection, and what it will be sent."""

    def __init__(self, hub: Hub, by: Principal, sessions: dict[str, str]) -> None:
        self._hub = hub
        self._by = by
        self._permissions = RunTreePermissions(hub, by)
        self._started: dict[str, None] = {}
        """The runs that this connection started by run_start, and whose end it was not sent yet."""
        self._is_enveloped = False
        self.line: WebSocketSender[str] = WebSocketSender(_UNSENT_BYTES, "too slow: connect again and query")
        self._changed: dict[str, None] = {}
        self._flows: dict[str, None] = {}
        self._wake = asyncio.Event()
        self._sessions = sessions
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
                await self._handle_frame(text)

    async def send_changed_runs(self) -> None:
        """Send changed runs in their current state: many changes during a slow write become one frame."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            changed, self._changed = self._changed, {}
            flows, self._flows = self._flows, {}
            for run_id in changed:
                if (run := self._hub.rows.get(RUNS, run_id)) is not None:
                    self._notify(self._build_update(run))
                    self._send_run_end(run)
            for flow_id in flows:
                if (flow := workflows.build_update(self._hub, flow_id)) is not None:
                    self._notify(flow)
            await self.line.wait_for_room()

    async def _handle_frame(self, text: str) -> None:
        request: RunTreeRequest | None = None
        wish: Wish | None = None
        try:
            request = RunTreeRequest(text)
            self._is_enveloped = self._is_enveloped or request.is_enveloped
            wish = request.parse_command()
            answer = await self._run_command(wish)
        except (msgspec.MsgspecError, RecursionError) as error:
            logger.info("a frame of %s is not understood: %s", self._by.id, error)
            answer = {"type": "error", "code": "bad_frame", "message": f"This frame is not understood: {error}."}
        except (Refused, Unavailable) as no:
            answer = {"type": "error", "code": no.code, "message": no.message}
            if isinstance(no, Refused) and wish is not None:
                record_refusal(self._hub, self._by, f"WS {PATH} {wish.__struct_config__.tag}", no)
        if request is None:
            self._notify(answer)
        else:
            self._send(request.build_answer(answer))

    async def _run_command(self, wish: Wish) -> JsonObject:
        """Carry out a request; returns the frame that answers it."""
        match wish:
            case AgentSpawn():
                run = await self._start(wish, wish.agent_id)
                return self._build_update(run)
            case RunStart():
                run = await self._start(wish, wish.agent_id or self._hub.settings.backend_profile, context=wish.context)
                self._started[run.id] = None
                ids = {"runId": run.id, "agentRunId": run.id, "agentId": run.profile, "parentRunId": run.parent_id}
                self._mark_changed(run)
                return {"type": "run_started", **ids, "sessionId": self._get_session(run)}
            case AgentCancel(agent_run_id=run_id, cascade=cascade):
                return self._build_update(await self._cancel(run_id, cascade))
            case RunCancel(run_id=run_id):
                return self._build_update(await self._cancel(run_id, cascade=True))
            case PermissionDecision():
                return await self._permissions.decide(wish)
            case RunTreePing():
                return {"type": "pong", "timestamp": wish.timestamp}
            case workflows.WorkflowStart():
                started = await workflows.start_named_workflow(self._hub, self._by, wish)
                self._flows[started.id] = None
                self._wake.set()
                return {"type": "workflow_started", "workflowId": wish.workflow_id, "workflowRunId": started.id}
            case AgentStatusQuery():
                found = self._find_queried_runs(wish)
                for run in found:
                    self._mark_changed(run)
                for waiting in self._permissions.find_open_requests(found):
                    self._notify({**waiting, "sessionId": self._session_of(waiting["agentRunId"])})
                runs = [self._build_run(run) for run in found]
                return {"type": "agent_status", "sessionId": wish.session_id, "agentRuns": runs}

    async def _start(self, wish: AgentSpawn | RunStart, profile: str, **fields: Any) -> Run:
        log = self._hub.log
        thread = log.rows.get(THREADS, wish.session_id)
        here = thread is not None and may_see_thread(log.rows, self._by, thread)
        run_id = new_id("run")
        if wish.session_id and not here:  # before the run exists, so that its first update has the name
            self._sessions[run_id] = wish.session_id
            if len(self._sessions) > _SESSIONS:
                del self._sessions[next(iter(self._sessions))]
        fields |= {"thread_id": wish.session_id if here else None, "parent_id": wish.parent_run_id}
        run = await start_run(log, self._by, profile, build_prompt(wish.input), run_id=run_id, **fields)
        self._mark_changed(run)
        return run

    async def _cancel(self, run_id: str, cascade: bool) -> Run:
        cancel = CancelRun(by=self._by, run_id=run_id, cascade=cascade, order_seed=new_id("ord"))
        await self._hub.log.do(cancel)
        run = need_run(self._hub.rows, self._by, run_id)
        self._mark_changed(run)
        return run

    def _send_run_end(self, run: Run) -> None:
        """The end of a run that this connection has started, once."""
        if run.status not in ENDED or run.id not in self._started:
            return
        del self._started[run.id]
        shown = self._build_run(run)
        ids = {"runId": run.id, "agentRunId": run.id, "sessionId": shown["sessionId"], "usage": shown["tokenUsage"]}
        if run.status == "completed":
            self._notify({"type": "run_completed", **ids, "output": shown["output"]})
        else:
            error = shown.get("error") or run.status
            self._notify({"type": "run_failed", **ids, "status": shown["status"], "error": error})

    def _find_queried_runs(self, wish: AgentStatusQuery) -> list[Run]:
        rows = self._hub.rows
        if wish.agent_run_id is not None:
            return [need_run(rows, self._by, wish.agent_run_id)]
        named = [run_id for run_id, session in self._sessions.items() if session == wish.session_id]
        trees = [run for run_id in named for run in find_tree(rows, run_id)]
        found = [run for run in trees if may_see_run(rows, self._by, run)]
        recent = find_runs(rows, self._by, limit=_SHOWN)
        return found + [
            r for r in reversed(recent) if wish.session_id in (None, self._get_session(r)) and r not in found
        ]

    def on_commit(self, commit: Commit) -> None:
        """Note what this client will be sent; it must be quick."""
        for record in commit.records:
            event = record.event
            if isinstance(event, RunCreated) and event.parent_id is not None:
                run = self._hub.rows.get(RUNS, event.run_id)
                if run is not None and may_see_run(self._hub.rows, self._by, run):
                    child = self._build_run(run)
                    self._notify({"type": "agent_spawned", "parentRunId": child["parentRunId"], "childRun": child})
            elif isinstance(event, MessagePosted) and event.agent:
                self._relay(event)
            elif (permission := self._permissions.build_frame_for_event(event)) is not None:
                self._notify({**permission, "sessionId": self._session_of(permission["agentRunId"])})
        for run_id in workflows.find_changed_runs(self._hub, self._by, commit):
            self._flows[run_id] = None
            self._wake.set()
        for change in commit.changes:
            if change.table is RUNS and change.row is not None:
                self._mark_changed(change.row)

    def _relay(self, event: MessagePosted) -> None:
        """A word from the agent of one run to that of another, by mail or by handoff."""
        rows = self._hub.rows
        thread = rows.get(THREADS, event.thread_id)
        to = (thread.mailbox_of if thread else None) or event.handoff_target
        source, target = get_current_run(rows, event.author_id), get_current_run(rows, to) if to else None
        if source is None or target is None or source.id == target.id:
            return
        if self._by.kind == "viewer" and (thread is None or not may_see_thread(rows, self._by, thread)):
            return
        if may_see_run(rows, self._by, source) and may_see_run(rows, self._by, target):
            ends = {"fromAgentRunId": source.id, "toAgentRunId": target.id}
            self._notify({"type": "agent_message_relay", **ends, "content": event.content})

    def _mark_changed(self, run: Run) -> None:
        if may_see_run(self._hub.rows, self._by, run):
            self._changed[run.id] = None
            self._wake.set()

    def _notify(self, frame: JsonObject) -> None:
        self._send(wrap_in_envelope(frame) if self._is_enveloped else frame)

    def _send(self, frame: JsonObject) -> None:
        self.line.send(json.dumps(frame, ensure_ascii=False))

    def _get_session(self, run: Run) -> str:
        named = self._sessions.get(run.id) or self._sessions.get(run.root_id)
        return named or run.thread_id or run.root_id

    def _session_of(self, run_id: str) -> str:
        run = self._hub.rows.get(RUNS, run_id)
        return "" if run is None else self._get_session(run)

    def _build_update(self, run: Run) -> JsonObject:
        return {"type": "agent_run_update", "agentRun": self._build_run(run)}

    def _build_run(self, run: Run) -> JsonObject:
        return build_run(confine_run(self._hub.rows, self._by, run), self._get_session(run))


def build_prompt(given: Any) -> str:
    """The prompt in an input of any form: a text, an object with a prompt, or else its JSON."""
    if isinstance(given, dict) and isinstance(given.get("prompt"), str):
        return str(given["prompt"])
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False, indent=2)


def build_run(run: Run, session: str) -> JsonObject:
    """A run in the clients' words."""
    error = str(run.error or "") or ("interrupted" if run.status == "interrupted" else None)
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
