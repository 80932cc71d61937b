"""The text frames of `/ws`: start, follow, ask and cancel, in the words of the run-tree clients."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosedError
from websockets.sync.client import ClientConnection, connect

from greenroom.testing.timeouts import WAIT_S
from tests.rules.agents.test_invite import ready
from tests.stage import Stage

pytestmark = pytest.mark.one_stage

Json = dict[str, Any]


@contextmanager
def socket(stage: Stage) -> Iterator[ClientConnection]:
    headers = {"Authorization": f"Bearer {stage.hub.token}"}
    with connect(stage.hub.url.replace("http", "ws", 1) + "/ws", additional_headers=headers) as ws:
        yield ws


def until(ws: ClientConnection, wanted: Callable[[Json], Any]) -> Json:
    while True:
        frame: Json = json.loads(ws.recv(timeout=WAIT_S))
        if wanted(frame):
            return frame


def ends(frame: Json) -> bool:
    return frame["type"] == "agent_run_update" and "completedAt" in frame["agentRun"]


def spawn(ws: ClientConnection, prompt: Any, **fields: Any) -> None:
    ws.send(json.dumps({"type": "agent_spawn", "agentId": "rehearsal", "sessionId": "s1", "input": prompt, **fields}))


def test_a_run_is_followed_to_its_end_in_the_fields_of_the_clients(stage: Stage) -> None:
    ready(stage)
    with socket(stage) as ws:
        spawn(ws, {"prompt": "SAY hello\nUSAGE 3 4"})
        run = until(ws, ends)["agentRun"]
    assert (run["agentId"], run["sessionId"], run["status"], run["output"]) == ("rehearsal", "s1", "completed", "hello")
    assert (run["parentRunId"], run["rootRunId"], run["depth"]) == (None, run["id"], 0)
    assert run["tokenUsage"] == {"input": 3, "output": 4}
    assert run["startedAt"] <= run["completedAt"]


def test_a_child_is_announced_under_its_parent(stage: Stage) -> None:
    ready(stage)
    with socket(stage) as ws:
        spawn(ws, "SPAWN rehearsal SAY below")
        spawned = until(ws, lambda frame: frame["type"] == "agent_spawned")
        assert spawned["childRun"]["parentRunId"] == spawned["parentRunId"]
        assert (spawned["childRun"]["depth"], spawned["childRun"]["sessionId"]) == (1, "s1")
        until(ws, lambda frame: ends(frame) and frame["agentRun"]["depth"] == 0)


def test_a_run_is_found_by_its_session_and_cancelled_with_all_below_it(stage: Stage) -> None:
    ready(stage)
    with socket(stage) as ws:
        spawn(ws, "SPAWN rehearsal SLEEP 600")
        child = until(ws, lambda frame: frame["type"] == "agent_spawned")["childRun"]
        ws.send(json.dumps({"type": "agent_status_query", "sessionId": "s1"}))
        until(ws, lambda frame: frame.get("agentRun", {}).get("id") == child["rootRunId"])
        ws.send(json.dumps({"type": "agent_cancel", "agentRunId": child["rootRunId"], "cascade": True}))
        until(ws, lambda f: f.get("agentRun", {}).get("id") == child["id"] and f["agentRun"]["status"] == "cancelled")
    assert stage.end(child["rootRunId"])["status"] == "cancelled"


def test_a_word_from_agent_to_agent_is_relayed(stage: Stage) -> None:
    ready(stage)
    with socket(stage) as ws:
        other = stage.start("SLEEP 20", keep_as="ear")
        stage.until(lambda: stage.run(other)["status"] == "running", "the other to run")
        to = stage.run(other)["agent_id"]
        spawn(ws, f'TOOL mail_send {{"agent_id": "{to}", "content": "psst"}}')
        relayed = until(ws, lambda frame: frame["type"] == "agent_message_relay")
        assert (relayed["toAgentRunId"], relayed["content"]) == (other, "psst")
        stage.api.post(f"/api/runs/{other}/cancel", json={})


@pytest.mark.parametrize("text", ["{", "[]", '{"type": "nonsense"}', '{"type": "agent_spawn", "agentId": "nobody"}'])
def test_a_wrong_frame_is_answered_and_the_connection_goes_on(stage: Stage, text: str) -> None:
    with socket(stage) as ws:
        ws.send(text)
        assert until(ws, lambda frame: frame["type"] == "error")["message"]
        ws.send(json.dumps({"type": "agent_status_query"}))
        ws.send(text)
        assert until(ws, lambda frame: frame["type"] == "error")


def test_text_of_a_stranger_is_not_heard(stage: Stage) -> None:
    before = stage.api.get("/api/runs").json()
    with connect(stage.hub.url.replace("http", "ws", 1) + "/ws") as ws:
        for _ in range(5):
            spawn(ws, "SAY hello")
            assert json.loads(ws.recv(timeout=WAIT_S))["code"] == "credential_missing"
        with pytest.raises(ConnectionClosedError) as closed:
            ws.recv(timeout=WAIT_S)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4401
    assert stage.api.get("/api/runs").json() == before
