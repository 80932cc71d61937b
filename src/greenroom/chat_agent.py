"""`greenroom.Agent`: chat with a model with MCP tools from Python. It is an agent of the hub like every other."""

import asyncio
import hashlib
import inspect
import json
import logging
import secrets
from argparse import Namespace
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from types import TracebackType
from typing import Any

from greenroom.cli.client import find_hub
from greenroom.errors import Refused

logger = logging.getLogger(__name__)
MODELS = {
    "deepseek": ("deepseek:deepseek-chat", "DEEPSEEK_API_KEY"),
    "openai": ("openai:gpt-5", "OPENAI_API_KEY"),
    "anthropic": ("anthropic:claude-sonnet-4-5", "ANTHROPIC_API_KEY"),
}
"""Providers by name: the model that is meant when none is named, and the variable that holds the key."""
_TOOLS_S = 30.0
_LOOK_S = 0.2


class Chunk(str):
    """A piece of a conversation: the agent's text, or something else that `kind` and `data` describe.

    A chunk of the kind `permission` is a call that waits: `await chunk.approve()` or `await chunk.deny("why")`.
    It waits until then, or until the person answers on another device.
    """

    kind: str
    data: dict[str, Any]
    _agent: "ChatAgent"

    @classmethod
    def from_line(cls, agent: "ChatAgent", line: dict[str, Any]) -> "Chunk":
        chunk = cls(line.get("content", "") if line["type"] == "content" else "")
        chunk.kind = {"tool_permission_request": "permission", "tool_execution_status": "status"}.get(
            line["type"], line["type"]
        )
        chunk.data = line
        chunk._agent = agent
        return chunk

    async def approve(self) -> None:
        """Let the call run."""
        await self._agent.answer(self, True)

    async def deny(self, words: str = "") -> None:
        """Refuse the call; the words reach the model."""
        await self._agent.answer(self, False, words)


Approve = Callable[[Chunk], bool | Awaitable[bool | None] | None]
"""Decides on a call that waits: True lets it run, False refuses it, None leaves it to the person's other devices."""


