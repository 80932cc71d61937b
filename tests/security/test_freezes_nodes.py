"""No item of a node keeps the hub from answering others, however many values it holds."""

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

import httpx
import msgspec
import pytest
from websockets.sync.client import ClientConnection, connect

from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests.rules.workflows.plays import Play
from tests.security.test_freezes import no_pause
from tests.stage import Stage

BYTES = 900_000
VALUES: dict[str, Any] = {
    "numbers": [0] * (BYTES // 2),
    "empty lists": [[]] * (BYTES // 3),
    "objects": [{"a": 1}] * (BYTES // 8),
    "texts": ["a"] * (BYTES // 4),
    "names": {f"k{number}": 1 for number in range(BYTES // 12)},
    "passwords": ["://a:bbbbbbbbb"] * (BYTES // 17),
}


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("kind", ["permission_asked", "question_asked", "call_started"])
def test_an_item_of_many_values_holds_nobody_up(hub: HubProcess, api: httpx.Client, kind: str, name: str) -> None:
    heard = {"type": kind, "permission": "p", "call": "c", "tool": "Write", "question": "which?"}
    with connect_node(hub, api) as link:
        run_id = start_run(api, link)
        with no_pause(api):
            send_item(link, run_id, {**heard, "options" if kind == "question_asked" else "input": VALUES[name]})
            decided = receive(link, "order") if kind == "permission_asked" else None
            receive(link, "ack")
    if decided is not None:
        assert decided["body"]["decision"] == "deny"
    questions = [ask["title"] for ask in api.get("/api/asks").json()["asks"]]
    assert questions == (["which?"] if kind == "question_asked" else [])


@pytest.mark.parametrize("text", ["'```' + chr(10) * 900_000", "'```json ' * 100_000", "'[' * 900_000"])
def test_an_answer_that_looks_like_json_holds_nobody_up(stage: Stage, text: str) -> None:
    stage.profile("looks", driver="command", command=[sys.executable, "-c", f"print({text})"])
    play = Play(stage)
    with no_pause(stage.api):
        run_id = play.start({"id": "a", "profile": "looks", "prompt": "x", "output_schema": {"type": "object"}})
        play.end(run_id)
    assert play.run(run_id)["status"] == "failed"


@contextlib.contextmanager
def connect_node(hub: HubProcess, api: httpx.Client) -> Iterator[ClientConnection]:
    """A connection of a node that does as it likes."""
    token = api.post("/api/nodes", json={"name": "far"}).json()["token"]
    url = hub.url.replace("http", "ws", 1) + "/node"
    headers = {"Authorization": f"Bearer {token}"}
    hello = {"op": "hello", "version": 2, "boot": "b", "labels": [], "capacity": 9, "live": [], "newest": 0}
    with connect(url, additional_headers=headers, max_size=None, proxy=None) as link:
        link.send(msgspec.json.encode({**hello, "drivers": {"command": "1"}}).decode())
        receive(link, "welcome")
        yield link


def start_run(api: httpx.Client, link: ClientConnection) -> str:
    profile = {"profiles": {"one": {"driver": "command", "command": ["true"]}}}
    assert api.post("/api/profiles", json=profile).is_success
    run = api.post("/api/runs", json={"profile": "one", "prompt": "x"})
    assert run.status_code == 201, run.text
    receive(link, "order")
    return str(run.json()["id"])


def send_item(link: ClientConnection, run_id: str, heard: dict[str, Any]) -> None:
    item = {"op": "item", "number": 1, "run": run_id, "at": 1, "heard": heard}
    link.send(msgspec.json.encode(item).decode())


def receive(link: ClientConnection, op: str) -> dict[str, Any]:
    """The next frame of this kind."""
    while True:
        frame: dict[str, Any] = msgspec.json.decode(link.recv(timeout=WAIT_S))
        if frame["op"] == op:
            return frame
