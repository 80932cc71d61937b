"""Agent Assistant's two sides as programs in the field play them: devices on `/ws`, and agents that call RPCs."""

import contextlib
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any

import httpx
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests.doors.compat.assist.facts import make, parse, text

SERVICE = "/agentassistproto.SrvAgentAssist"


def room_token(hub: HubProcess, room: str, *rights: str) -> str:
    body = {"kind": "room", "name": room, "room": room, **({"rights": list(rights)} if rights else {})}
    answer = httpx.post(f"{hub.url}/api/credentials", json=body, headers={"Authorization": f"Bearer {hub.token}"})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["token"])


class Device:
    """A person's device in a room. It knows one family of commands for reports, and passes over the other."""

    def __init__(self, hub: HubProcess, token: str, nickname: str = "", family: str = "WorkReport") -> None:
        self._unknown = "TaskFinish" if family == "WorkReport" else "WorkReport"
        self._open = contextlib.ExitStack()
        self.socket = self._open.enter_context(connect(hub.url.replace("http", "ws", 1) + "/ws"))
        self.token = token
        self.send("UserLogin", StrParam=token, Nickname=nickname)
        self.login = self.hear("UserLogin").UserLoginResponse
        self.id = self.login.client_id

    def __enter__(self) -> "Device":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._open.close()

    def send(self, cmd: str, **fields: Any) -> None:
        self.socket.send(make("WebsocketMessage", Cmd=cmd, **fields).SerializeToString())

    def next(self, within_s: float = WAIT_S) -> Any:
        while True:
            data = self.socket.recv(timeout=within_s)
            assert isinstance(data, bytes)
            message = parse("WebsocketMessage", data)
            if not message.Cmd.startswith(self._unknown):
                return message

    def hear(self, cmd: str) -> Any:
        """The next message; it has this command."""
        message = self.next()
        assert message.Cmd == cmd, message
        return message

    def closed(self) -> int:
        """The code with which the hub closes the connection."""
        try:
            while True:
                self.next()
        except ConnectionClosed as closed:
            assert closed.rcvd is not None
            return int(closed.rcvd.code)

    def online(self) -> list[str]:
        """Who else is in the room. Whatever was sent to this device before has come before the answer."""
        self.send("GetOnlineUsers", GetOnlineUsersRequest=make("GetOnlineUsersRequest", user_token=self.token))
        answer = self.hear("GetOnlineUsers").GetOnlineUsersResponse
        assert answer.total_count == len(answer.online_users)
        return sorted(user.nickname for user in answer.online_users)

    def pending(self) -> list[Any]:
        self.send("GetPendingMessages", GetPendingMessagesRequest=make("GetPendingMessagesRequest"))
        answer = self.hear("GetPendingMessages").GetPendingMessagesResponse
        assert answer.total_count == len(answer.pending_messages)
        return list(answer.pending_messages)

    def valid(self, *ids: str) -> dict[str, bool]:
        request = make("CheckMessageValidityRequest", request_ids=ids)
        self.send("CheckMessageValidity", CheckMessageValidityRequest=request)
        return dict(self.hear("CheckMessageValidity").CheckMessageValidityResponse.validity)

    def reply(self, asked: Any, *contents: Any, is_error: bool = False) -> None:
        """Answer what a message asked."""
        if asked.Cmd == "AskQuestion":
            request = asked.AskQuestionRequest
            response = make("AskQuestionResponse", ID=request.ID, IsError=is_error, contents=contents)
            self.send("AskQuestionReply", AskQuestionRequest=request, AskQuestionResponse=response)
        else:
            report = asked.WorkReportRequest
            done = make("WorkReportResponse", ID=report.ID, IsError=is_error, contents=contents)
            self.send(f"{asked.Cmd}Reply", WorkReportRequest=report, WorkReportResponse=done)

    def say(self, asked: Any, words: str) -> None:
        self.reply(asked, text(words))


class Call:
    """An RPC under way, in a thread of its own."""

    def __init__(self, make_call: Callable[[], httpx.Response], kind: str) -> None:
        self._answer: httpx.Response | BaseException | None = None
        self._kind = kind

        def run() -> None:
            try:
                self._answer = make_call()
            except httpx.HTTPError as error:
                self._answer = error

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()

    def http(self) -> httpx.Response:
        self._thread.join(WAIT_S)
        assert isinstance(self._answer, httpx.Response), self._answer
        return self._answer

    def done(self) -> Any:
        """The response, in protobuf."""
        answer = self.http()
        assert answer.status_code == 200, answer.text
        return parse(self._kind, answer.content)


class Agent:
    """A program that asks the people of a room."""

    def __init__(self, hub: HubProcess, token: str) -> None:
        self._hub = hub
        self.token = token
        self.timeout_s = 60.0

    def ask(self, id: str, question: str, token: str | None = None, **fields: Any) -> Call:
        info = make("McpAskQuestionRequest", Question=question, ProjectDirectory="/src/app", **fields)
        request = make("AskQuestionRequest", ID=id, UserToken=self.token if token is None else token, Request=info)
        return self._call("AskQuestion", request, "AskQuestionResponse")

    def report(self, id: str, summary: str, rpc: str = "WorkReport", **fields: Any) -> Call:
        info = make(f"Mcp{rpc}Request", Summary=summary, ProjectDirectory="/src/app", **fields)
        request = make(f"{rpc}Request", ID=id, UserToken=self.token, Request=info)
        return self._call(rpc, request, f"{rpc}Response")

    def _call(self, rpc: str, request: Any, kind: str) -> Call:
        body = request.SerializeToString()
        headers = {"content-type": "application/proto", "connect-protocol-version": "1"}
        url = f"{self._hub.url}{SERVICE}/{rpc}"
        return Call(lambda: httpx.post(url, content=body, headers=headers, timeout=self.timeout_s), kind)

    def json(self, rpc: str, body: dict[str, Any]) -> httpx.Response:
        return httpx.post(f"{self._hub.url}{SERVICE}/{rpc}", json=body, timeout=self.timeout_s)
