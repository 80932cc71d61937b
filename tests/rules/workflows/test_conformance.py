"""Random workflows on every engine, with kills at random points, against an oracle that never crashed."""

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from greenroom.rules.workflows.definition import WorkflowDefinition
from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import TEST_LIMIT_S
from tests.conftest import assert_in_order, end_node
from tests.rules.workflows.conformance import (
    ENGINES,
    Crashing,
    assert_attempts_in_order,
    random_point,
    read_log,
    without_agents,
)
from tests.rules.workflows.graphs import fails, workflows
from tests.rules.workflows.oracle import Oracle

GRAPHS = int(os.environ.get("GREENROOM_TEST_GRAPHS", "0"))
"""How many random workflows are carried out; a thousand for the long version, 0 for as many as fit into any run."""
_FEW = {"embedded": 40, "shared": 12}
SEED = int(os.environ.get("GREENROOM_TEST_SEED", "7"))
_AT_ONCE = 10 if GRAPHS < 200 else 25
pytestmark = pytest.mark.timeout(TEST_LIMIT_S + 5 * GRAPHS)


@pytest.fixture(params=ENGINES)
def crashing(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Crashing]:
    env = {}
    if request.param == "shared":
        env["GREENROOM_DATABASE"] = request.getfixturevalue("postgres").create_database()
    hub = HubProcess(tmp_path / "data", env=env)
    hub.start()
    try:
        yield Crashing(hub, graphs=GRAPHS or _FEW[request.param])
    finally:
        code = hub.stop()
        end_node(hub.data)
    assert_in_order(hub, code)


def random_workflows(count: int) -> list[dict[str, Any]]:
    """Workflows as hypothesis draws them, the same ones for the same seed."""
    found: list[dict[str, Any]] = []

    @seed(SEED)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(workflows())
    def draw(plain: dict[str, Any]) -> None:
        found.append(plain)

    draw()
    return [without_agents(plain, number) for number, plain in enumerate(found[:count])]


def foretold(plain: dict[str, Any], number: int) -> Oracle:
    """What a run must come to."""
    definition = msgspec.convert(plain, WorkflowDefinition)

    def outcome(key: str, attempt: int) -> tuple[bool, Any]:
        step = key.partition("[")[0]
        return (False, "no") if fails(number, step, 0) else (True, {"value": step})

    return Oracle(definition, outcome, lambda key: key).play()


def assert_as_foretold(crashing: Crashing, run_id: str, plain: dict[str, Any], number: int) -> None:
    """A run comes to what it would have come to without any crash."""
    ended, oracle = crashing.end(run_id), foretold(plain, number)
    steps = {one: step for one, step in crashing.steps(run_id).items() if "[" not in one}
    assert ended["status"] == oracle.result, (number, plain)
    assert {one: step["status"] for one, step in steps.items()} == oracle.status, (number, plain)
    told = {one: step["output"] for one, step in steps.items() if step["status"] == "completed"}
    assert told == {one: out for one, out in oracle.output.items() if "[" not in one}, (number, plain)


def test_runs_come_to_the_same_wherever_the_hub_is_killed(crashing: Crashing) -> None:
    chance = random.Random(SEED)
    plains = random_workflows(crashing.graphs)
    for first in range(0, len(plains), _AT_ONCE):
        some = dict(enumerate(plains[first : first + _AT_ONCE], first))
        crashing.arm(*random_point(chance, 6 * _AT_ONCE))
        for number, plain in some.items():
            crashing.start(plain, f"run-{number}")
        crashing.heal()
        runs = {number: crashing.start(plain, f"run-{number}") for number, plain in some.items()}
        for number, run_id in runs.items():
            assert run_id is not None
            assert_as_foretold(crashing, run_id, some[number], number)
    crashing.hub.stop()
    records = read_log(crashing.hub)
    attempts = assert_attempts_in_order(records)
    print(f"{len(plains)} workflows, {attempts} attempts, {crashing.deaths} kills")


def test_runs_that_are_aborted_among_kills_leave_nothing_at_work(crashing: Crashing) -> None:
    chance = random.Random(SEED + 1)
    plains = random_workflows(min(crashing.graphs, 30))
    runs: list[str] = []
    for number, plain in enumerate(plains):
        waiting = {"id": "parked", "wait": {"webhook": "never"}}
        run_id = crashing.start({**plain, "steps": [*plain["steps"], waiting]}, f"run-{number}")
        assert run_id is not None
        runs.append(run_id)
    crashing.arm(*random_point(chance, len(runs)))
    for run_id in runs:
        _abort(crashing, run_id)
    crashing.heal()
    for run_id in runs:
        _abort(crashing, run_id)
        assert crashing.end(run_id)["status"] == "cancelled"
        steps = crashing.steps(run_id)
        assert not [step for step in steps.values() if step["status"] in ("running", "waiting", "delayed", "queued")]
    crashing.hub.stop()
    assert_attempts_in_order(read_log(crashing.hub))


def _abort(crashing: Crashing, run_id: str) -> None:
    import httpx

    try:
        with crashing.client() as client:
            client.post(f"/api/workflow-runs/{run_id}/abort", json={})
    except httpx.TransportError:
        return  # it died; the abort is repeated once it is back


def test_no_agent_is_started_twice_when_the_hub_is_killed_while_agents_work(crashing: Crashing) -> None:
    crashing.hub.stop()
    crashing.hub.restart({**crashing.hub.env, "GREENROOM_LOCAL_NODE": "1"})
    chance = random.Random(SEED + 2)

    def step(name: str, script: str, *before: str) -> dict[str, Any]:
        return {"id": name, "profile": "rehearsal", "prompt": script, "dependencies": list(before), "context": []}

    steps = [
        step("a", "SAY a"),
        {**step("b", "FAIL not so", "a"), "retry": {"max": 1, "backoff_s": 0}, "on_error": "ignore"},
        step("c", "SLEEP 1\nSAY c", "a"),
        {**step("each", "SAY {{ item }}", "a"), "for_each": {"items": ["x", "y", "z"]}},
        step("d", "SAY d", "b", "c", "each"),
    ]
    for number in range(3):
        crashing.arm(*random_point(chance, 70))
        crashing.start({"name": "agents", "steps": steps}, f"agents-{number}")
        crashing.heal()
        run_id = crashing.start({"name": "agents", "steps": steps}, f"agents-{number}")
        assert run_id is not None
        ended = crashing.end(run_id)
        assert (ended["status"], ended["output"]) == ("completed", {"d": "d"}), crashing.steps(run_id)
        found = crashing.steps(run_id)
        assert found["each"]["output"] == ["x", "y", "z"]
        assert [one["number"] for one in found["b"]["attempts"]] == [1, 2]
    crashing.hub.stop()
    assert_attempts_in_order(read_log(crashing.hub))
