"""The chat of agent_backend's clients: a message in, a stream of JSON lines out; another call approves or denies."""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Iterator
from typing import Any, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from greenroom.clock import format_iso
from greenroom.doors.compat.agent_backend.session import SESSION_EVENTS, BackendSession, describe_outcome
from greenroom.doors.compat.shown_asks import ShownAsks
from greenroom.doors.http.errors import HttpRefused
from greenroom.doors.http.routes import Endpoint
from greenroom.errors import Refused, Unavailable
from greenroom.json_types import JsonObject
from greenroom.link.reports import CallFinished, WordsReport
from greenroom.log.model import Commit
from greenroom.rules.access.model import Principal
from greenroom.rules.asks.events import AskAnswered, AskExpired, AskRaised, AskWithdrawn
from greenroom.rules.asks.model import Ask
from greenroom.rules.runs.events import RunEnded, RunHeard
from greenroom.rules.runs.model import ENDED, RUNS, Run
from greenroom.sentences import build_sentence
from greenroom.services.hub import Hub

T = TypeVar("T")
_UNSENT = 10_000
_NDJSON = "application/x-ndjson"


class ChatRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A message to the agent of a session."""

    session_id: str
    message: str
    enable_mcp_tools: bool = True
    attachments: list[Any] | None = None
    """Texts, or objects with a name and their text under `content` or `text`; they are added to the message."""
    profile: str | None = None
    """The profile to chat with, for a new session; a session keeps the one that it started with."""


class PermissionReply(msgspec.Struct, frozen=True, kw_only=True):
    """Approve or deny a call that waits."""

    session_id: str
    request_id: str
    approved: bool
    user_feedback: str | None = None


class PermissionTaken(msgspec.Struct):
    success: bool
    request_id: str
    approved: bool
    status: str


class ChatDoor:
    """The two calls of a chat, which know what each session was shown."""

    def __init__(self, shown: ShownAsks) -> None:
        self._shown = shown

    async def chat(self, hub: Hub, by: Principal, request: Request) -> Response:
        body = _decode_body(await request.body(), ChatRequest)
        session = BackendSession(hub, self._shown, body.session_id)
        lines = ChatStream(hub, session).stream_lines(by, body)
        return StreamingResponse(lines, media_type=_NDJSON)

    async def reply(self, hub: Hub, by: Principal, request: Request) -> Response:
        body = _decode_body(await request.body(), PermissionReply)
        session = BackendSession(hub, self._shown, body.session_id)
        ask = await session.decide(by, body.request_id, body.approved, body.user_feedback or "")
        taken = PermissionTaken(True, ask.id, *describe_outcome(ask))
        return Response(msgspec.json.encode(taken), media_type="application/json")


def _decode_body(data: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(data or b"{}", type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise HttpRefused(400, "bad_request", build_sentence("bad_request.body", error=error)) from None


class ChatStream:
    """One message and everything that follows from it, as lines. The run continues if its reader disconnects."""

    def __init__(self, hub: Hub, session: BackendSession) -> None:
        self._hub = hub
        self._session = session
        self._news: deque[tuple[str | None, JsonObject]] = deque(maxlen=_UNSENT)
        """Lines that wait to be sent, each with the run that it is about."""
        self._wake = asyncio.Event()
        self._run: Run | None = None
        self._is_over = False
        self._finished: set[str] = set()
        """The asks whose calls are over."""

    async def stream_lines(self, by: Principal, body: ChatRequest) -> AsyncIterator[bytes]:
        end = self._hub.log.subscribe(self._on_commit, *SESSION_EVENTS)
        try:
            try:  # before the first line, so that a reader who asks for the status at once finds this run
                self._run = await self._session.say(by, build_message(body), body.enable_mcp_tools, body.profile)
            except (Refused, Unavailable) as no:
                yield self._build_line("start")
                yield self._build_error_line(no.code, no.message)
                yield self._build_line("end")
                return
            yield self._build_line("start")
            async for line in self._follow():
                yield line
        finally:
            end()

    async def _follow(self) -> AsyncIterator[bytes]:
        while not self._is_over:
            for line in self._take_lines():
                yield line
            await self._wake.wait()
            self._wake.clear()
            run = self._hub.rows.get(RUNS, self._run.id) if self._run else None
            self._is_over = run is None or run.status in ENDED
        for line in self._take_lines():
            yield line
        run = self._hub.rows.get(RUNS, self._run.id) if self._run else None
        if run is not None and run.status != "completed":
            yield self._build_error_line(run.status, str(run.error or f"The run is {run.status}."))
        yield self._build_line("end", status=run.status if run else "failed", execution_id=run.id if run else None)

    def _take_lines(self) -> Iterator[bytes]:
        """Lines that wait to be sent, without those about another run of the session."""
        while self._news:
            run_id, line = self._news.popleft()
            if self._run is not None and run_id == self._run.id:
                yield self._build_line(**line)

    def _build_line(self, type: str, **fields: Any) -> bytes:
        stamp = format_iso(self._hub.log.clock.now())
        line = {"type": type, "session_id": self._session.id, "timestamp": stamp, **fields}
        return json.dumps(line, ensure_ascii=False).encode() + b"\n"

    def _build_error_line(self, code: str, message: str) -> bytes:
        return self._build_line("error", content=message, error=code, message=message)

    def _on_commit(self, commit: Commit) -> None:
        for event, about in self._session.find_events(commit):
            run_id = about.id if isinstance(about, Run) else about.run_id
            self._news.extend((run_id, line) for line in self._build_lines(event, about))
            self._wake.set()

    def _build_lines(self, event: object, about: Run | Ask) -> list[JsonObject]:
        """The lines for one event."""
        match event:
            case RunHeard(heard=WordsReport(text=text)):
                return [{"type": "content", "content": text}]
            case RunHeard(run_id=run_id, heard=CallFinished(call=call, ok=ok, output=output)):
                status = "completed" if ok else "failed"
                ask = self._session.get_ask(run_id, call, self._finished)
                tool = ask.subject.tool if ask and ask.subject else self._session.find_tool_name(run_id, call)
                request_id = ask.id if ask else call
                self._finished.add(request_id)
                return [_build_status_line(status, tool, request_id=request_id, call_id=call, result=output)]
            case AskRaised(kind="permission") if isinstance(about, Ask):
                asked = self._session.build_request(about)
                return [
                    _build_nested_line("tool_permission_request", request_id=about.id, **asked),
                    _build_status_line("waiting", asked["tool_name"], request_id=about.id),
                ]
            case AskAnswered() | AskExpired() | AskWithdrawn() if isinstance(about, Ask) and about.kind == "permission":
                approved, outcome = describe_outcome(about)
                tool = about.subject.tool if about.subject else ""
                return [
                    _build_status_line(
                        "executing" if approved else "cancelled", tool, request_id=about.id, reason=outcome
                    )
                ]
            case RunEnded():
                return []
        return []


def _build_status_line(status: str, tool: str, **fields: Any) -> JsonObject:
    return _build_nested_line("tool_execution_status", tool_name=tool, status=status, **fields)


def _build_nested_line(kind: str, **fields: Any) -> JsonObject:
    """A line whose fields agent_backend's clients read in `data`, and others beside its type."""
    return {"type": kind, **fields, "data": fields}


def build_message(body: ChatRequest) -> str:
    """The message with its attachments."""
    parts = [body.message]
    for number, attached in enumerate(body.attachments or [], 1):
        if isinstance(attached, dict):
            name = attached.get("name") or attached.get("filename") or f"attachment {number}"
            words = attached.get("content") or attached.get("text") or attached.get("url") or ""
        else:
            name, words = f"attachment {number}", attached
        parts.append(f"{name}:\n{words}")
    return "\n\n".join(parts)


def endpoints(shown: ShownAsks) -> list[Endpoint]:
    door = ChatDoor(shown)
    return [
        Endpoint(
            "POST",
            "/agent_backend/chat/chat",
            "operate",
            door.chat,
            "Send a message to the agent of a session; the reply comes as JSON lines",
            body=ChatRequest,
            answer=_NDJSON,
        ),
        Endpoint(
            "POST",
            "/agent_backend/chat/permission-response",
            "operate",
            door.reply,
            "Approve or deny a call of a session",
            body=PermissionReply,
            answer=PermissionTaken,
        ),
    ]
