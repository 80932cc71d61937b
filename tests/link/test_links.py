"""The link between a node and its hub: nothing is lost, doubled or believed twice, whatever happens to it."""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import msgspec
import psutil
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from greenroom.link import frames
from greenroom.link.reports import WordsReport
from greenroom.node.outbox import NodeOutbox
from greenroom.sentences import build_sentence
from greenroom.testing.timeouts import WAIT_S
from tests.cli.shell import done
from tests.conftest import end_node
from tests.far_node import FarNode
from tests.rules.runs.chaos import ChaosProxy
from tests.stage import Stage


@pytest.fixture
def far(stage: Stage, tmp_path: Path) -> Iterator[FarNode]:
    node = FarNode(stage, tmp_path, "far", "--label", "far")
    yield node
    node.stop()


def words(stage: Stage, run_id: str) -> list[str]:
    """What the agent said, after a look that its items are numbered without a gap."""
    items = stage.items(run_id)
    assert [item["number"] for item in items] == list(range(1, len(items) + 1))
    return "".join(item["data"]["text"] for item in items if item["kind"] == "said").split()


def hello(**fields: Any) -> str:
    said = {"op": "hello", "version": frames.LINK_VERSION, "boot": "b", "labels": [], "capacity": 1, "drivers": {}}
    return msgspec.json.encode({**said, "live": [], "newest": 0, **fields}).decode()


def refused(far: FarNode, *said: str) -> str:
    """Why the hub hangs up on somebody with the node's credential who says this."""
    url = far.stage.hub.url.replace("http", "ws", 1) + "/node"
    headers = {"Authorization": f"Bearer {far.token_file.read_text()}"}
    with connect(url, additional_headers=headers) as link:
        for one in said:
            link.send(one)
        try:
            while True:
                link.recv(timeout=WAIT_S)
        except ConnectionClosed as closed:
            return closed.rcvd.reason if closed.rcvd else ""


def test_nothing_is_lost_or_doubled_while_the_connection_is_cut_at_random(stage: Stage, far: FarNode) -> None:
    proxy = ChaosProxy(stage.hub.port, seed=7)
    try:
        far.start(f"http://127.0.0.1:{proxy.port}")
        said = [f"w{number}" for number in range(60)]
        script = "\n".join(f"SAY {word}\nTHINK hm\nSLEEP 0.05\nUSAGE 1 1" for word in said)
        runs = [stage.start(script, node="far") for _ in range(3)]
        stage.until(lambda: proxy.cuts >= 5, "the connection to be cut several times")
        proxy.calm()
        for run_id in runs:
            ended = stage.end(run_id)
            assert (ended["status"], ended["input_tokens"]) == ("completed", 60)
            assert words(stage, run_id) == said
    finally:
        far.stop()
        proxy.close()


def test_ten_agents_at_work_are_adopted_after_the_hub_was_killed(stage: Stage) -> None:
    runs = [stage.start("SAY a\nSLEEP 2\nSAY b\nSLEEP 8\nSAY c") for _ in range(10)]
    stage.until(lambda: all(stage.run(run)["status"] == "running" for run in runs), "all to be at work")
    pid = int((stage.hub.data / "node" / "lock").read_text())
    stage.hub.kill()
    stage.hub.restart()
    stage.until(lambda: stage.api.get("/api/nodes").json()[0].get("state") == "connected", "the node to be back")
    for run_id in runs:
        assert stage.end(run_id)["status"] == "completed"
        assert words(stage, run_id) == ["a", "b", "c"]
    assert int((stage.hub.data / "node" / "lock").read_text()) == pid


def test_a_run_that_ends_while_the_hub_is_away_is_completed(stage: Stage) -> None:
    run_id = stage.start("SAY a\nSLEEP 1\nSAY b")
    stage.until(lambda: stage.run(run_id)["status"] == "running", "the agent to be at work")
    stage.hub.kill()
    scratch = stage.hub.data / "node" / "scratch"
    stage.until(lambda: not list(scratch.iterdir()), "the agent to end")
    stage.hub.restart()
    ended = stage.end(run_id)
    assert (ended["status"], words(stage, run_id)) == ("completed", ["a", "b"])


