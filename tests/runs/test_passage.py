"""The way of agents to the hub, through their node: it stays when the hub moves, and adds no right."""

import httpx
import pytest

from tests.runs.stage import Stage


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


def test_a_large_body_and_a_long_answer_pass_whole(stage: Stage, passage: str) -> None:
    operator = {"Authorization": f"Bearer {stage.hub.token}"}
    with httpx.Client(base_url=passage, headers=operator, timeout=60) as there:
        thread = there.post("/api/threads", json={"topic": "long"}).json()["id"]
        text = "word " * 10_000
        for _ in range(4):
            posted = there.post(f"/api/threads/{thread}/messages", json={"author": "human", "content": text})
            assert posted.status_code == 201, posted.text
        read = there.get(f"/api/threads/{thread}/messages").json()
    assert [message["content"] for message in read if message["seq"] > 0] == [text] * 4
