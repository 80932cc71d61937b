"""The transport of 2024-11-05: a stream from `GET /sse`, and messages by `POST /messages?session_id=`.

Each message is handed to streamable HTTP as though it had come there, and the answer is put on the stream.
"""

import secrets
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

import anyio
import mcp_types as types
from anyio.abc import TaskGroup
from starlette.types import Message, Receive, Scope, Send

from greenroom.doors.http.url_credentials import URL_PREFIX
from greenroom.doors.mcp.exchange import EVENTS, JSON, SESSION_ID, ClientGone, Exchange, Rejected
from greenroom.doors.mcp.http import RETRY, StreamableHttp
from greenroom.doors.mcp.server import PROGRESS_S, read_caller, send_progress_until_cancelled
from greenroom.doors.mcp.tool_changes import send_tool_changes
from greenroom.settings import Settings


@dataclass(eq=False)
class LegacyStream:
    """An open stream, which belongs to the principal that opened it."""

    http: Exchange
    owner: str
    tasks: TaskGroup
    id: str = field(default_factory=lambda: secrets.token_hex(16))
    session_id: bytes | None = None
    """The session that streamable HTTP keeps for it, once the client has said hello."""


class LegacySse:
    """Both endpoints."""

    def __init__(self, streamable: StreamableHttp, settings: Settings) -> None:
        self._streamable = streamable
        self._limit = settings.max_mcp_sessions
        self._max_body_bytes = settings.max_body_bytes
        self._streams: dict[str, LegacyStream] = {}

    async def stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        """`GET /sse`: the stream, whose first event says where to send messages."""
        http = Exchange(scope, receive, send)
        try:
            self._refuse_unfit(http)
        except Rejected as no:
            await http.reject(no)
            return
        async with anyio.create_task_group() as tasks:
            stream = LegacyStream(http, read_caller(scope).by.id, tasks)
            self._streams[stream.id] = stream
            try:
                await http.begin_stream()
                prefix = scope.get(URL_PREFIX, "")
                await http.send_event(f"{prefix}/messages?session_id={stream.id}".encode(), b"endpoint")
                tasks.start_soon(send_progress_until_cancelled, http.send_ping, PROGRESS_S)
                await http.wait_until_gone()
            finally:
                self._forget(stream)
                tasks.cancel_scope.cancel()
        if not http.is_gone:
            await http.end_stream()

    async def post(self, scope: Scope, receive: Receive, send: Send) -> None:
        """`POST /messages`: a message, answered on the stream; 404 for anybody but the stream's owner."""
        http = Exchange(scope, receive, send)
        try:
            if scope["method"] != "POST":
                raise Rejected(405, types.INVALID_REQUEST, "Method Not Allowed", headers=[(b"allow", b"POST")])
            body, _ = await http.read_message(self._max_body_bytes)
            stream = self._need_stream(scope)
            stream.tasks.start_soon(self._answer, stream, scope, body)
        except Rejected as no:
            await http.reject(no)
        except ClientGone:
            return
        else:
            await http.reply(202)

    def end_streams(self) -> None:
        """End every stream, and with it all that its client waits for."""
        for stream in self._streams.values():
            stream.tasks.cancel_scope.cancel()

    async def _answer(self, stream: LegacyStream, scope: Scope, body: bytes) -> None:
        headers = [(b"accept", JSON + b", " + EVENTS), (b"content-type", JSON)]
        if stream.session_id is not None:
            headers.append((SESSION_ID, stream.session_id))
        # The message says who sent it; the stream says in which language to answer.
        query = stream.http.scope["query_string"]
        inner = {**scope, "path": "/mcp", "headers": headers, "query_string": query}
        is_stream = False

        async def send(message: Message) -> None:
            nonlocal is_stream
            if message["type"] == "http.response.start":
                answered: dict[bytes, Any] = dict(message["headers"])
                is_stream = answered.get(b"content-type") == EVENTS
                if SESSION_ID in answered:
                    self._adopt(stream, answered[SESSION_ID])
            elif is_stream:
                await stream.http.send_chunk(message["body"])
            elif message["body"]:
                await stream.http.send_event(message["body"])

        await self._streamable(inner, _build_receive(body), send)

    def _adopt(self, stream: LegacyStream, session_id: bytes) -> None:
        """The session and the stream end together, and neither is idle while the other is there."""
        session = self._streamable.sessions.get(session_id.decode(), stream.owner)
        if session is not None:
            stream.session_id = session_id
            session.stream = stream.tasks.cancel_scope
            stream.tasks.start_soon(send_tool_changes, stream.http, session)

    def _forget(self, stream: LegacyStream) -> None:
        del self._streams[stream.id]
        if stream.session_id is not None:
            session = self._streamable.sessions.get(stream.session_id.decode(), stream.owner)
            if session is not None:
                self._streamable.sessions.end(session)

    def _need_stream(self, scope: Scope) -> LegacyStream:
        ids = parse_qs(scope["query_string"].decode("latin-1")).get("session_id", [])
        if len(ids) != 1:
            raise Rejected(400, types.INVALID_REQUEST, "session_id is required")
        stream = self._streams.get(ids[0])
        if stream is None or stream.owner != read_caller(scope).by.id:
            raise Rejected(404, types.INVALID_REQUEST, "Session not found")
        return stream

    def _refuse_unfit(self, http: Exchange) -> None:
        if http.scope["method"] != "GET":
            raise Rejected(405, types.INVALID_REQUEST, "Method Not Allowed", headers=[(b"allow", b"GET")])
        if not http.accepts(EVENTS):
            raise Rejected(406, types.INVALID_REQUEST, "Not Acceptable: the client must accept text/event-stream")
        if len(self._streams) >= self._limit:
            raise Rejected(503, types.INTERNAL_ERROR, "Too many open streams", headers=RETRY)


def _build_receive(body: bytes) -> Receive:
    """A request whose client stays until the stream ends, and with it whoever waits here."""
    unread = [body]

    async def receive() -> Message:
        if not unread:
            await anyio.sleep_forever()
        return {"type": "http.request", "body": unread.pop(), "more_body": False}

    return receive
