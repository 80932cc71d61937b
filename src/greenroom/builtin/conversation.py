"""One conversation with a model: its turns, streamed to the client, and its memory in a file."""

import asyncio
import os
from pathlib import Path
from typing import Any, Literal

from pydantic_ai import Agent
from pydantic_ai.exceptions import AgentRunError, UserError
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
)
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import UsageLimits

from greenroom.builtin.tools import PermissionToolset
from greenroom.log.data_directory import write_private
from greenroom.rehearsal.json_rpc import Json, JsonRpcConnection

STATE = "GREENROOM_BUILTIN_STATE"
"""The variable that names the folder of memories; without it a folder in the user's state directory."""
_REQUESTS = 200


def build_memory_path(session: str) -> Path:
    """The file in which a session is remembered."""
    state = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    folder = os.environ.get(STATE) or f"{state}/greenroom/builtin"
    return Path(folder).expanduser() / f"{session}.json"


def is_known_session(session: str) -> bool:
    return session.isalnum() and build_memory_path(session).is_file()


def build_model_name(model: str) -> str:
    """OpenAI's models by its chat dialect, which every server that is like it speaks too."""
    return f"openai-chat:{model.removeprefix('openai:')}" if model.startswith("openai:") else model


class ModelConversation:
    """Plays the prompts of one session, one after the other."""

    def __init__(self, wire: JsonRpcConnection, session: str, params: Json) -> None:
        self._wire = wire
        self._session = session
        given = (params.get("_meta") or {}).get("greenroom") or {}
        self._model = build_model_name(str(given.get("model") or ""))
        self._instructions = given.get("instructions")
        temperature = given.get("temperature")
        self._settings = None if temperature is None else ModelSettings(temperature=float(temperature))
        servers = [server for server in params.get("mcpServers") or [] if server.get("type") == "http"]
        self._toolsets = [PermissionToolset(self._build_toolset(server), wire, session) for server in servers]
        self._history: list[ModelMessage] = []
        self._turn = asyncio.Lock()
        path = build_memory_path(session)
        if path.exists():
            self._history = ModelMessagesTypeAdapter.validate_json(path.read_bytes())
        else:
            self._save_history()

    async def begin(self) -> None:
        """The model is asked when there is a prompt, and its tools are looked for then."""

    def _build_toolset(self, server: Json) -> MCPToolset[object]:
        headers = {header["name"]: header["value"] for header in server.get("headers") or []}
        return MCPToolset(server["url"], headers=headers)

    def _save_history(self) -> None:
        path = build_memory_path(self._session)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(path, ModelMessagesTypeAdapter.dump_json(self._history))

    async def run_turn(self, request: Any, prompt: str) -> None:
        """Answer a prompt; what goes wrong is the answer too."""
        try:
            async with self._turn:
                answer: Json = {"result": {"stopReason": "end_turn", **await self._run_prompt(prompt)}}
        except asyncio.CancelledError:
            answer = {"result": {"stopReason": "cancelled"}}
        except (AgentRunError, UserError, OSError, ValueError) as error:
            answer = {"error": {"code": -32603, "message": str(error)[:2000]}}
        except BaseExceptionGroup as several:
            answer = {"error": {"code": -32603, "message": f"the hub's tools failed: {several.exceptions[0]}"[:2000]}}
        self._wire.send({"id": request, **answer})

    async def _run_prompt(self, prompt: str) -> Json:
        if not self._model:
            raise ValueError('the profile names no model: write model = "openai:..." or "anthropic:..."')
        agent: Agent[object, str] = Agent(
            self._model, instructions=self._instructions, toolsets=self._toolsets, model_settings=self._settings
        )
        limits = UsageLimits(request_limit=_REQUESTS)
        async with agent.iter(prompt, message_history=self._history, usage_limits=limits) as run:
            async for node in run:
                if Agent.is_model_request_node(node):
                    async with node.stream(run.ctx) as events:
                        async for event in events:
                            self._handle_event(event)
        assert run.result is not None  # noqa: S101 it has ended
        self._history = run.result.all_messages()
        self._save_history()
        used = run.result.usage
        counts = {"input_tokens": used.input_tokens, "output_tokens": used.output_tokens}
        models = [{"model": self._model, "token_count": counts}]
        return {"_meta": {"quota": {"token_count": counts, "model_usage": models}}}

    def _handle_event(self, event: object) -> None:
        match event:
            case PartStartEvent(part=TextPart(content=text)) | PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
                self._send_text("agent_message_chunk", text)
            case (
                PartStartEvent(part=ThinkingPart(content=text))
                | PartDeltaEvent(delta=ThinkingPartDelta(content_delta=str(text)))
            ):
                self._send_text("agent_thought_chunk", text)

    def _send_text(self, kind: Literal["agent_message_chunk", "agent_thought_chunk"], text: str) -> None:
        if text:
            update = {"sessionUpdate": kind, "content": {"type": "text", "text": text}}
            self._wire.notify("session/update", {"sessionId": self._session, "update": update})
