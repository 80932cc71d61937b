"""agent_backend's clients: a chat whose calls wait for leave inside it, on the built-in agent and the fake model."""

import contextlib
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect

from greenroom.testing.fake_llm import FakeModel
from greenroom.testing.timeouts import WAIT_S
from tests.rules.agents.test_invite import ready, thread_of
from tests.rules.policy.test_gateway import Notebook
from tests.stage import Stage

Json = dict[str, Any]


@pytest.fixture
def model(stage: Stage) -> Iterator[FakeModel]:
    with FakeModel() as model:
        ready(stage)
        stage.profile("thinker", driver="builtin", model="openai:fake-model", env=env_of(model), approvals="always")
        yield model


def env_of(model: FakeModel) -> dict[str, str]:
    return {"OPENAI_BASE_URL": f"{model.url}/v1", "OPENAI_API_KEY": "none"}


class Chat:
    """A message to a session, whose lines are read one after the other."""

    def __init__(self, stage: Stage, message: str, session: str = "s1", **fields: Any) -> None:
        self._open = contextlib.ExitStack()
        headers = {"Authorization": f"Bearer {stage.hub.token}"}
        client = self._open.enter_context(httpx.Client(base_url=stage.hub.url, headers=headers, timeout=WAIT_S))
        body = {"session_id": session, "message": message, **fields}
        self.response = self._open.enter_context(client.stream("POST", "/agent_backend/chat/chat", json=body))
        self._lines = self.response.iter_lines()
        self.seen: list[Json] = []

    def __enter__(self) -> "Chat":
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def until(self, kind: str, **fields: Any) -> Json:
        """The next line of this kind with these values."""
        for text in self._lines:
            line: Json = json.loads(text)
            self.seen.append(line)
            if line["type"] == kind and all(line.get(name) == value for name, value in fields.items()):
                return line
        raise AssertionError(f"no {kind} {fields} among {self.seen}")

    def rest(self) -> list[Json]:
        self.seen += [json.loads(text) for text in self._lines]
        return self.seen


@contextlib.contextmanager
def listening(stage: Stage, session: str = "s1") -> Iterator[ClientConnection]:
    headers = {"Authorization": f"Bearer {stage.hub.token}"}
    url = stage.hub.url.replace("http", "ws", 1) + f"/agent_backend/ws/{session}"
    with connect(url, additional_headers=headers) as ws:
        yield ws


def until(ws: ClientConnection, kind: str) -> Json:
    while True:
        frame: Json = json.loads(ws.recv(timeout=WAIT_S))
        if frame["type"] == kind:
            return dict(frame["data"])


def tell(ws: ClientConnection, kind: str, **data: Any) -> None:
    ws.send(json.dumps({"type": kind, "data": data}))


def test_a_message_is_answered_as_a_stream_and_the_next_one_is_of_the_same_conversation(
    stage: Stage, model: FakeModel
) -> None:
    with Chat(stage, "SAY hello there") as chat:
        assert chat.response.headers["content-type"].startswith("application/x-ndjson")
        lines = chat.rest()
    assert [lines[0]["type"], lines[-1]["type"]] == ["start", "end"]
    assert "".join(line["content"] for line in lines if line["type"] == "content") == "hello there"
    with Chat(stage, "RECALL") as again:
        words = "".join(line["content"] for line in again.rest() if line["type"] == "content")
    assert "2 user messages, first: 'SAY hello there'" in words
    with Chat(stage, "RECALL", session="s2") as other:
        words = "".join(line["content"] for line in other.rest() if line["type"] == "content")
    assert "1 user messages" in words


