"""`/ws` as a run-tree client plays it from its documents: run_start to its end, permissions, envelopes, sessions."""

import json
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect

from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests.conftest import checked
from tests.doors.compat.run_tree.test_ws import socket, until
from tests.rules.agents.test_invite import ready
from tests.stage import Stage

pytestmark = pytest.mark.one_stage

Json = dict[str, Any]


def send(ws: ClientConnection, kind: str, **fields: Any) -> None:
    ws.send(json.dumps({"type": kind, **fields}))


def ask(ws: ClientConnection, kind: str, id: str, **payload: Any) -> Json:
    """A request in the envelope, and its answer."""
    metadata = {"timeout": 30_000}
    ws.send(json.dumps({"id": id, "type": kind, "payload": payload, "timestamp": 1, "metadata": metadata}))
    return until(ws, lambda frame: frame.get("metadata", {}).get("requestId") == id)


def of(kind: str) -> Any:
    return lambda frame: frame["type"] == kind


def test_a_run_is_started_and_told_to_its_end(stage: Stage) -> None:
    ready(stage)
    context = {"sharedVariables": {"colour": "blue"}, "constraints": {"maxDuration": 60_000}}
    with socket(stage) as ws, socket(stage) as other:
        start = {"agentId": "rehearsal", "sessionId": "tree-1", "input": 'OUTPUT {"n": 1}', "context": context}
        send(ws, "run_start", clientRequestId="c-1", **start)
        frames = [json.loads(ws.recv(timeout=WAIT_S))]
        while frames[-1]["type"] != "run_completed":
            frames.append(json.loads(ws.recv(timeout=WAIT_S)))
        started = next(frame for frame in frames if frame["type"] == "run_started")
        assert (started["clientRequestId"], started["sessionId"]) == ("c-1", "tree-1")
        assert (started["agentId"], started["parentRunId"]) == ("rehearsal", None)
        updates = [frame["agentRun"] for frame in frames if frame["type"] == "agent_run_update"]
        assert {one["sessionId"] for one in updates} == {"tree-1"}, "from the first update on"
        done = frames[-1]
        assert (done["runId"], done["agentRunId"], done["output"]) == (started["runId"], started["runId"], {"n": 1})
        seen = until(other, lambda f: f["type"] == "agent_run_update" and "completedAt" in f["agentRun"])["agentRun"]
        assert (seen["id"], seen["sessionId"]) == (started["runId"], "tree-1"), "another device knows the session too"
    assert stage.run(started["runId"])["context"]["sharedVariables"] == {"colour": "blue"}


def test_a_run_below_another_fails_and_its_starter_is_told_why(stage: Stage) -> None:
    ready(stage)
    with socket(stage) as ws:
        send(ws, "run_start", agentId="rehearsal", sessionId="tree-5", input="SLEEP 600")
        parent = until(ws, of("run_started"))["runId"]
        send(ws, "run_start", agentId="rehearsal", sessionId="tree-5", parentRunId=parent, input="FAIL no luck")
        child = until(ws, of("run_started"))
        assert (child["parentRunId"], child["sessionId"]) == (parent, "tree-5")
        failed = until(ws, of("run_failed"))
        assert failed["runId"] == child["runId"] and "no luck" in failed["error"]
        send(ws, "agent_cancel", agentRunId=parent, cascade=True)
        assert until(ws, of("run_failed"))["runId"] == parent


def test_a_run_is_cancelled_and_its_starter_told(stage: Stage) -> None:
    ready(stage)
    with socket(stage) as ws:
        send(ws, "run_start", agentId="rehearsal", sessionId="tree-2", input="SLEEP 600")
        run_id = until(ws, of("run_started"))["runId"]
        send(ws, "run_cancel", runId=run_id)
        ended = until(ws, of("run_failed"))
        assert (ended["runId"], ended["status"]) == (run_id, "cancelled")


@pytest.mark.parametrize("allow", [True, False])
def test_a_call_waits_for_the_clients_decision(stage: Stage, allow: bool) -> None:
    ready(stage)
    stage.profile("careful", approvals="always")
    with socket(stage) as ws, socket(stage) as other:
        send(ws, "run_start", agentId="careful", sessionId="tree-3", input="SHELL echo hello")
        asked = until(ws, of("permission_request"))
        assert (asked["sessionId"], bool(asked["toolName"])) == ("tree-3", True)
        send(other, "agent_status_query", sessionId="tree-3")
        late = until(other, of("permission_request"))
        assert late["requestId"] == asked["requestId"]
        send(ws, "permission_decision", requestId=asked["requestId"], allow=allow)
        for each in (ws, other):
            resolved = until(each, of("permission_resolved"))
            assert (resolved["requestId"], resolved["allow"]) == (asked["requestId"], allow)
        send(other, "permission_decision", requestId=asked["requestId"], allow=True, clientRequestId="late")
        assert until(other, lambda f: f.get("clientRequestId") == "late")["code"] == "already_answered"
        until(ws, lambda frame: frame["type"] in ("run_completed", "run_failed"))


def test_requests_in_the_envelope_are_answered_by_their_ids(stage: Stage) -> None:
    ready(stage)
    with socket(stage) as ws:
        pong = ask(ws, "ping", "r-1", timestamp=7)
        assert (pong["type"], pong["payload"], pong["metadata"]) == (
            "pong",
            {"timestamp": 7},
            {"requestId": "r-1", "success": True},
        )
        started = ask(ws, "run_start", "r-2", agentId="rehearsal", sessionId="tree-4", input="SAY hi")
        told = until(ws, of("run_completed"))
        assert (told["payload"]["runId"], told["payload"]["output"]) == (started["payload"]["runId"], "hi")
        assert "metadata" not in told and told["id"] and told["timestamp"]
        wrong = ask(ws, "run_start", "r-3", agentId="nobody", sessionId="s", input="x")
        assert wrong["metadata"]["success"] is False and wrong["metadata"]["error"]["code"]
        assert ask(ws, "nonsense", "r-4")["metadata"]["error"]["code"] == "bad_frame"


def test_an_empty_session_is_answered_and_so_is_a_ping(stage: Stage) -> None:
    with socket(stage) as ws:
        send(ws, "agent_status_query", sessionId="nobody was here", clientRequestId="q")
        answer = until(ws, of("agent_status"))
        assert (answer["agentRuns"], answer["clientRequestId"]) == ([], "q")
        send(ws, "ping", timestamp=3)
        assert until(ws, of("pong"))["timestamp"] == 3


def test_a_desktop_app_of_another_origin_is_let_in_by_a_setting_and_by_a_token_only(tmp_path: Path) -> None:
    for hub in checked(HubProcess(tmp_path / "data", {"GREENROOM_ALLOWED_ORIGINS": "tauri://localhost"})):
        url, proof = hub.url.replace("http", "ws", 1) + "/ws", {"Authorization": f"Bearer {hub.token}"}
        with connect(url, additional_headers=proof, origin="tauri://localhost") as ws:  # type: ignore[arg-type]
            send(ws, "ping", timestamp=3)
            assert until(ws, of("pong"))["timestamp"] == 3
        with pytest.raises(InvalidStatus):
            connect(url, additional_headers=proof, origin="tauri://elsewhere").__enter__()  # type: ignore[arg-type]
