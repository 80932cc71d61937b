"""The way of agents to the hub, through their node: it stays when the hub moves, and adds no right."""

import signal
import socket
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from greenroom.testing.fake_llm import FakeModel
from greenroom.testing.timeouts import WAIT_S
from tests.stage import Stage

_OLD = "2025-11-25"
_HELLO = {"protocolVersion": _OLD, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


@pytest.fixture
def passage(stage: Stage) -> str:
    """The address that agents of the node are given."""
    made = {"driver": "command", "command": ["printenv", "GREENROOM_URL"]}
    assert stage.api.put("/api/profiles/teller", json=made).status_code == 200
    return str(stage.done("where are you?", profile="teller")["output"]).strip()


def test_an_agent_at_work_has_its_tools_after_the_hub_moved_to_another_port(stage: Stage) -> None:
    first = stage.start("TOOL bus_get_config {}\nSHELL touch made\nTOOL bus_get_config {}\nSAY called both")
    stage.asked()
    before = stage.hub.port
    stage.hub.stop()
    stage.hub.start()
    assert stage.hub.port != before
    with Stage(stage.hub) as moved:
        moved.until(lambda: moved.api.get("/api/nodes").json()[0]["state"] == "connected", "the node to be back")
        assert moved.decide(moved.asked()["id"], "approve").status_code == 200
        ended = moved.end(first)
        assert (ended["status"], ended["output"]) == ("completed", "called both"), ended
        assert [call["ok"] for call in moved.api.get(f"/api/runs/{first}/calls").json()] == [True, True, True]


def test_it_is_the_hub_that_answers_there_and_judges_who_calls(stage: Stage, passage: str) -> None:
    assert passage.startswith("http://127.0.0.1:")
    assert passage != stage.hub.url
    assert httpx.get(f"{passage}/api/agents").status_code == 401
    operator = {"Authorization": f"Bearer {stage.hub.token}"}
    assert httpx.get(f"{passage}/api/me", headers=operator).json()["kind"] == "operator"
    stranger = {**operator, "Origin": "http://evil.example"}
    assert httpx.post(f"{passage}/api/threads", json={"topic": "x"}, headers=stranger).status_code == 403
    renamed = httpx.get(f"{passage}/api/me", headers={**operator, "Host": "evil.example"})
    assert renamed.status_code == 421


def test_who_sends_no_request_or_too_long_a_one_is_hung_up_on(stage: Stage, passage: str) -> None:
    with pytest.raises(httpx.RemoteProtocolError):
        httpx.get(passage, headers={"X-Long": "x" * 100_000})
    assert httpx.get(f"{passage}/health").status_code in (200, 401, 404)


def test_silent_connections_of_others_do_not_cut_agents_off(stage: Stage, passage: str) -> None:
    where = (urlsplit(passage).hostname or "", urlsplit(passage).port or 0)
    operator = {"Authorization": f"Bearer {stage.hub.token}"}
    with ExitStack() as silent:
        lines = [silent.enter_context(socket.create_connection(where, WAIT_S)) for _ in range(1_050)]
        assert httpx.get(f"{passage}/api/me", headers=operator, timeout=WAIT_S).json()["kind"] == "operator"
        asked = "TOOL bus_get_config {}\nSAY called"
        assert stage.done(asked)["output"] == "called"
        assert [line.recv(1) for line in lines] == [b""] * len(lines), "who shows nothing is hung up on"


def test_silent_connections_end_nobody_who_waits_for_an_answer(stage: Stage, passage: str) -> None:
    where = (urlsplit(passage).hostname or "", urlsplit(passage).port or 0)
    thread = stage.api.post("/api/threads", json={"topic": "slow"}).json()["id"]
    wait = f"{passage}/api/threads/{thread}/wait?after_seq=0&timeout_ms=2000"
    silent: deque[socket.socket] = deque()
    with ThreadPoolExecutor() as pool:
        asked = pool.submit(httpx.get, wait, headers={"Authorization": f"Bearer {stage.hub.token}"}, timeout=WAIT_S)
        while not asked.done():
            silent.append(socket.create_connection(where, WAIT_S))
            if len(silent) > 150:
                silent.popleft().close()
        assert asked.result().status_code == 200
    for line in silent:
        line.close()


def test_a_large_body_and_a_long_answer_pass_whole(stage: Stage, passage: str) -> None:
    operator = {"Authorization": f"Bearer {stage.hub.token}"}
    with httpx.Client(base_url=passage, headers=operator, timeout=WAIT_S) as there:
        thread = there.post("/api/threads", json={"topic": "long"}).json()["id"]
        text = "word " * 10_000
        for _ in range(4):
            posted = there.post(f"/api/threads/{thread}/messages", json={"author": "human", "content": text})
            assert posted.status_code == 201, posted.text
        read = there.get(f"/api/threads/{thread}/messages").json()
    assert [message["content"] for message in read if message["seq"] > 0] == [text] * 4


def rpc(method: str, params: Any = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}


def fetch_tools(passage: str, token: str, until: threading.Event) -> int:
    """Open a session and ask for the tools, again and again, and once more in the first session; how often."""
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
    first: dict[str, str] = {}
    rounds = 0
    with httpx.Client(base_url=passage, headers=headers, timeout=WAIT_S) as client:
        while not until.is_set() or not rounds:
            opened = client.post("/mcp", json=rpc("initialize", _HELLO))
            assert opened.status_code == 200, opened.text
            session = {"mcp-session-id": opened.headers["mcp-session-id"], "mcp-protocol-version": _OLD}
            first = first or session
            for known in (session, first):
                listed = client.post("/mcp", json=rpc("tools/list"), headers=known)
                assert listed.status_code == 200, listed.text
                assert {tool["name"] for tool in listed.json()["result"]["tools"]} > {"msg_post", "msg_wait"}
            rounds += 1
    return rounds


def test_an_agent_gets_its_tools_while_the_hub_is_killed_or_stopped_and_comes_back(stage: Stage, passage: str) -> None:
    over = threading.Event()
    with ThreadPoolExecutor() as pool:
        fetching = [pool.submit(fetch_tools, passage, stage.hub.token, over) for _ in range(4)]
        try:
            for how in (signal.SIGKILL, signal.SIGTERM, signal.SIGKILL):
                (stage.hub.kill if how == signal.SIGKILL else stage.hub.stop)()
                stage.hub.restart()
                stage.until(lambda: stage.api.get("/api/nodes").json()[0]["state"] == "connected", "the node")
        finally:
            over.set()
        assert all(one.result(120) for one in fetching)


def test_agents_that_are_about_to_fetch_their_tools_do_not_fail_when_the_hub_dies(stage: Stage) -> None:
    with FakeModel() as model:
        env = {"OPENAI_BASE_URL": f"{model.url}/v1", "OPENAI_API_KEY": "none"}
        stage.profile("thinker", driver="builtin", model="openai:fake-model", env=env)
        for _ in range(3):
            runs = [stage.start("SAY hello", profile="thinker") for _ in range(2)]
            stage.until(lambda runs=runs: stage.run(runs[0])["status"] != "pending", "one to begin")
            stage.hub.kill()
            stage.hub.restart()
            for run_id in runs:
                ended = stage.end(run_id)
                assert (ended["status"], ended["output"]) == ("completed", "hello"), ended


def test_a_call_that_the_hub_may_have_carried_out_is_not_repeated(stage: Stage, passage: str) -> None:
    headers = {"Authorization": f"Bearer {stage.hub.token}", "Accept": "application/json", "mcp-protocol-version": _OLD}
    with httpx.Client(base_url=passage, headers=headers, timeout=WAIT_S) as client, ThreadPoolExecutor() as pool:
        opened = client.post("/mcp", json=rpc("initialize", _HELLO))
        asking = {"name": "ask_question", "arguments": {"project_directory": "/", "question": "May I?"}}
        session = {"mcp-session-id": opened.headers["mcp-session-id"]}
        called = pool.submit(client.post, "/mcp", json=rpc("tools/call", asking), headers=session)
        stage.asked()
        stage.hub.kill()
        answer = called.result(60)
        assert (answer.status_code, "may have carried this out" in answer.text) == (502, True)
        stage.hub.restart()
