"""The agent's side of ACP: sessions, and prompts that it carries out one after the other."""

import os
import queue
import threading
from typing import Any

from greenroom import __version__
from greenroom.rehearsal.directive_runner import Cancelled, DirectiveRunner
from greenroom.rehearsal.json_rpc import Json, JsonRpcConnection, RpcError
from greenroom.rehearsal.memory import SessionMemory
from greenroom.rehearsal.player import Player

_CAPABILITIES = {
    "loadSession": True,
    "mcpCapabilities": {"http": True, "sse": False},
    "promptCapabilities": {"image": False, "audio": False, "embeddedContext": False},
    "sessionCapabilities": {"resume": {}},
}


class RehearsalSession:
    """One conversation, and the thread that plays its prompts."""

    def __init__(self, wire: JsonRpcConnection, id: str, params: Json, can_ask: bool) -> None:
        self.id = id
        self._wire = wire
        self.memory = SessionMemory(id)
        self.actor = DirectiveRunner(wire, id, params, self.memory, can_ask)
        model = ((params.get("_meta") or {}).get("greenroom") or {}).get("model")
        self._player = Player(self.actor, self.memory, str(model or "script"))
        self._prompts: queue.SimpleQueue[tuple[Any, str, Json]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._waiting = 0
        threading.Thread(target=self._run_prompts, daemon=True).start()

    def queue_prompt(self, request: Any, text: str, about: Json) -> None:
        """Play a prompt after those that wait. `about` may name its task, and say `resumes` and `is_step` of it."""
        with self._lock:
            self._waiting += 1
            if self._waiting == 1:
                self.actor.cancelled.clear()
        self._prompts.put((request, text, about))

    def cancel(self) -> None:
        """Stop the prompt that is played, and those that wait."""
        with self._lock:
            if self._waiting:
                self.actor.cancelled.set()

    def _run_prompts(self) -> None:
        while True:
            request, text, about = self._prompts.get()
            answer = self._play_prompt(text, about)
            with self._lock:
                self._waiting -= 1
                if not self._waiting:
                    self.actor.cancelled.clear()
            self._wire.send({"id": request, **answer})

    def _play_prompt(self, text: str, about: Json) -> Json:
        task = str(about.get("task") or "")
        kind = {name: bool(about.get(name)) for name in ("resumes", "is_step")}
        try:
            return {"result": {"stopReason": "end_turn", **self._player.play(text, task, **kind)}}
        except Cancelled:
            return {"result": {"stopReason": "cancelled"}}
        except RpcError as error:
            return {"error": error.error}
        except OSError as error:  # its directory is gone, or the disk is full
            return {"error": RpcError(str(error)).error}


class RehearsalAgent:
    """Reads what the client sends, and answers."""

    def __init__(self) -> None:
        self._wire = JsonRpcConnection()
        self._sessions: dict[str, RehearsalSession] = {}
        self._can_ask = False

    def serve(self) -> None:
        """Serve until the client closes its end."""
        self._wire.serve(self._handle)

    def _handle(self, method: str, params: Json, request: Any) -> Json | None:
        """The answer, or None when it comes later or never."""
        match method:
            case "initialize":
                client = params.get("clientCapabilities") or {}
                self._can_ask = bool((client.get("elicitation") or {}).get("form") is not None)
                info = {"name": "rehearsal", "title": "Rehearsal", "version": __version__}
                return {"protocolVersion": 1, "agentCapabilities": _CAPABILITIES, "agentInfo": info, "authMethods": []}
            case "session/new":
                session = self._open_session(os.urandom(16).hex(), params)
                session.memory.create_file()
                return {"sessionId": session.id}
            case "session/load" | "session/resume":
                return self._resume_session(params, replays=method == "session/load")
            case "session/prompt":
                texts = [block.get("text", "") for block in params.get("prompt", []) if block.get("type") == "text"]
                about = (params.get("_meta") or {}).get("greenroom") or {}
                self._need_session(params).queue_prompt(request, "\n".join(texts), about)
                return None
            case "session/cancel":
                self._need_session(params).cancel()
                return None
            case _:
                raise RpcError(f"Method not found: {method}", -32601)

    def _open_session(self, id: str, params: Json) -> RehearsalSession:
        session = self._sessions[id] = RehearsalSession(self._wire, id, params, self._can_ask)
        return session

    def _resume_session(self, params: Json, *, replays: bool) -> Json:
        id = str(params.get("sessionId"))
        if not id.isalnum() or not SessionMemory(id).exists():
            raise RpcError(f"There is no session {id[:64]}", -32602)
        session = self._open_session(id, params)
        session.memory.load()
        for turn in session.memory.turns if replays else []:
            for kind, text in (("user_message_chunk", turn.prompt), ("agent_message_chunk", "\n".join(turn.said))):
                update = {"sessionUpdate": kind, "content": {"type": "text", "text": text}}
                self._wire.notify("session/update", {"sessionId": id, "update": update})
        session.actor.tell_cost()
        return {}

    def _need_session(self, params: Json) -> RehearsalSession:
        session = self._sessions.get(str(params.get("sessionId")))
        if session is None:
            raise RpcError("There is no such session", -32602)
        return session
