"""What one agent, room or node may store in all: beyond it nothing is taken, nothing is lost, and others go on."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from greenroom.link import frames
from greenroom.link.reports import WordsReport
from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests.cli.shell import done
from tests.conftest import checked, end_node
from tests.security.test_valid_credentials import client, register
from tests.stage import Stage

MOST = 300_000
MOST_OF_NODE = 50_000
TEXT = "x" * 20_000
ENV = {
    "GREENROOM_MAX_AGENT_BYTES": str(MOST),
    "GREENROOM_MAX_NODE_BYTES": str(MOST_OF_NODE),
    "GREENROOM_POSTS_PER_MINUTE": "0",
    "GREENROOM_INLINE_CONTENT_CHARS": "1000",
}


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[HubProcess]:
    yield from checked(HubProcess(tmp_path / "data", ENV))


def fill(agent: httpx.Client, thread: str) -> tuple[list[str], httpx.Response]:
    """Post until it is refused: the ids of what was taken, and the refusal."""
    taken: list[str] = []
    while True:
        posted = agent.post(f"/api/threads/{thread}/messages", json={"content": TEXT})
        if posted.status_code != 201:
            return taken, posted
        taken.append(posted.json()["id"])
        assert len(taken) <= 2 * MOST // len(TEXT), "there is a limit"


def test_many_small_messages_reach_the_limit_too(hub: HubProcess) -> None:
    """They are counted by samples, so that the limit is met by chance a little sooner or later."""
    with register(hub, "chatty") as chatty:
        thread = chatty.post("/api/threads", json={"topic": "small talk"}).json()["id"]
        text = "x" * 700
        most = 4 * MOST // len(text)
        codes = (
            chatty.post(f"/api/threads/{thread}/messages", json={"content": text}).status_code for _ in range(most)
        )
        taken = next((number for number, code in enumerate(codes) if code == 429), most)
        assert MOST // len(text) // 6 < taken < most


def kept(reader: httpx.Client, thread: str) -> list[str]:
    listed = reader.get(f"/api/threads/{thread}/messages", params={"limit": 200}).json()
    return [one["id"] for one in listed]


def test_an_agent_that_fills_the_hub_is_refused_at_its_limit_and_nobody_else_is(hub: HubProcess) -> None:
    with register(hub, "hostile") as hostile, register(hub, "other") as other, client(hub, hub.token) as operator:
        thread = hostile.post("/api/threads", json={"topic": "noise"}).json()["id"]
        taken, refused = fill(hostile, thread)
        assert MOST / len(TEXT) - 3 < len(taken) <= MOST / len(TEXT) + 1, "long messages are files, which count too"
        said = refused.json()
        assert (refused.status_code, said["code"], "max_agent_bytes" in said["detail"]) == (429, "quota_reached", True)
        assert hostile.post("/api/threads", json={"topic": "more"}).status_code == 429
        assert kept(hostile, thread) == taken, "it reads on, and what was taken is there"
        assert other.post(f"/api/threads/{thread}/messages", json={"content": TEXT}).status_code == 201
        assert operator.post(f"/api/threads/{thread}/messages", json={"content": TEXT}).status_code == 201
        (near,) = operator.get("/api/metrics").json()["near_limit"]
        assert (near["limit"], near["setting"], near["bytes"] >= MOST) == (MOST, "max_agent_bytes", True)
        assert "(max_agent_bytes)" in done(hub.data, "status").out
        hub.kill()
        hub.restart()
        assert hostile.post(f"/api/threads/{thread}/messages", json={"content": "x"}).status_code == 429
        hub.stop()
        hub.env["GREENROOM_MAX_AGENT_BYTES"] = str(2 * MOST)
        hub.start(hub.port)
        assert hostile.post(f"/api/threads/{thread}/messages", json={"content": "x"}).status_code == 201
        assert kept(operator, thread)[: len(taken)] == taken


def test_agents_that_one_program_has_registered_share_its_limit(hub: HubProcess) -> None:
    made = {"kind": "agent", "name": "enroller", "rights": ["read", "all", "chat", "register"]}
    with client(hub, hub.token) as operator:
        token = operator.post("/api/credentials", json=made).raise_for_status().json()["token"]
    with register(hub, "first", token) as first, register(hub, "second", token) as second:
        thread = first.post("/api/threads", json={"topic": "noise"}).json()["id"]
        fill(first, thread)
        assert second.post(f"/api/threads/{thread}/messages", json={"content": "x"}).status_code == 429
        with client(hub, token) as enroller:
            assert enroller.post("/api/agents/register", json={"ide": "third", "model": "M"}).status_code == 429


def hello(link: ClientConnection, newest: int = 0) -> dict[str, Any]:
    said = frames.Hello(
        version=frames.LINK_VERSION, boot="b", labels=[], capacity=1, drivers={}, live=[], newest=newest
    )
    link.send(frames.encode(said).decode())
    return dict(json.loads(link.recv(WAIT_S)))


def test_a_node_that_fills_the_hub_is_refused_at_its_limit_and_loses_nothing(hub: HubProcess) -> None:
    with client(hub, hub.token) as operator:
        joined = operator.post("/api/nodes", json={"name": "hostile"}).json()
    address, headers = hub.url.replace("http", "ws", 1) + "/node", {"Authorization": f"Bearer {joined['token']}"}
    acked, number = 0, 0
    with pytest.raises(ConnectionClosed), connect(address, additional_headers=headers) as link:
        assert hello(link)["op"] == "welcome"
        while number < MOST_OF_NODE // 10:
            number += 1
            item = frames.ItemFrame(number=number, run="run_none", at=1, heard=WordsReport("x"))
            link.send(frames.encode(item).decode())
            while acked < number:
                acked = max(acked, json.loads(link.recv(WAIT_S)).get("number", 0))
    assert 0 < acked < MOST_OF_NODE // 10
    with connect(address, additional_headers=headers) as link, pytest.raises(ConnectionClosed) as closed:
        hello(link)
    assert closed.value.rcvd is not None
    assert (closed.value.rcvd.code, "max_node_bytes" in closed.value.rcvd.reason) == (frames.NOT_WELCOME, True)
    with register(hub, "other") as other:
        assert other.post("/api/threads", json={"topic": "calm"}).status_code == 201
    hub.stop()
    hub.env["GREENROOM_MAX_NODE_BYTES"] = "0"
    hub.start(hub.port)
    with connect(address, additional_headers=headers) as link:
        assert hello(link, newest=acked + 1)["taken"] == acked, "all that was acknowledged is there"


def test_an_agent_whose_runs_say_too_much_in_all_is_cut_off_and_others_work_on(tmp_path: Path) -> None:
    env = {"GREENROOM_LOCAL_NODE": "1", "GREENROOM_MAX_AGENT_BYTES": str(MOST)}
    with HubProcess(tmp_path / "data", env) as hub, Stage(hub) as stage:
        try:
            words = "\n".join(f"SAY {number} {'y' * 2000}" for number in range(60))
            runs = [stage.end(stage.start(words, keep_as="loud"))]
            while runs[-1]["status"] == "completed":
                runs.append(stage.end(stage.start(words, agent="loud")))
                assert len(runs) < 10, "there is a limit"
            assert len(runs) > 1, "each run alone is within it"
            assert "max_agent_bytes" in runs[-1]["error"]
            assert stage.done("SAY still here")["output"] == "still here"
        finally:
            end_node(hub.data)
