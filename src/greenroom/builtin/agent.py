"""The agent's side of ACP: sessions, and turns that run in their own event loop while the main thread reads."""

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Protocol

from greenroom import __version__
from greenroom.rehearsal.json_rpc import Json, JsonRpcConnection, RpcError

_CAPABILITIES = {
    "loadSession": True,
    "mcpCapabilities": {"http": True, "sse": False},
    "promptCapabilities": {"image": False, "audio": False, "embeddedContext": False},
    "sessionCapabilities": {"resume": {}},
}


class AcpAgentSession(Protocol):
    """One session of an agent."""

    async def begin(self) -> None:
        """Get ready. Raises RpcError if that fails."""
        ...

    async def run_turn(self, request: Any, prompt: str) -> None:
        """Answer a prompt. The turn ends with an answer to the request, also when something goes wrong."""
        ...


SessionFactory = Callable[[JsonRpcConnection, str, Json], AcpAgentSession]


class AcpAgent:
    """An ACP agent on the standard streams: answers requests, and runs the turns of its sessions."""

    def __init__(self, name: str, build_session: SessionFactory, is_known: Callable[[str], bool]) -> None:
        self._name = name
        self._build_session = build_session
        self._is_known = is_known
        self._wire = JsonRpcConnection()
        self._loop = asyncio.new_event_loop()
        self._sessions: dict[str, AcpAgentSession] = {}
        self._turns: dict[str, Future[None]] = {}
        threading.Thread(target=self._loop.run_forever, daemon=True).start()

    def serve(self) -> None:
        """Serve until the client closes its end."""
        self._wire.serve(self._handle)

    def _handle(self, method: str, params: Json, request: Any) -> Json | None:
        """The answer, or None when it comes later or never."""
        match method:
            case "initialize":
                info = {"name": self._name, "title": "Greenroom", "version": __version__}
                return {"protocolVersion": 1, "agentCapabilities": _CAPABILITIES, "agentInfo": info, "authMethods": []}
            case "session/new":
                id = os.urandom(16).hex()
                self._begin_session(id, params)
                return {"sessionId": id}
            case "session/load" | "session/resume":
                id = str(params.get("sessionId"))
                if not self._is_known(id):
                    raise RpcError(f"There is no session {id[:64]}", -32602)
                self._begin_session(id, params)
                return {}
            case "session/prompt":
                self._start_turn(params, request)
                return None
            case "session/cancel":
                turn = self._turns.get(str(params.get("sessionId")))
                if turn is not None:
                    turn.cancel()
                return None
            case _:
                raise RpcError(f"Method not found: {method}", -32601)

    def _begin_session(self, id: str, params: Json) -> None:
        session = self._build_session(self._wire, id, params)
        asyncio.run_coroutine_threadsafe(session.begin(), self._loop).result()
        self._sessions[id] = session

    def _start_turn(self, params: Json, request: Any) -> None:
        id = str(params.get("sessionId"))
        session = self._sessions.get(id)
        if session is None:
            raise RpcError("There is no such session", -32602)
        texts = [block.get("text", "") for block in params.get("prompt", []) if block.get("type") == "text"]
        turn = session.run_turn(request, "\n".join(texts))
        self._turns[id] = asyncio.run_coroutine_threadsafe(turn, self._loop)
