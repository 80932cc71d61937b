"""Streamable HTTP: the SDK handles everything except tool calls, which take a shorter path of their own.

A tool call through the SDK costs several times what the call itself does, so this door parses, runs and answers
`tools/call` itself, with the SDK's checks of the headers against the body. Whatever else a client sends goes to the
SDK's stateless server. The sessions of older clients are kept here, because all that they hold is an owner.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio
import mcp_types as types
import msgspec
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    InboundLadderRejection,
    classify_inbound_request,
    find_duplicated_routing_header,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.types import Message, Receive, Scope, Send

from greenroom.doors.mcp.exchange import (
    EVENTS,
    JSON,
    SESSION_ID,
    ClientGone,
    Exchange,
    Params,
    Rejected,
    RequestId,
    RpcMessage,
    build_error_body,
    encode,
)
from greenroom.doors.mcp.server import (
    PROGRESS_S,
    McpService,
    ToolResult,
    build_server,
    describe_unknown_tool,
    read_caller,
    send_progress_until_cancelled,
)
from greenroom.doors.mcp.sessions import McpSession, McpSessions
from greenroom.doors.mcp.tool_changes import ToolChangeNotifier, send_tool_changes
from greenroom.settings import Settings

REQUEST_CANCELLED = -32800
"""What the SDK, too, answers when a client of 2025-11-25 has cancelled its request."""
VERSION = b"mcp-protocol-version"
RETRY = [(b"retry-after", b"60")]
_WITHOUT_HEADER = "2025-03-26"
"""What a client speaks that does not say so, by the protocol."""


class StreamableHttp:
    """The endpoint `/mcp`, for clients of every version."""

    def __init__(self, service: McpService, settings: Settings, progress_s: float = PROGRESS_S) -> None:
        self.sessions = McpSessions(settings.max_mcp_sessions, settings.mcp_idle_s)
        self._news = ToolChangeNotifier(service.hub, self.sessions)
        server = build_server(service, self._news.listen)
        self._service = service
        self._sdk = StreamableHTTPSessionManager(
            server, json_response=True, stateless=True, max_request_body_size=settings.max_body_bytes
        )
        self._max_body_bytes = settings.max_body_bytes
        self._progress_s = progress_s
        self._modern_marks = {"resultType": "complete", "_meta": {types.SERVER_INFO_META_KEY: server.server_info_stamp}}

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Serve while this is entered; sessions end with it."""
        async with self._sdk.run(), anyio.create_task_group() as tasks:
            if self._service.foreign is not None:  # else no tool ever changes
                tasks.start_soon(self._news.run)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()
                self.end_streams()
                self.sessions.end_all()

    def end_streams(self) -> None:
        """End the streams on which clients get notifications, and nothing else."""
        self._news.listen.close()
        self.sessions.end_streams()

    async def answer_request(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request that is no tool call, without a session."""
        await self._sdk.handle_request(scope, receive, send)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        http = Exchange(scope, receive, send)
        try:
            await self._serve(http)
        except Rejected as no:
            await http.reject(no)
        except ClientGone:
            return

    async def _serve(self, http: Exchange) -> None:
        method = http.scope["method"]
        version = http.get_header(VERSION)
        is_modern = version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS
        if http.has_duplicates():
            _refuse_duplicates(http.scope)
        if method == "POST":
            if not http.accepts(JSON):
                raise Rejected(406, types.INVALID_REQUEST, "Not Acceptable: the client must accept application/json")
            body, message = await http.read_message(self._max_body_bytes)
            await (self._serve_modern if is_modern else self._serve_session)(http, body, message)
        elif is_modern or method not in ("GET", "DELETE"):
            allow = b"POST" if is_modern else b"GET, POST, DELETE"
            raise Rejected(405, types.INVALID_REQUEST, "Method Not Allowed", headers=[(b"allow", allow)])
        elif method == "GET":
            await self._stream(http, self._need_session(http))
        else:
            self.sessions.end(self._need_session(http))
            await http.reply(200)

    async def _serve_modern(self, http: Exchange, body: bytes, message: RpcMessage) -> None:
        if message.method != "tools/call" or message.id is msgspec.UNSET:
            await self._sdk.handle_request(http.scope, http.build_replay(body), http.send)
            return
        params = message.params or Params()
        headers = {name: value for name in _ROUTING if (value := http.get_header(name.encode())) is not None}
        route = classify_inbound_request(
            {"method": message.method, "params": {"_meta": params.meta, "name": params.name}}, headers=headers
        )
        if isinstance(route, InboundLadderRejection):
            status = ERROR_CODE_HTTP_STATUS[route.code]
            raise Rejected(status, route.code, route.message, route.data)
        if not isinstance(route.client_capabilities, dict):
            raise Rejected(400, types.INVALID_PARAMS, "clientCapabilities must be an object")
        await self._call(http, message.id, params, None)

    async def _serve_session(self, http: Exchange, body: bytes, message: RpcMessage) -> None:
        params = message.params or Params()
        if isinstance(params.meta, dict) and types.PROTOCOL_VERSION_META_KEY in params.meta:
            text = "mcp-protocol-version header does not match the request envelope's protocol version"
            raise Rejected(400, types.HEADER_MISMATCH, text)
        if message.method == "initialize":
            await self._open(http, body)
            return
        session = self._need_session(http)
        if message.id is msgspec.UNSET or message.method is msgspec.UNSET:
            if message.method == "notifications/cancelled":
                session.cancel(params.request_id)
            await http.reply(202)
        elif message.method == "tools/call":
            await self._call(http, message.id, params, session)
        else:
            headers = [*http.scope["headers"], (VERSION, session.version.encode())]
            scope = http.scope if http.get_header(VERSION) else {**http.scope, "headers": headers}
            await self._sdk.handle_request(scope, http.build_replay(body), http.send)

    async def _open(self, http: Exchange, body: bytes) -> None:
        """Let the SDK answer `initialize`, and open a session if it does not refuse."""
        if http.get_header(SESSION_ID) is not None:
            self._need_session(http)
            raise Rejected(400, types.INVALID_REQUEST, "This session is initialized already")
        owner = read_caller(http.scope).by.id
        if self.sessions.is_full():
            raise Rejected(503, types.INTERNAL_ERROR, "Too many open sessions", headers=RETRY)
        if self.sessions.is_full_for(owner):
            raise Rejected(429, types.INTERNAL_ERROR, "Too many open sessions of yours", headers=RETRY)
        session = self.sessions.open(owner)
        start: Message = {}

        async def send(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
                return
            if not session.version and start["status"] == 200:
                session.version = _read_negotiated_version(message["body"])
                if session.version:
                    start["headers"].append((SESSION_ID, session.id.encode()))
            await http.send(start)
            await http.send(message)

        try:
            await self._sdk.handle_request(http.scope, http.build_replay(body), send)
        finally:
            if not session.version:
                self.sessions.end(session)

    async def _call(self, http: Exchange, id: RequestId, params: Params, session: McpSession | None) -> None:
        if not isinstance(params.name, str):
            raise _build_invalid_params(session, "params.name must be a string")
        caller = read_caller(http.scope)
        tool = self._service.get_tool(caller.by, params.name)
        if tool is None:
            self._service.record_unknown_tool(caller.by, params.name)
            raise _build_invalid_params(session, describe_unknown_tool(params.name))
        arguments = bytes(params.arguments)
        given = b"{}" if arguments == b"null" else arguments
        run = partial(self._service.call_tool, tool, caller, given, meta=params.meta)
        if tool.waits:
            await self._wait(http, id, run, _get_progress_token(http, params.meta), session)
        else:
            await http.reply(200, self._build_success(id, await run(), session))

    async def _wait(
        self, http: Exchange, id: RequestId, run: Any, token: RequestId | None, session: McpSession | None
    ) -> None:
        """Run a call that may take long. It ends early when the client cancels it or disconnects.

        The protocol of 2025-11-25 prefers that it continues when the client disconnects. But then nobody could get the
        answer, and what the call waits for (a message, a person's answer) is in the log, where the next call finds it.
        """
        if session is not None and id in session.in_flight:
            raise Rejected(400, types.INVALID_REQUEST, f"Request {id} is in flight already")
        result: ToolResult | None = None
        try:
            with anyio.CancelScope() as scope:
                if session is not None:
                    session.in_flight[id] = scope
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(http.cancel_when_gone, scope)
                    if token is not None:
                        tasks.start_soon(
                            send_progress_until_cancelled, partial(_send_progress, http, token), self._progress_s
                        )
                    result = await run(has_progress=token is not None)
                    tasks.cancel_scope.cancel()
        finally:
            if session is not None:
                del session.in_flight[id]
                self.sessions.touch(session)
        if http.is_gone:
            return
        cancelled = build_error_body(id, REQUEST_CANCELLED, "Request cancelled")
        await http.reply(200, cancelled if result is None else self._build_success(id, result, session))

    async def _stream(self, http: Exchange, session: McpSession) -> None:
        """The stream from hub to client, which stays open: on it the client gets changes of the list of tools."""
        if not http.accepts(EVENTS):
            raise Rejected(406, types.INVALID_REQUEST, "Not Acceptable: the client must accept text/event-stream")
        if session.stream is not None:
            raise Rejected(409, types.INVALID_REQUEST, "Only one stream is allowed per session")
        try:
            with anyio.CancelScope() as session.stream:
                await http.begin_stream()
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(send_progress_until_cancelled, http.send_ping, PROGRESS_S)
                    tasks.start_soon(send_tool_changes, http, session)
                    await http.wait_until_gone()
                    tasks.cancel_scope.cancel()
        finally:
            session.stream = None
            self.sessions.touch(session)
        if not http.is_gone:
            await http.end_stream()

    def _need_session(self, http: Exchange) -> McpSession:
        session_id = http.get_header(SESSION_ID)
        if session_id is None:
            raise Rejected(400, types.INVALID_REQUEST, "Missing session ID: initialize first")
        session = self.sessions.get(session_id, read_caller(http.scope).by.id)
        if session is None:
            raise Rejected(404, types.INVALID_REQUEST, "Session not found")
        session.version = session.version or http.get_header(VERSION) or _WITHOUT_HEADER
        return session

    def _build_success(self, id: RequestId, result: ToolResult, session: McpSession | None) -> bytes:
        if session is not None:
            return encode({"jsonrpc": "2.0", "id": id, "result": result})
        marked = {"content": result.content, "isError": result.is_error} | self._modern_marks
        if result.structured_content is not msgspec.UNSET:
            marked["structuredContent"] = result.structured_content
        return encode({"jsonrpc": "2.0", "id": id, "result": marked})


def _build_invalid_params(session: McpSession | None, message: str) -> Rejected:
    return Rejected(200 if session is not None else 400, types.INVALID_PARAMS, message)


async def _send_progress(http: Exchange, token: RequestId, waited_s: float) -> None:
    params = {"progressToken": token, "progress": waited_s, "message": "still waiting"}
    await http.begin_stream()
    await http.send_event(encode({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}))


def _get_progress_token(http: Exchange, meta: Any) -> RequestId | None:
    token = meta.get("progressToken") if isinstance(meta, dict) and http.accepts(EVENTS) else None
    return token if isinstance(token, int | str) and not isinstance(token, bool) else None


def _read_negotiated_version(body: bytes) -> str:
    match msgspec.json.decode(body):
        case {"result": {"protocolVersion": str(version)}}:
            return version
        case _:
            return ""


_ROUTING = ("mcp-protocol-version", "mcp-method", "mcp-name")


def _refuse_duplicates(scope: Scope) -> None:
    headers = [(name.decode("latin-1"), "") for name, _ in scope["headers"]]
    duplicated = find_duplicated_routing_header(headers)
    if duplicated is None and headers.count((SESSION_ID.decode(), "")) > 1:
        duplicated = SESSION_ID.decode()
    if duplicated is not None:
        raise Rejected(400, types.HEADER_MISMATCH, f"{duplicated} header appears more than once")