def test_a_silent_link_makes_the_node_unreachable_and_its_run_goes_on(stage: Stage, far: FarNode) -> None:
    proxy = ChaosProxy(stage.hub.port, seed=1)
    proxy.calm()
    try:
        far.start(f"http://127.0.0.1:{proxy.port}")
        run_id = stage.start("SAY a\nSLEEP 3\nSAY b", node="far")
        stage.until(lambda: stage.run(run_id)["status"] == "running", "the agent to be at work")
        proxy.silence(True)
        far.wait_for("unreachable")
        assert stage.run(run_id)["status"] == "running"
        queued = stage.start("SAY later", node="far")
        assert stage.run(queued)["status"] == "pending"
        proxy.silence(False)
        assert stage.end(run_id)["status"] == "completed"
        assert words(stage, run_id) == ["a", "b"]
        assert stage.end(queued)["output"] == "later"
    finally:
        far.stop()
        proxy.close()


def test_a_second_program_of_one_node_is_refused_and_the_first_works_on(
    stage: Stage, far: FarNode, tmp_path: Path
) -> None:
    far.start(stage.hub.url).wait_for("connected")
    run_id = stage.start("SAY a\nSLEEP 4\nSAY b", node="far")
    stage.until(lambda: stage.run(run_id)["status"] == "running", "the agent to be at work")
    assert refused(far, hello(boot="clone")) == str(build_sentence("node_connected", name=far.name))[:120]
    assert stage.end(run_id)["status"] == "completed"


def test_what_comes_over_an_older_connection_counts_no_more(far: FarNode) -> None:
    url = far.stage.hub.url.replace("http", "ws", 1) + "/node"
    headers = {"Authorization": f"Bearer {far.token_file.read_text()}"}
    with connect(url, additional_headers=headers) as old, connect(url, additional_headers=headers) as new:
        for link in (old, new):
            link.send(hello())
            assert msgspec.json.decode(link.recv(timeout=WAIT_S))["op"] == "welcome"
        with pytest.raises(ConnectionClosed):
            while True:
                old.recv(timeout=WAIT_S)
        new.send(msgspec.json.encode({"op": "item", "number": 1, "run": "", "at": 0, "heard": {}}).decode())
        assert msgspec.json.decode(new.recv(timeout=WAIT_S)) == {"op": "ack", "number": 1}


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ([hello(version=99)], "install the same release on both"),
        ([hello(version=None)], "install the same release on both"),
        (['{"op":"hello"}'], "install the same release on both"),
        (["{"], "not a hello"),
        (['{"op":"ping"}'], "not a hello"),
        ([hello(capacity=-1)], "not a hello"),
        ([hello(labels=["x" * 1000])], "not a hello"),
        ([hello(labels=["x"] * 100)], str(build_sentence("bad_hello", limit=32))),
        (['{"op":"hello","version":' + "[" * 100_000], "not a hello"),
        ([hello()[:-1] + ',"more":' + "[" * 5000 + "]" * 5000 + "}"], "not a hello"),
        ([hello(), '{"op":"item","number":1,"run":"","at":0,"heard":{"a":' + "[" * 5000 + "]" * 5000 + "}}"], ""),
        ([hello(), hello()], ""),
        ([hello(), "{"], ""),
        ([hello(), '{"op":"item","number":5,"run":"","at":0,"heard":{}}'], ""),
        ([hello(), '{"op":"item","number":1,"run":"","at":1e300,"heard":{}}'], ""),
        ([hello(), '{"op":"taken","orders":["nothing"]}', '{"op":"live","agent":"x","kind":"y"}', "[]"], ""),
    ],
)
def test_a_node_that_does_not_keep_to_the_protocol_is_hung_up_on(far: FarNode, said: list[str], why: str) -> None:
    assert why in refused(far, *said)