@pytest.mark.parametrize("approved", [True, False])
def test_a_call_really_waits_for_leave_and_goes_on_by_the_reply(stage: Stage, model: FakeModel, approved: bool) -> None:
    thread = thread_of(stage, "chat")
    with Chat(stage, f'FORCE_TOOL thread_get {{"thread_id": "{thread}"}}\nSAY went on') as chat:
        asked = chat.until("tool_permission_request")
        assert (asked["tool_name"], asked["parameters"]) == ("mcp__greenroom__thread_get", {"thread_id": thread})
        assert asked["data"] == {name: asked[name] for name in asked["data"]}
        assert {"request_id", "tool_name", "parameters", "risk_level", "message"} <= set(asked["data"])
        with listening(stage) as ws:
            tell(ws, "get_agent_status")
            status = until(ws, "agent_status")["status"]
        assert (status["state"], len(status["pending_tools"])) == ("waiting_permission", 1), "no later than the stream"
        assert asked["risk_level"] in ("low", "medium", "high")
        chat.until("tool_execution_status", status="waiting", request_id=asked["request_id"])
        answer = {"session_id": "s1", "request_id": asked["request_id"], "approved": approved, "user_feedback": "so"}
        foreign = stage.api.post("/agent_backend/chat/permission-response", json={**answer, "session_id": "s2"})
        assert foreign.status_code == 404
        taken = stage.api.post("/agent_backend/chat/permission-response", json=answer)
        assert (taken.status_code, taken.json()["approved"]) == (200, approved)
        twice = stage.api.post("/agent_backend/chat/permission-response", json=answer)
        assert (twice.status_code, twice.json()["code"]) == (409, "already_answered")
        chat.until("tool_execution_status", status="executing" if approved else "cancelled")
        lines = chat.rest()
    told = [line["data"] for line in lines if line["type"] == "tool_execution_status"]
    assert {(line["request_id"], line["tool_name"]) for line in told} == {(asked["request_id"], asked["tool_name"])}
    statuses = [line["status"] for line in told]
    assert statuses[-1] == ("completed" if approved else "failed")
    assert "".join(line["content"] for line in lines if line["type"] == "content").startswith("went on")


@pytest.mark.parametrize("approved", [True, False])
def test_a_call_of_an_mcp_servers_tool_has_one_id_and_one_name_from_asking_to_result(
    stage: Stage, model: FakeModel, tmp_path: Path, approved: bool
) -> None:
    stage.profile("thinker", driver="builtin", model="openai:fake-model", env=env_of(model))
    book = Notebook(stage.hub, stage.api, tmp_path)
    book.register(risks={"read": "low"})
    book.until_up("write", "read")
    writes = 'USE_TOOL book__write {"line": "x"}\n' * 2
    with Chat(stage, f"{writes}USE_TOOL book__read {{}}\nSAY went on") as chat:
        asked = []
        for _ in range(2):
            request = chat.until("tool_permission_request")["data"]
            asked.append(request["request_id"])
            answer = {"session_id": "s1", "request_id": asked[-1], "approved": approved, "user_feedback": None}
            taken = stage.api.post("/agent_backend/chat/permission-response", json=answer)
            assert taken.status_code == 200, taken.text
            chat.until("tool_execution_status", status="completed" if approved else "failed")
        lines = chat.rest()
    told = [line["data"] for line in lines if line["type"] == "tool_execution_status"]
    written = [(line["request_id"], line["status"]) for line in told if line["tool_name"] == "book__write"]
    steps = ("waiting", "executing", "completed") if approved else ("waiting", "cancelled", "failed")
    assert written == [(request_id, step) for request_id in asked for step in steps]
    assert len(set(asked)) == 2
    unasked = [(line["tool_name"], line["status"]) for line in told if line["request_id"] not in asked]
    assert unasked == ([("book__read", "completed")] if approved else [])


def test_a_socket_is_told_of_a_call_answers_it_and_knows_the_state(stage: Stage, model: FakeModel) -> None:
    with listening(stage) as ws, listening(stage, "s2") as stranger:
        tell(ws, "get_agent_status")
        assert until(ws, "agent_status")["status"]["state"] == "idle"
        lines: list[Json] = []

        def talk() -> None:
            with Chat(stage, "FORCE_TOOL agent_list {}\nSAY done") as chat:
                lines.extend(chat.rest())

        thread = threading.Thread(target=talk, daemon=True)
        thread.start()
        asked = until(ws, "agent_tool_permission_request")
        assert (asked["session_id"], asked["tool_name"]) == ("s1", "mcp__greenroom__agent_list")
        tell(ws, "get_agent_status")
        status = until(ws, "agent_status")["status"]
        while status["state"] != "waiting_permission":
            status = until(ws, "agent_status")["status"]
        assert [tool["execution_id"] for tool in status["pending_tools"]] == [asked["execution_id"]]
        with listening(stage) as late:
            assert until(late, "agent_tool_permission_request")["execution_id"] == asked["execution_id"]
        tell(stranger, "agent_tool_permission_response", execution_id=asked["execution_id"], approved=True)
        assert until(stranger, "agent_tool_permission_response_ack")["success"] is False
        tell(ws, "agent_tool_permission_response", execution_id=asked["execution_id"], approved=True)
        result = until(ws, "agent_tool_permission_result")
        ack = until(ws, "agent_tool_permission_response_ack")
        assert ack == {"execution_id": asked["execution_id"], "success": True, "approved": True}
        assert (result["approved"], result["status"], result["session_id"]) == (True, "approved", "s1")
        thread.join(WAIT_S)
        assert [line["content"] for line in lines if line["type"] == "content"] == ["done"]
        while status["state"] != "completed":
            status = until(ws, "agent_status")["status"]
        tell(ws, "ping", timestamp=7)
        assert until(ws, "pong") == {"timestamp": 7}
        for wrong in ("{", "[]", '{"type": "nonsense"}', '{"type": "agent_tool_permission_response", "data": {}}'):
            ws.send(wrong)
            assert until(ws, "error")["message"]


