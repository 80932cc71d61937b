"""MCP without a session, for AgentChatBus's clients: one request, one answer in JSON.

`POST /mcp/messages` takes `{method, params}` and answers `{result}`; `POST /api/mcp/tool/{name}` takes a tool's
arguments and answers with the blocks of its result. What is wrong is a 400 with `error`.
"""

import anyio
import mcp_types as types
import msgspec
from starlette.types import Message, Receive, Scope, Send

from greenroom.doors.mcp import TOOL_PREFIX
from greenroom.doors.mcp.exchange import EVENTS, JSON, ClientGone, Exchange, Params, Rejected, encode
from greenroom.doors.mcp.http import StreamableHttp
from greenroom.doors.mcp.server import McpService, ToolResult, describe_unknown_tool, read_caller
from greenroom.json_types import JsonObject
from greenroom.settings import Settings

_VERSION = (b"mcp-protocol-version", b"2025-06-18")


class SingleRequest(msgspec.Struct):
    """A request as these clients send it: neither `jsonrpc` nor `id` is needed."""

    method: str
    params: Params | None = None


class SingleCalls:
    """Both endpoints."""

    def __init__(self, service: McpService, streamable: StreamableHttp, settings: Settings) -> None:
        self._service = service
        self._streamable = streamable
        self._max_body_bytes = settings.max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        http = Exchange(scope, receive, send)
        try:
            if scope["method"] != "POST":
                raise Rejected(405, types.INVALID_REQUEST, "Method Not Allowed", headers=[(b"allow", b"POST")])
            body = await http.read_json(self._max_body_bytes)
            path = scope["path"]
            if path.startswith(TOOL_PREFIX):
                blocks = (await self._call(http, path.removeprefix(TOOL_PREFIX), body or b"{}")).content
                await http.reply(200, encode(blocks))
            else:
                await self._answer(http, body)
        except Rejected as no:
            said = {"error": no.message, "detail": no.message, "code": "bad_request"}
            await http.reply(no.status, encode(said), no.headers)
        except ClientGone:
            return

    async def _answer(self, http: Exchange, body: bytes) -> None:
        try:
            request = msgspec.json.decode(body, type=SingleRequest)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise Rejected(400, types.INVALID_REQUEST, f"Invalid request: {error}") from error
        params = request.params or Params()
        if request.method == "tools/call":
            arguments = bytes(params.arguments)
            result = await self._call(http, str(params.name), b"{}" if arguments == b"null" else arguments)
            await http.reply(200, encode({"result": result.content}))
            return
        given = msgspec.json.decode(body).get("params") or {}
        answer = await self._send_request(http, {"jsonrpc": "2.0", "id": 1, "method": request.method, "params": given})
        if "result" not in answer:
            raise Rejected(400, types.INVALID_REQUEST, str(answer.get("error", {}).get("message", "MCP_ERROR")))
        result = answer["result"]
        await http.reply(200, encode({"result": result["tools"] if request.method == "tools/list" else result}))

    async def _call(self, http: Exchange, name: str, arguments: bytes) -> ToolResult:
        caller = read_caller(http.scope)
        tool = self._service.get_tool(caller.by, name)
        if tool is None:
            self._service.record_unknown_tool(caller.by, name)
            raise Rejected(400, types.INVALID_PARAMS, describe_unknown_tool(name))
        result = None
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(http.cancel_when_gone, tasks.cancel_scope)
            result = await self._service.call_tool(tool, caller, arguments)
            tasks.cancel_scope.cancel()
        if result is None or http.is_gone:
            raise ClientGone
        return result

    async def _send_request(self, http: Exchange, request: JsonObject) -> JsonObject:
        """What streamable HTTP answers to a request that belongs to no session."""
        headers = [(b"accept", JSON + b", " + EVENTS), (b"content-type", JSON), _VERSION]
        inner = {**http.scope, "path": "/mcp", "headers": headers}
        parts: list[bytes] = []

        async def keep(message: Message) -> None:
            parts.append(message.get("body", b""))

        await self._streamable.answer_request(inner, http.build_replay(encode(request)), keep)
        answered: JsonObject = msgspec.json.decode(b"".join(parts) or b"{}")
        return answered
