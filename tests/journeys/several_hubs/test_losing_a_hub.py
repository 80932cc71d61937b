"""One of two hubs is lost while workflows are carried out: the other finishes the work, nothing is lost or doubled."""

import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from greenroom.rules.runs.events import RunCreated
from greenroom.testing.hub_process import HubProcess, wait_until
from greenroom.testing.postgres import PostgresServer
from greenroom.testing.timeouts import TEST_LIMIT_S
from tests.conftest import assert_in_order, end_node
from tests.rules.workflows.conformance import Crashing, assert_attempts_in_order, random_point, read_log
from tests.rules.workflows.test_conformance import assert_as_foretold, random_workflows

KILLS = int(os.environ.get("GREENROOM_TEST_KILLS", "2"))
"""How often a hub is killed; twenty for the long version."""
_AT_ONCE = 8
Pair = tuple[Crashing, Crashing]
pytestmark = pytest.mark.timeout(TEST_LIMIT_S + 60 * KILLS)


@pytest.fixture
def pair(tmp_path: Path, postgres: PostgresServer) -> Iterator[Pair]:
    """Two hubs; whatever a test does to them, both end well and leave a log that is whole."""
    env = {"GREENROOM_DATABASE": postgres.create_database()}
    hubs = [HubProcess(tmp_path / name, env) for name in ("a", "b")]
    try:
        yield Crashing(hubs[0].start()), Crashing(hubs[1].start())
    finally:
        codes = [hub.stop() for hub in hubs]
        for hub in hubs:
            end_node(hub.data)
    for hub, code in zip(hubs, codes, strict=True):
        assert_in_order(hub, code)


def test_the_other_hub_finishes_the_workflows_of_one_that_is_killed(pair: Pair) -> None:
    chance = random.Random(11)
    plains = dict(enumerate(random_workflows(KILLS * _AT_ONCE)))
    carried: Counter[str] = Counter()
    for kill in range(KILLS):
        victim, other = chance.sample(pair, 2)
        victim.arm(*random_point(chance, 40))
        if kill % 2:  # the one that is lost leads
            other.heal()
        some = {number: plains[number] for number in range(kill * _AT_ONCE, (kill + 1) * _AT_ONCE)}
        runs = {number: other.start(plain, f"run-{number}") for number, plain in some.items()}
        victim.hub.kill()
        for number, run_id in runs.items():
            assert run_id is not None
            assert_as_foretold(other, run_id, some[number], number)
        carried[other.hub.data.name] += 1
        victim.heal()
    for crashing in pair:
        crashing.hub.stop()
    attempts = assert_attempts_in_order(read_log(pair[0].hub))
    print(f"{len(plains)} workflows, {attempts} attempts, {KILLS} losses, survivors {dict(carried)}")


def test_agents_of_a_workflow_go_on_and_are_started_once_when_a_hub_is_killed(pair: Pair) -> None:
    for crashing in pair:
        crashing.hub.stop()
        crashing.hub.restart({**crashing.hub.env, "GREENROOM_LOCAL_NODE": "1"})
    victim, other = pair
    steps = [
        {
            "id": "each",
            "profile": "rehearsal",
            "prompt": "SLEEP 2\nSAY {{ item }}",
            "for_each": {"items": list("uvwxyz")},
        },
        {"id": "last", "profile": "rehearsal", "prompt": "SAY done", "dependencies": ["each"], "context": []},
    ]
    run_id = other.start({"name": "team", "steps": steps}, "team")
    assert run_id is not None
    victim.heal()
    ended = other.end(run_id)
    assert (ended["status"], ended["output"]) == ("completed", {"last": "done"}), other.steps(run_id)
    assert other.steps(run_id)["each"]["output"] == list("uvwxyz")
    for crashing in pair:
        crashing.hub.stop()
    records = read_log(other.hub)
    assert_attempts_in_order(records)
    assert sum(isinstance(record.event, RunCreated) for record in records) == 7


def test_a_step_whose_machine_is_lost_says_so_and_can_be_done_elsewhere(
    two_hubs: tuple[HubProcess, HubProcess],
) -> None:
    victim, other = (Crashing(hub) for hub in two_hubs)
    own = (victim.hub.data / "hub.id").read_text().strip()
    with other.client() as client:
        wait_until(lambda: own in [node.get("hub") for node in client.get("/api/nodes").json()])
        lost = next(node["name"] for node in client.get("/api/nodes").json() if node.get("hub") == own)
        there = {"driver": "rehearsal", "node": lost}
        assert client.put("/api/profiles/there", json=there).status_code == 200
        run_id = other.start({"name": "far", "steps": [{"id": "far", "profile": "there", "prompt": "HANG"}]}, "far")
        assert run_id is not None
        wait_until(lambda: "running" in [run["status"] for run in client.get("/api/runs").json()])
        victim.hub.kill()
        end_node(victim.hub.data)
        wait_until(lambda: f"node {lost} cannot be reached" in (other.steps(run_id)["far"]["reason"] or ""))
        assert client.delete(f"/api/nodes/{lost}", params={"force": True}).status_code < 300
        assert "its node was removed" in other.end(run_id)["error"]
        change = {"step": "far", "changes": {"profile": "rehearsal", "prompt": "SAY here"}}
        assert client.post(f"/api/workflow-runs/{run_id}/amend", json=change).status_code == 200
        assert client.post(f"/api/workflow-runs/{run_id}/retry", json={}).status_code == 200
    assert other.end(run_id)["output"] == {"far": "here"}
