"""Taking nodes out of use: a drained one keeps what it holds, a removed one is gone with all it had."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from greenroom.testing.timeouts import WAIT_S
from tests.cli.shell import done
from tests.far_node import FarNode
from tests.stage import Stage

pytestmark = pytest.mark.one_stage
Join = Callable[..., FarNode]
SAY_CODE = """
import sys
from greenroom.cli.main import build_parser
from greenroom.errors import Refused
args = build_parser(None).parse_args(sys.argv[1:])
try:
    args.run(args)
except Refused as no:
    print(f"{no.code}: {no}")
"""
"""A command as `main` runs it, which says the code of its refusal."""


@pytest.fixture
def join(stage: Stage, tmp_path: Path) -> Iterator[Join]:
    """Lets nodes in, each with a label that is its name."""
    joined: list[FarNode] = []

    def join(name: str) -> FarNode:
        node = FarNode(stage, tmp_path, name, "--label", name).start(stage.hub.url)
        joined.append(node)
        node.wait_for("connected")
        return node

    yield join
    for node in joined:
        node.stop()


def at_work(stage: Stage, node: FarNode, **fields: Any) -> str:
    """A run on the node that waits for a person."""
    run_id = stage.start("WRITE made.txt x\nSAY done", node=node.name, **fields)
    stage.until(lambda: stage.run(run_id)["status"] == "waiting", "the agent to ask")
    return run_id


def say(stage: Stage, node: FarNode, what: str) -> dict[str, Any]:
    answer = stage.api.post(f"/api/nodes/{node.id}/{what}")
    assert answer.status_code == 200, answer.text
    shown: dict[str, Any] = answer.json()
    return shown


def remove(stage: Stage, node: FarNode, **query: str) -> str:
    """The code of the refusal, or nothing."""
    answer = stage.api.delete(f"/api/nodes/{node.id}", params=query)
    return "" if answer.status_code == 204 else str(answer.json()["code"])


def is_listed(stage: Stage, node: FarNode) -> bool:
    return node.id in [one["id"] for one in stage.api.get("/api/nodes").json()]


def test_a_drained_node_keeps_its_agents_and_gets_no_others(stage: Stage, join: Join) -> None:
    node = join("drained")
    first = at_work(stage, node)
    assert say(stage, node, "drain")["draining"] is True
    second = stage.start("SAY later", node=node.name)
    stage.decide(stage.asked()["id"], "approve")
    assert stage.end(first)["output"] == "done"
    assert (stage.run(second)["status"], stage.run(second).get("node_id")) == ("pending", None)
    assert "draining" not in say(stage, node, "undrain")
    assert stage.end(second)["output"] == "later"


def test_a_kept_agent_goes_on_at_a_drained_node_and_is_not_woken_there(stage: Stage, join: Join) -> None:
    node = join("keeping")
    assert stage.done("SAY a", node=node.name, keep_as="minder")["output"] == "a"
    say(stage, node, "drain")
    assert stage.done("SAY b", agent="minder")["output"] == "b"
    assert stage.api.post("/api/agents/minder/stop").json()["process"] == "asleep"
    waits = stage.start("SAY c", agent="minder")
    assert stage.run(waits)["status"] == "pending"
    say(stage, node, "undrain")
    assert stage.end(waits)["output"] == "c"


def test_runs_go_round_a_drained_node(stage: Stage, join: Join) -> None:
    node = join("round")
    stage.profile("rounds", labels=["round"])
    say(stage, node, "drain")
    listed = stage.api.get("/api/profiles").json()
    assert next(one["is_invitable"] for one in listed if one["name"] == "rounds") is False
    checked = stage.api.get("/api/profile-check", params={"name": "rounds"}).json()["profiles"][0]
    assert (checked["ok"], "undrain round" in checked["nodes"][0]["problems"][0]) == (False, True)
    assert stage.done("SAY x")["node_id"] != node.id


def test_a_profile_is_looked_at_where_it_would_run(stage: Stage, join: Join) -> None:
    stage.done("SAY the local node is there")
    node = join("looker")
    (node.data / "only-there").mkdir()
    stage.profile("choosy", directory="~/only-there")

    def found() -> dict[str, list[str]]:
        checked = stage.api.get("/api/profile-check", params={"name": "choosy"}).json()["profiles"][0]
        return {one["node"]: one["problems"] for one in checked["nodes"] if one["node"] in ("local", "looker")}

    assert found()["looker"] == []
    (problem,) = found()["local"]
    assert problem.startswith("directory: ")
    stage.profile("choosy", driver="pty", command=["no-such-program"], pass_env=["NO_SUCH"], labels=["looker"])
    assert [one.partition(":")[0] for one in found()["looker"]] == ["command", "pass_env"]
    node.stop()
    node.wait_for("unreachable")
    assert found()["looker"] == ["the node is unreachable"]


def test_an_interrupted_run_is_not_resumed_at_a_drained_node(stage: Stage, join: Join) -> None:
    node = join("resumer")
    run_id = at_work(stage, node)
    node.kill()
    node.start(stage.hub.url)
    assert stage.end(run_id)["status"] == "interrupted"
    say(stage, node, "drain")
    assert stage.api.post(f"/api/runs/{run_id}/resume", json={}).json()["code"] == "node_draining"
    say(stage, node, "undrain")
    assert remove(stage, node) == ""
    assert stage.api.post(f"/api/runs/{run_id}/resume", json={}).json()["code"] == "no_session"


def test_a_node_that_holds_agents_is_removed_only_by_force(stage: Stage, join: Join) -> None:
    node = join("busy")
    run_id = at_work(stage, node)
    pinned = stage.start("SLEEP 60", node=node.name)
    assert remove(stage, node) == "node_in_use"
    assert is_listed(stage, node)
    assert remove(stage, node, force="true") == ""
    assert not is_listed(stage, node)
    for one in (run_id, pinned):
        ended = stage.end(one)
        assert (ended["status"], ended["error"]) == ("failed", "its node was removed")
    assert not stage.api.get("/api/asks").json()["asks"]
    assert node.process is not None
    assert node.process.wait(WAIT_S) == 1
    assert "was removed from its hub" in node.log
    left = [p for p in psutil.process_iter(["cmdline"]) if str(node.data) in " ".join(p.info["cmdline"] or [])]
    assert not left


def test_a_run_that_is_pinned_to_a_drained_node_says_at_once_what_it_waits_for(stage: Stage, tmp_path: Path) -> None:
    node = FarNode(stage, tmp_path, "resting")
    argv = ["run", "rehearsal", "SAY x", "--node", node.name, "--detach", "--json"]
    ran = done(stage.hub.data, *argv)
    assert ran.err == "waiting — for the node resting, which is not connected: see `greenroom node list`\n"
    say(stage, node, "drain")
    ran = done(stage.hub.data, *argv)
    assert ran.json["waits_for"] == "for the node resting, which is drained: `greenroom node undrain resting`"
    assert ran.err == f"waiting — {ran.json['waits_for']}\n"
    assert remove(stage, node, force="true") == ""


def test_a_node_that_was_removed_ends_and_says_what_to_do(stage: Stage, tmp_path: Path) -> None:
    node = FarNode(stage, tmp_path, "leaver")
    argv = ["node", "--join", stage.hub.url, "--token-file", str(node.token_file), "--data", str(node.data)]
    with subprocess.Popen([sys.executable, "-c", SAY_CODE, *argv], stdout=subprocess.PIPE, text=True) as program:
        try:
            stage.until(lambda: node.state == "connected", "the node to be connected")
            assert remove(stage, node) == ""
            said, _ = program.communicate(timeout=WAIT_S)
        finally:
            program.kill()  # else a failure above would wait for its end
    assert said == "node_removed: This node was removed from its hub: add it again with `greenroom node add`.\n"


def test_a_run_that_waits_for_its_node_is_in_the_way_of_removing_it(stage: Stage, tmp_path: Path) -> None:
    node = FarNode(stage, tmp_path, "never-there")
    run_id = stage.start("SAY x", node=node.name)
    assert remove(stage, node) == "node_in_use"
    assert remove(stage, node, force="true") == ""
    assert stage.end(run_id)["status"] == "failed"
    assert remove(stage, node) == "node_not_found"


def test_a_machine_that_was_removed_can_be_let_in_anew(stage: Stage, join: Join) -> None:
    node = join("again")
    assert stage.done("SAY a", node=node.name)["output"] == "a"
    assert remove(stage, node) == ""
    assert node.process is not None
    node.process.wait(WAIT_S)
    joined = stage.api.post("/api/nodes", json={"name": node.name}).json()
    node.id = joined["node_id"]
    node.token_file.write_text(joined["token"])
    node.start(stage.hub.url).wait_for("connected")
    assert stage.done("SAY b", node=node.name)["output"] == "b"


def test_an_agent_whose_node_was_removed_begins_anew_elsewhere(stage: Stage, join: Join) -> None:
    node = join("lost")
    stage.done("SAY a", node=node.name, keep_as="wanderer")
    assert stage.api.post("/api/agents/wanderer/stop").status_code == 200
    assert remove(stage, node) == ""
    again = stage.done("SAY b", agent="wanderer")
    assert (again["status"], again["output"]) == ("completed", "b")
    assert again["node_id"] != node.id


def test_the_hubs_own_node_is_not_removed_while_it_is_there(stage: Stage) -> None:
    stage.done("SAY the local node is there")
    assert stage.api.delete("/api/nodes/local", params={"force": "true"}).json()["code"] == "local_node"


def test_the_local_node_gets_a_new_credential_when_its_own_was_ended(stage: Stage) -> None:
    stage.done("SAY the local node is there")
    given = [one for one in stage.api.get("/api/credentials").json() if one["kind"] == "node"]
    local = next(one["id"] for one in given if one["name"] == "local" and not one["revoked_at"])
    stage.api.delete(f"/api/credentials/{local}").raise_for_status()
    assert stage.done("SAY back")["output"] == "back"


def test_runs_of_a_revoked_node_end_and_say_why(stage: Stage, join: Join) -> None:
    node = join("revoked")
    at_it, waiting = at_work(stage, node), stage.start("SAY later", node=node.name, agent=None)
    credentials = stage.api.get("/api/credentials").json()
    credential = next(one["id"] for one in credentials if one["kind"] == "node" and one["name"] == node.name)
    assert stage.api.delete(f"/api/credentials/{credential}").status_code in (200, 204)
    for run_id in (at_it, waiting):
        ended = stage.end(run_id)
        assert ended["status"] in ("failed", "completed"), ended
    assert (stage.run(at_it)["status"], stage.run(at_it)["error"]) == ("failed", "its node was revoked")
    assert node.state == "revoked"
    assert node.process is not None and node.process.wait(WAIT_S) != 0
    assert "dismissed" in node.log
    assert remove(stage, node) == ""


def test_a_node_that_was_revoked_while_it_was_away_ends_its_agents_once_it_hears_of_it(
    stage: Stage, join: Join
) -> None:
    node = join("awayandrevoked")
    run_id = at_work(stage, node)
    assert node.process is not None
    node.process.send_signal(signal.SIGSTOP)
    try:
        node.wait_for("unreachable")
        shown = stage.run(run_id)
        assert f"its node {node.name} cannot be reached" in shown["held_up_by"]
        listed = next(one for one in stage.api.get("/api/runs").json() if one["id"] == run_id)
        assert listed["held_up_by"] == shown["held_up_by"]
        assert "node away" in done(stage.hub.data, "runs", "list").out
        assert "cannot be reached" in done(stage.hub.data, "runs", "show", run_id).out
        credentials = stage.api.get("/api/credentials").json()
        credential = next(one["id"] for one in credentials if one["kind"] == "node" and one["name"] == node.name)
        stage.api.delete(f"/api/credentials/{credential}")
        assert stage.end(run_id)["error"] == "its node was revoked"
        assert not stage.run(run_id).get("held_up_by")
    finally:
        node.process.send_signal(signal.SIGCONT)
    assert node.process.wait(WAIT_S) != 0
    assert "its credential was ended while it was away" in node.log


@pytest.mark.parametrize(("token", "why"), [("gr_node_made_up", "not known there"), ("", "is not a node's")])
def test_a_node_with_a_wrong_token_is_told_where_to_get_a_right_one(
    stage: Stage, tmp_path: Path, token: str, why: str
) -> None:
    node = FarNode(stage, tmp_path, f"wrong{len(token)}")
    node.token_file.write_text(token or stage.hub.token)
    node.start(stage.hub.url)
    try:
        stage.until(lambda: why in node.log, "the node to say what is wrong")
        assert "greenroom node add NAME" in node.log
    finally:
        node.stop()