def test_an_item_that_makes_no_sense_does_not_hold_up_those_after_it(stage: Stage, far: FarNode) -> None:
    odd: list[dict[str, Any]] = [
        {"type": "usage", "input_tokens": "many", "output_tokens": -5, "cost_usd": "free"},
        {"type": "permission_asked", "options": 7, "permission": None},
        {"type": "turn_ended", "reason": 12},
        {"type": 5},
        {},
        {"type": "asleep", "agent": "nobody"},
        {"type": "died", "last_words": {"a": 1}},
    ]
    url = stage.hub.url.replace("http", "ws", 1) + "/node"
    headers = {"Authorization": f"Bearer {far.token_file.read_text()}"}
    with connect(url, additional_headers=headers) as link:
        link.send(hello(drivers={"rehearsal": "1"}, capacity=100))
        link.recv(timeout=WAIT_S)
        for number, heard in enumerate(odd, 1):
            run_id = stage.start("SAY x", node="far")
            order = msgspec.json.decode(link.recv(timeout=WAIT_S))
            assert order["run"] == run_id
            item = {"op": "item", "number": number, "run": run_id, "at": 1, "heard": heard}
            link.send(msgspec.json.encode(item).decode())
            assert msgspec.json.decode(link.recv(timeout=WAIT_S)) == {"op": "ack", "number": number}


def test_a_node_whose_credential_is_revoked_is_hung_up_on(stage: Stage, far: FarNode) -> None:
    far.start(stage.hub.url).wait_for("connected")
    tokens = stage.api.get("/api/credentials").json()
    found = next(one["id"] for one in tokens if one["name"] == "far")
    assert stage.api.delete(f"/api/credentials/{found}").status_code in (200, 204)
    stage.until(lambda: "this node is dismissed" in far.log, "the node to be told")
    assert far.state == "revoked"


def test_a_node_that_is_removed_while_it_talks_is_told_so(stage: Stage, far: FarNode) -> None:
    url = stage.hub.url.replace("http", "ws", 1) + "/node"
    headers = {"Authorization": f"Bearer {far.token_file.read_text()}"}
    with connect(url, additional_headers=headers) as link, pytest.raises(ConnectionClosed) as closed:
        link.send(hello())
        stage.until(lambda: far.state == "connected", "the hub to take it for the node")
        removing = threading.Thread(target=stage.api.delete, args=(f"/api/nodes/{far.id}?force=true",))
        removing.start()
        for number in range(1, 100_000):
            item = frames.ItemFrame(number=number, run="run_none", at=1, heard=WordsReport("hm"))
            link.send(frames.encode(item).decode())
            while number % 200 == 0 and frames.decode_from_hub(link.recv(timeout=WAIT_S)) != frames.Ack(number=number):
                pass  # so that it is no flood
    removing.join(WAIT_S)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == frames.ENDED


def test_a_flood_of_words_starves_neither_the_hub_nor_the_link(stage: Stage) -> None:
    run_id = stage.start("\n".join(f"THINK thought {number}" for number in range(3000)))
    seen = set()
    while (run := stage.run(run_id))["status"] not in ("completed", "failed"):
        stage.api.get("/api/nodes").raise_for_status()
        seen.add(run.get("items", 0))
    assert stage.run(run_id)["status"] == "completed"
    assert stage.run(run_id)["items"] > 3000
    assert len(seen) >= 3, "the hub answers while the words come in"


def test_an_order_that_comes_twice_is_carried_out_once(stage: Stage, far: FarNode, tmp_path: Path) -> None:
    proxy = ChaosProxy(stage.hub.port, seed=3)
    try:
        far.start(f"http://127.0.0.1:{proxy.port}")
        made = tmp_path / "made"  # not among the node's own files, which no agent may write
        stage.profile("open", approvals="never", labels=["far"])
        runs = [stage.start(f"SHELL echo x >> {made}", profile="open") for _ in range(8)]
        stage.until(lambda: proxy.cuts >= 2, "the connection to be cut")
        proxy.calm()
        assert {stage.end(run_id)["status"] for run_id in runs} == {"completed"}
        assert made.read_text().count("x") == 8
    finally:
        far.stop()
        proxy.close()