def test_a_call_is_approved_only_after_this_hub_has_sent_it(stage: Stage, model: FakeModel) -> None:
    """A restarted hub does not know what a client shows: connecting again tells it."""
    with contextlib.suppress(httpx.HTTPError), Chat(stage, "FORCE_TOOL agent_list {}\nSAY done") as chat:
        asked = chat.until("tool_permission_request")
        stage.hub.kill()
    stage.hub.restart()
    answer = {"session_id": "s1", "request_id": asked["request_id"], "approved": True}
    blind = stage.api.post("/agent_backend/chat/permission-response", json=answer)
    assert (blind.status_code, blind.json()["code"]) == (400, "digest_needed")
    with listening(stage) as ws:
        assert until(ws, "agent_tool_permission_request")["execution_id"] == asked["execution_id"]
        taken = stage.api.post("/agent_backend/chat/permission-response", json=answer)
    assert (taken.status_code, taken.json()["approved"]) == (200, True)


def test_what_goes_wrong_is_told_in_the_stream(stage: Stage, model: FakeModel) -> None:
    with Chat(stage, "ERROR 400") as chat:
        lines = chat.rest()
    assert [line["type"] for line in lines][-2:] == ["error", "end"]
    assert "400" in lines[-2]["content"]
    with Chat(stage, "SAY x", attachments=None) as chat:
        assert "content" in [line["type"] for line in chat.rest()]
    stage.api.delete("/api/profiles/thinker")
    with Chat(stage, "SAY x", session="s9") as none:
        said = none.until("error")
        assert said["error"] == "no_chat_profile" and "builtin" in said["content"]


def test_the_state_is_the_streams_from_the_first_line_on(stage: Stage, model: FakeModel) -> None:
    with listening(stage) as ws, Chat(stage, "FORCE_TOOL agent_list {}\nSAY done") as chat:

        def state() -> str:
            tell(ws, "get_agent_status")
            tell(ws, "ping", timestamp=1)
            frames = []
            while not frames or frames[-1]["type"] != "pong":
                frames.append(json.loads(ws.recv(timeout=WAIT_S)))
            return str([f for f in frames if f["type"] == "agent_status"][-1]["data"]["status"]["state"])

        chat.until("start")
        assert state() in ("running", "waiting_permission")
        asked = chat.until("tool_permission_request")
        assert state() == "waiting_permission"
        tell(ws, "agent_tool_permission_response", execution_id=asked["request_id"], approved=True)
        chat.until("tool_execution_status", status="executing")
        assert state() in ("running", "completed")
        chat.until("end")
        assert state() == "completed"


def test_only_operators_chat(stage: Stage) -> None:
    viewer = stage.api.post("/api/credentials", json={"kind": "viewer", "name": "v"}).json()["token"]
    headers = {"Authorization": f"Bearer {viewer}"}
    body = {"session_id": "s1", "message": "SAY x"}
    assert httpx.post(f"{stage.hub.url}/agent_backend/chat/chat", json=body).status_code == 401
    assert httpx.post(f"{stage.hub.url}/agent_backend/chat/chat", json=body, headers=headers).status_code == 403
    url = stage.hub.url.replace("http", "ws", 1) + "/agent_backend/ws/s1"
    for shown in ({}, headers):
        with pytest.raises(InvalidStatus), connect(url, additional_headers=shown):
            pass
