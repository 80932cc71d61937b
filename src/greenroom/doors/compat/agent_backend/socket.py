"""`/agent_backend/ws/{session_id}`: a session's state and the calls that wait in it, in the clients' JSON messages."""

import json
import logging
from typing import Any
from urllib.parse import parse_qs

from starlette.types import Receive, Scope, Send

from greenroom.buckets import Bucket
from greenroom.doors.compat.agent_backend.session import (
    SESSION_EVENTS,
    BackendSession,
    build_permission_request,
    describe_outcome,
)
from greenroom.doors.compat.shown_asks import ShownAsks
from greenroom.doors.http.errors import record_refusal
from greenroom.doors.http.routes import PRINCIPAL
from greenroom.doors.http.websocket_sender import WebSocketSender
from greenroom.errors import Refused, Unavailable
from greenroom.json_types import JsonObject
from greenroom.log.model import Commit
from greenroom.rules.access.model import NOBODY, Principal
from greenroom.rules.asks.events import AskAnswered, AskExpired, AskRaised, AskWithdrawn
from greenroom.rules.asks.model import Ask
from greenroom.services.hub import Hub

logger = logging.getLogger(__name__)
PATH = "/agent_backend/ws/{session_id}"
BARE_PATH = "/agent_backend/ws"
"""The same with `?session_id=`."""
_FRAMES = 200
_FRAMES_PER_S = 20.0
_FRAME_CHARS = 65_536
_UNSENT_BYTES = 4 << 20


class BackendSocket:
    """The ASGI application at that path; the guard has authenticated the caller."""

    def __init__(self, hub: Hub, shown: ShownAsks) -> None:
        self._hub = hub
        self._shown = shown

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        by = scope.get(PRINCIPAL, NOBODY)
        try:
            session = BackendSession(self._hub, self._shown, _read_session_id(scope))
        except Refused:
            session = None
        if session is None or not by.may_operate:
            await send({"type": "websocket.close", "code": 1008})
            return
        await send({"type": "websocket.accept"})
        client = BackendClient(self._hub, session, by)
        end = self._hub.log.subscribe(client.on_commit, *SESSION_EVENTS)
        try:
            await client.line.serve(send, client.read(receive))
        finally:
            end()


def _read_session_id(scope: Scope) -> str:
    in_path = scope["path_params"].get("session_id")
    return str(in_path or parse_qs(scope["query_string"].decode("latin-1")).get("session_id", [""])[-1])


class BackendClient:
    """One connection: what it will be sent, and the last state that it was sent."""

    def __init__(self, hub: Hub, session: BackendSession, by: Principal) -> None:
        self._hub = hub
        self._session = session
        self._by = by
        self.line: WebSocketSender[str] = WebSocketSender(
            _UNSENT_BYTES, "too slow: connect again and ask for the status"
        )
        for ask in session.find_open_asks():
            self._send_message("agent_tool_permission_request", session.build_request(ask))
        self._state = session.build_status()["state"]

    async def read(self, receive: Receive) -> None:
        pace = Bucket(_FRAMES, _FRAMES_PER_S)
        while not self.line.ended:
            message = await receive()
            text = message.get("text")
            if message["type"] == "websocket.disconnect":
                self.line.end()
            elif not pace.take() or len(text or "") > _FRAME_CHARS:
                self.line.close(1008, "send JSON text, not too much and not too often")
            else:
                await self._handle_message(text or "")

    async def _handle_message(self, text: str) -> None:
        try:
            frame = json.loads(text)
            kind, data = frame["type"], frame.get("data") or {}
            await self._run_command(kind, data)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            logger.info("a frame of %s is no message, and is passed over", self._by.id)
            self._send_message("error", {"message": "This message is not understood: send {type, data}."})
        except (Refused, Unavailable) as no:
            self._send_message("error", {"message": no.message})

    async def _run_command(self, kind: str, data: JsonObject) -> None:
        match kind:
            case "ping":
                self._send_message("pong", {"timestamp": data.get("timestamp")})
            case "get_agent_status":
                self._send_message("agent_status", {"status": self._session.build_status()})
            case "agent_tool_permission_response":
                await self._decide(str(data["execution_id"]), data["approved"])
            case _:
                self._send_message("error", {"message": f"There is no message '{str(kind)[:40]}'."})

    async def _decide(self, execution_id: str, approved: Any) -> None:
        if not isinstance(approved, bool):
            raise Refused("bad_request.approved")
        answer = {"execution_id": execution_id, "success": True, "approved": approved}
        try:
            await self._session.decide(self._by, execution_id, approved)
        except Refused as no:
            answer |= {"success": False, "message": no.message}
            record_refusal(self._hub, self._by, f"WS {PATH} agent_tool_permission_response", no)
        self._send_message("agent_tool_permission_response_ack", answer)

    def on_commit(self, commit: Commit) -> None:
        """Queue what concerns the session; this must be quick."""
        concerned = False
        for event, about in self._session.find_events(commit):
            concerned = True
            if not isinstance(about, Ask) or about.kind != "permission":
                continue
            if isinstance(event, AskRaised):
                self._send_message("agent_tool_permission_request", self._session.build_request(about))
            elif isinstance(event, AskAnswered | AskExpired | AskWithdrawn):
                approved, status = describe_outcome(about)
                asked = build_permission_request(self._session.id, about)
                told = {name: asked[name] for name in ("session_id", "execution_id", "tool_name")}
                self._send_message("agent_tool_permission_result", {**told, "approved": approved, "status": status})
        if concerned:
            now = self._session.build_status()
            if now["state"] != self._state:
                self._state = now["state"]
                self._send_message("agent_status", {"status": now})

    def _send_message(self, kind: str, data: JsonObject) -> None:
        self.line.send(json.dumps({"type": kind, "data": data}, ensure_ascii=False))