def test_a_node_that_was_stopped_for_a_while_goes_on(stage: Stage, far: FarNode) -> None:
    far.start(stage.hub.url).wait_for("connected")
    run_id = stage.start("SAY a\nSLEEP 2\nSAY b", node="far")
    stage.until(lambda: stage.run(run_id)["status"] == "running", "the agent to be at work")
    assert far.process is not None
    os.kill(far.process.pid, signal.SIGSTOP)
    far.wait_for("unreachable")
    os.kill(far.process.pid, signal.SIGCONT)
    assert stage.end(run_id)["status"] == "completed"
    assert words(stage, run_id) == ["a", "b"]


def test_a_run_whose_start_reached_only_an_earlier_boot_of_its_node_is_interrupted(stage: Stage, far: FarNode) -> None:
    url = stage.hub.url.replace("http", "ws", 1) + "/node"
    headers = {"Authorization": f"Bearer {far.token_file.read_text()}"}
    with connect(url, additional_headers=headers) as link:
        link.send(hello(drivers={"rehearsal": "1"}))
        stage.until(lambda: far.state == "connected", "the hub to take it for the node")
        run_id = stage.start("SAY once", node="far")
        order = frames.decode_from_hub(link.recv(timeout=WAIT_S))
        while not isinstance(order, frames.Ordered):
            order = frames.decode_from_hub(link.recv(timeout=WAIT_S))
    outbox = NodeOutbox(far.data / "node")
    assert outbox.keep_order(order), "it is stored, and then the machine loses its power"
    outbox.close()
    far.start(stage.hub.url)
    assert stage.end(run_id)["status"] == "interrupted"
    assert stage.done("SAY more", node="far")["output"] == "more"


def test_a_run_waits_for_the_end_of_its_agent_over_a_cut_of_the_link(stage: Stage, far: FarNode) -> None:
    proxy = ChaosProxy(stage.hub.port, seed=5)
    proxy.calm()
    try:
        far.start(f"http://127.0.0.1:{proxy.port}")
        stage.profile("slow", node="far")
        far.wait_for("connected")
        stage.done("SAY before", profile="slow", keep_as="bob")
        assert far.process is not None
        (agent,) = psutil.Process(far.process.pid).children()
        agent.suspend()  # so that it takes its time to end
        stage.profile("slow", node="far", env={"OTHER": "surroundings"})
        run_id = stage.start("RECALL", profile="slow", agent="bob")
        with contextlib.closing(apsw.Connection(str(far.data / "node" / "outbox.db"))) as outbox:
            query = "SELECT 1 FROM orders WHERE run = ?"
            stage.until(lambda: outbox.execute(query, (run_id,)).get, "the node to have the order")
        proxy.cut()
        ended = stage.end(run_id)
        assert (ended["status"], ended["output"]) == ("completed", "prompts: 2, first: SAY before")
    finally:
        far.stop()
        proxy.close()


def test_a_node_that_has_told_more_than_a_restored_hub_knows_goes_on_with_it(stage: Stage, far: FarNode) -> None:
    far.start(stage.hub.url).wait_for("connected")
    stage.done("SAY kept", node="far")
    backup = stage.hub.data.parent / "backup.tar"
    done(stage.hub.data, "backup", str(backup))
    forgotten = stage.start("SAY forgotten\nSLEEP 600", node="far")
    stage.until(lambda: stage.run(forgotten)["status"] == "running", "the agent to be at work")
    stage.hub.stop()
    end_node(stage.hub.data)
    done(stage.hub.data, "restore", str(backup), "--force", "--keep", "far")
    stage.hub.restart()
    with Stage(stage.hub) as restored:
        assert restored.done("SAY more", node="far")["output"] == "more"
        assert far.process is not None
        program = psutil.Process(far.process.pid)
        restored.until(lambda: not program.children(), "the agent that nobody knows any more to be ended")