class ChatAgent:
    """A model with tools behind the hub. Use it as an async context manager, or call `close`."""

    def __init__(self, url: str, token: str, profile: str) -> None:
        import httpx2

        self.profile = profile
        self.session_id = f"agent-{secrets.token_hex(8)}"
        """The session of chats that name none: of this object alone, so that no two agents share a memory."""
        headers = {"Authorization": f"Bearer {token}"}
        self._http = httpx2.AsyncClient(base_url=url, headers=headers, timeout=httpx2.Timeout(30, read=None))

    @classmethod
    async def create(
        cls,
        model: str,
        *,
        tools: Mapping[str, Mapping[str, Any]] | None = None,
        instructions: str | None = None,
        profile: str | None = None,
        env: Mapping[str, str] | None = None,
        approvals: str = "on_risk",
        url: str | None = None,
        token: str | None = None,
        data: str | None = None,
    ) -> "ChatAgent":
        """An agent on a model: a provider's name (deepseek, openai, anthropic), or `provider:model`.

        `tools` are MCP servers by name, as the hub takes them: {"files": {"command": [...]}} or {"web": {"url": ...}}.
        The hub is found as the command line finds it; the provider's key comes from the node's environment or `env`.
        """
        chosen, key = MODELS.get(model, (model, MODELS.get(model.partition(":")[0], ("", ""))[1]))
        described = json.dumps([chosen, instructions, approvals, sorted((env or {}).items()), tools], sort_keys=True)
        name = profile or f"agent-{hashlib.sha256(described.encode()).hexdigest()[:12]}"
        found = find_hub(Namespace(data=data, url=url, token=token, token_file=None, insecure=False))
        agent = cls(*found, name)
        try:
            definition: dict[str, Any] = {
                "driver": "builtin",
                "model": chosen,
                "approvals": approvals,
                "env": dict(env or {}),
            }
            definition |= {"instructions": instructions, "pass_env": [key] if key else []}
            await agent._send_request("PUT", f"/api/profiles/{name}", definition)
            for server, described_as in (tools or {}).items():
                await agent._register_server(server, dict(described_as))
        except BaseException:
            await agent.close()
            raise
        return agent

    @classmethod
    async def create_with_mcp_tools(
        cls,
        provider: str,
        model_name: str = "",
        mcp_servers: Mapping[str, Mapping[str, Any]] | None = None,
        **more: Any,
    ) -> "ChatAgent":
        """As `create`, by the names that users of agent_backend's CoreAgent know: `mcp_servers` are the tools."""
        return await cls.create(f"{provider}:{model_name}" if model_name else provider, tools=mcp_servers, **more)

    async def chat(
        self,
        message: str,
        session_id: str | None = None,
        *,
        thread_id: str | None = None,
        enable_tools: bool = True,
        attachments: list[Any] | None = None,
        approve: Approve | None = None,
    ) -> AsyncIterator[Chunk]:
        """Say something; yields what the agent says as it says it, and the calls that wait for approval.

        A session is a memory, and belongs to the agent that began it: an agent of another model, other instructions or
        other tools is refused it. `thread_id` is CoreAgent's name for the same; without either it is `self.session_id`.
        With `approve` calls are decided by it; they are yielded all the same.
        """
        body = {
            "session_id": session_id or thread_id or self.session_id,
            "message": message,
            "enable_mcp_tools": enable_tools,
        }
        body |= {"attachments": attachments or [], "profile": self.profile}
        async with self._http.stream("POST", "/agent_backend/chat/chat", json=body) as response:
            if response.status_code != 200:
                raise _parse_refusal(response.status_code, await response.aread())
            async for text in response.aiter_lines():
                chunk = Chunk.from_line(self, json.loads(text))
                if chunk.kind == "error":
                    raise Refused.in_words(str(chunk.data.get("error")), str(chunk.data.get("message")))
                if chunk.kind == "permission" and approve is not None:
                    decided = approve(chunk)
                    verdict = await decided if inspect.isawaitable(decided) else decided
                    if verdict is not None:
                        await self.answer(chunk, verdict)
                yield chunk

    async def answer(self, chunk: Chunk, approved: bool, words: str = "") -> None:
        """Decide on a call that waits. Somebody may have been first: then theirs counts, and this says so."""
        body = {"session_id": chunk.data["session_id"], "request_id": chunk.data["request_id"]}
        await self._send_request(
            "POST", "/agent_backend/chat/permission-response", {**body, "approved": approved, "user_feedback": words}
        )

    async def _register_server(self, server: str, definition: dict[str, Any]) -> None:
        """Register an MCP server. Who hands it on here has seen its tools, and not what becomes of them later."""
        is_new = all(one["server"]["name"] != server for one in await self._send_request("GET", "/api/servers"))
        await self._send_request("PUT", f"/api/servers/{server}", definition)
        for _ in range(int(_TOOLS_S / _LOOK_S)):
            found = await self._send_request("GET", f"/api/servers/{server}")
            if found["tools"]:
                held = {tool["name"]: tool["seen"]["digest"] for tool in found["tools"] if tool["state"] == "held"}
                if is_new:
                    await self._send_request("POST", f"/api/servers/{server}/accept", {"tools": held})
                elif held:
                    names = ", ".join(sorted(held))
                    logger.warning(
                        "tools are new or changed, and are held: %s; see greenroom tools show %s", names, server
                    )
                return
            await asyncio.sleep(_LOOK_S)
        raise Refused.in_words(
            "no_tools", f"The MCP server '{server}' has told of no tools: {found['server'].get('error') or 'is it up?'}"
        )

    async def _send_request(self, method: str, path: str, body: Any = None) -> Any:
        response = await self._http.request(method, path, json=body)
        if response.status_code >= 400:
            raise _parse_refusal(response.status_code, response.content)
        return response.json() if response.content else None

    async def close(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> "ChatAgent":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()


def _parse_refusal(status: int, content: bytes) -> Refused:
    try:
        answer = json.loads(content)
        return Refused.in_words(str(answer.get("code", "refused")), str(answer["detail"]))
    except (ValueError, KeyError, TypeError, AttributeError):
        return Refused.in_words(
            "http_error", f"The hub's answer ({status}) cannot be understood: is the address right?"
        )
