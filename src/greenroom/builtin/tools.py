"""Tools that ask before they run, and report to the client what they did."""

import asyncio
import json
import os
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.exceptions import ModelRetry
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool, WrapperToolset

from greenroom.rehearsal.json_rpc import Json, JsonRpcConnection, RpcError

_OPTIONS = [
    {"optionId": "yes", "name": "Allow once", "kind": "allow_once"},
    {"optionId": "no", "name": "Refuse", "kind": "reject_once"},
]
_REFUSED = "A person has refused this call. Do not try it again; go on without it, or say that you cannot."


class PermissionToolset(WrapperToolset[object]):
    """Each call is announced, asked for, carried out and reported."""

    def __init__(self, wrapped: AbstractToolset[object], wire: JsonRpcConnection, session: str) -> None:
        super().__init__(wrapped)
        self._wire = wire
        self._session = session

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[object], tool: ToolsetTool[object]
    ) -> Any:
        call = f"call_{os.urandom(6).hex()}"
        told = {"toolCallId": call, "kind": "other", "title": f"greenroom_{name}", "rawInput": tool_args}
        named = {"name": f"mcp__greenroom__{name}", "sessionUpdate": "tool_call", "status": "pending"}
        self._send_update({**told, **named})
        if not await self._ask_permission(told):
            self._finish_call(call, False, "refused")
            return _REFUSED
        try:
            result = await super().call_tool(name, tool_args, ctx, tool)
        except ModelRetry as error:
            self._finish_call(call, False, str(error))
            raise
        self._finish_call(call, True, result if isinstance(result, str) else json.dumps(result, default=str))
        return result

    async def _ask_permission(self, told: Json) -> bool:
        """Wait for approval, however long. A client that cancels the turn answers so."""
        params = {"sessionId": self._session, "toolCall": {**told, "status": "pending"}, "options": _OPTIONS}
        try:
            answer = await asyncio.to_thread(self._wire.request, "session/request_permission", params)
        except RpcError:
            return False
        outcome = answer.get("outcome") or {}
        if outcome.get("outcome") != "selected":
            raise asyncio.CancelledError
        return bool(outcome.get("optionId") == "yes")

    def _finish_call(self, call: str, ok: bool, output: str) -> None:
        content = [{"type": "content", "content": {"type": "text", "text": output}}]
        status = "completed" if ok else "failed"
        self._send_update(
            {"sessionUpdate": "tool_call_update", "toolCallId": call, "status": status, "content": content}
        )

    def _send_update(self, update: Json) -> None:
        self._wire.notify("session/update", {"sessionId": self._session, "update": update})
