"""One connection to the MCP server, with turns that are one call of the tool each."""

import asyncio
import json
import os
from typing import Any, Literal

import httpx2
from mcp import Client, MCPError, StdioServerParameters, types
from mcp.client.streamable_http import streamable_http_client

from greenroom.rehearsal.json_rpc import Json, JsonRpcConnection, RpcError
from greenroom.tool_agent.tool_choice import CHOICE, ToolChoice, read_own_choice

_CONNECT_S = 60.0


class ToolConversation:
    """Holds the server for as long as the session lasts."""

    def __init__(self, wire: JsonRpcConnection, session: str, params: Json) -> None:
        self._wire = wire
        self._session = session
        self._choice = read_own_choice()
        self._server: Client | None = None
        self._holding: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._holding = asyncio.create_task(self._keep_connected(ready))
        try:
            async with asyncio.timeout(_CONNECT_S):
                self._server = await ready
                await self._need_tool(self._server)
        except TimeoutError:
            raise RpcError(f"the MCP server was not ready within {_CONNECT_S:g} s") from None
        except (OSError, MCPError, ValueError) as error:
            raise RpcError(f"the MCP server cannot be used: {error}") from None

    async def _keep_connected(self, ready: "asyncio.Future[Client]") -> None:
        """Open and close in one task, as the library wants it."""
        try:
            async with Client(_build_target(self._choice), elicitation_callback=self._elicit) as client:
                ready.set_result(client)
                await asyncio.Event().wait()
        except Exception as error:
            if ready.done():
                raise
            ready.set_exception(ConnectionError(_explain_error(error)))

    async def _need_tool(self, server: Client) -> None:
        """Refuse a tool or an argument that is not there at once, and not at the first prompt."""
        tools = {tool.name: tool for tool in (await server.list_tools()).tools}
        tool = tools.get(self._choice.tool)
        if tool is None:
            raise RpcError(f"the MCP server has no tool '{self._choice.tool}'; it has {', '.join(tools) or 'none'}")
        known = tool.input_schema.get("properties") or {}
        lacking = [name for name in (self._choice.prompt_argument, *self._choice.arguments) if name not in known]
        if lacking and tool.input_schema.get("additionalProperties") is not True:
            raise RpcError(
                f"the tool '{tool.name}' has no argument '{lacking[0]}'; it has {', '.join(known) or 'none'}:"
                " see options.prompt_argument and options.arguments"
            )

    async def run_turn(self, request: Any, prompt: str) -> None:
        arguments = {**self._choice.arguments, self._choice.prompt_argument: prompt}
        try:
            assert self._server is not None  # noqa: S101 a session is known once it has begun
            result = await self._server.call_tool(self._choice.tool, arguments, progress_callback=self._handle_progress)
            answer = self._build_answer(result)
        except asyncio.CancelledError:
            answer = {"result": {"stopReason": "cancelled"}}
        except (MCPError, OSError, ValueError, RuntimeError) as error:
            answer = {"error": {"code": -32603, "message": f"the MCP server failed: {error}"[:2000]}}
        self._wire.send({"id": request, **answer})

    def _build_answer(self, result: types.CallToolResult) -> Json:
        text = "\n".join(filter(None, map(_format_block, result.content)))
        if result.is_error:
            return {"error": {"code": -32603, "message": text[:2000] or "the tool failed"}}
        if not text and result.structured_content is not None:
            text = json.dumps(result.structured_content, ensure_ascii=False)
        self._send_text("agent_message_chunk", text)
        output = {} if result.structured_content is None else {"output": result.structured_content}
        return {"result": {"stopReason": "end_turn", "_meta": {"greenroom": output}}}

    async def _handle_progress(self, progress: float, total: float | None, message: str | None) -> None:
        of = "" if total is None else f" of {total:g}"
        self._send_text("agent_thought_chunk", f"{message or f'{progress:g}{of}'}\n")

    async def _elicit(self, context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        """What the server asks a person goes to whoever answers for this agent."""
        asked = params.model_dump(mode="json", by_alias=True, exclude_none=True)
        try:
            given = await asyncio.to_thread(self._wire.request, "elicitation/create", asked)
        except RpcError:
            return types.ElicitResult(action="decline")
        return types.ElicitResult.model_validate(given)

    def _send_text(self, kind: Literal["agent_message_chunk", "agent_thought_chunk"], text: str) -> None:
        if text:
            update = {"sessionUpdate": kind, "content": {"type": "text", "text": text}}
            self._wire.notify("session/update", {"sessionId": self._session, "update": update})


def _build_target(choice: ToolChoice) -> Any:
    if choice.url is None:
        env = {name: value for name, value in os.environ.items() if name != CHOICE}
        return StdioServerParameters(command=choice.command[0], args=choice.command[1:], env=env)
    token = os.environ.get(choice.bearer_env) if choice.bearer_env else None
    if choice.bearer_env and not token:
        raise ValueError(f"{choice.bearer_env} is not set: pass it on with pass_env")
    headers = {"Authorization": f"Bearer {token}"} if token else None
    timeout = httpx2.Timeout(10.0, read=None, pool=None)  # a tool may take its time
    return streamable_http_client(choice.url, http_client=httpx2.AsyncClient(headers=headers, timeout=timeout))


def _format_block(block: Any) -> str:
    match block:
        case types.TextContent(text=text):
            return text
        case types.EmbeddedResource(resource=types.TextResourceContents(text=text)):
            return text
        case types.ResourceLink(uri=uri):
            return str(uri)
        case _:
            return f"({block.type})"


def _explain_error(error: BaseException) -> str:
    """The first sentence in what may be a group of errors."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error) or type(error).__name__
