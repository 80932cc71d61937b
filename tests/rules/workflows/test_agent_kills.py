"""Random workflows whose steps agents carry out, on a hub that is killed at random points while they are at work.

An agent leaves a line in a file for each attempt, before it answers: what was done twice would be there twice.
"""

import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from greenroom.rules.workflows.definition import WorkflowDefinition
from greenroom.testing.timeouts import TEST_LIMIT_S
from tests.rules.workflows.conformance import Crashing, assert_attempts_in_order, random_point, read_log
from tests.rules.workflows.graphs import fails
from tests.rules.workflows.oracle import Oracle
from tests.rules.workflows.test_conformance import SEED, random_workflows
from tests.rules.workflows.test_conformance import crashing as crashing

GRAPHS = int(os.environ.get("GREENROOM_TEST_GRAPHS", "8"))
"""How many random workflows are carried out; a thousand for the long version."""
_AT_ONCE = 8
_AGENT = "hands"
_COMMITS = 70
"""About as many as a hub makes at least for so many workflows; it dies at one of them."""
pytestmark = pytest.mark.timeout(TEST_LIMIT_S + 20 * GRAPHS)


def with_agents(plain: dict[str, Any], number: int, effects: Path) -> dict[str, Any]:
    """The same workflow with about half of its steps done by an agent, one after another, all by the same one.

    The agent is kept from workflow to workflow, so that starting processes is not what takes the time.
    """
    pool = f"pool:p{number % _AT_ONCE}"
    steps = []
    for step in plain["steps"]:
        if not by_agent(number, step["id"]):
            steps.append(step)
            continue
        place = f"{step['id']}[{{{{ index }}}}]" if "for_each" in step else step["id"]
        answer = "FAIL not this time" if fails(number, step["id"], 0) else f"SAY {step['id']}"
        own = {name: value for name, value in step.items() if name != "set"}
        if "retry" in own:
            own["retry"] = {**own["retry"], "on": []}
        own |= {"profile": _AGENT, "reuse_agent": pool, "keep_agent": True, "keep_as": pool, "context": []}
        own["prompt"] = f"SHELL echo '{{{{ run.id }}}} {place}' >> {effects}\n{answer}"
        steps.append(own)
    return {**plain, "steps": steps, "limits": {"max_parallel": 1}}


def by_agent(number: int, step_id: str) -> bool:
    return fails(number, f"agent of {step_id}", 0, of_ten=5)


def foretold(plain: dict[str, Any], number: int) -> Oracle:
    """What a run must come to."""

    def outcome(key: str, attempt: int) -> tuple[bool, Any]:
        step = key.partition("[")[0]
        if fails(number, step, 0):
            return False, "no"
        return True, step if by_agent(number, step) else {"value": step}

    return Oracle(msgspec.convert(plain, WorkflowDefinition), outcome, lambda key: key).play()


def is_dead_before_the_end(crashing: Crashing, runs: list[str | None]) -> bool:
    """Whether the hub dies before all there is to do is done."""
    try:
        with crashing.client() as client:
            for run_id in runs:
                if run_id is None:
                    return True
                client.get(f"/api/workflow-runs/{run_id}/wait", params={"for_s": 60})
    except httpx.TransportError:
        return True
    return False


def test_no_agent_does_anything_twice_wherever_the_hub_is_killed(crashing: Crashing, tmp_path: Path) -> None:
    effects = tmp_path / "effects"
    effects.touch()
    crashing.hub.stop()
    crashing.hub.restart({**crashing.hub.env, "GREENROOM_LOCAL_NODE": "1"})
    with crashing.client() as client:
        client.put(f"/api/profiles/{_AGENT}", json={"driver": "rehearsal", "approvals": "never"}).raise_for_status()
    chance = random.Random(SEED)
    plains = [with_agents(plain, number, effects) for number, plain in enumerate(random_workflows(GRAPHS))]
    done: Counter[str] = Counter()
    deaths = 0
    for first in range(0, len(plains), _AT_ONCE):
        some = dict(enumerate(plains[first : first + _AT_ONCE], first))
        crashing.arm(*random_point(chance, _COMMITS))
        started = [crashing.start(plain, f"agents-{number}") for number, plain in some.items()]
        deaths += is_dead_before_the_end(crashing, started)
        crashing.heal()
        runs = {number: crashing.start(plain, f"agents-{number}") for number, plain in some.items()}
        for number, run_id in runs.items():
            assert run_id is not None
            done += _need_as_foretold(crashing, run_id, some[number], number)
    assert Counter(effects.read_text().splitlines()) == done
    crashing.hub.stop()
    attempts = assert_attempts_in_order(read_log(crashing.hub))
    print(f"{len(plains)} workflows, {attempts} attempts, {done.total()} by agents, {deaths} kills at work")
    crashing.hub.restart()


def _need_as_foretold(crashing: Crashing, run_id: str, plain: dict[str, Any], number: int) -> Counter[str]:
    """The run is what it would be without any kill; the attempts that agents made for it."""
    ended, oracle, steps = crashing.end(run_id), foretold(plain, number), crashing.steps(run_id)
    whole = {one: step for one, step in steps.items() if "[" not in one}
    assert ended["status"] == oracle.result, (number, ended, steps)
    assert {one: step["status"] for one, step in whole.items()} == oracle.status, (number, steps)
    told = {one: step["output"] for one, step in whole.items() if step["status"] == "completed"}
    assert told == {one: out for one, out in oracle.output.items() if "[" not in one}, (number, steps)
    made = {one: len(step["attempts"]) for one, step in steps.items() if by_agent(number, one.partition("[")[0])}
    assert all(made[one] == oracle.attempts.get(one, 0) for one in made), (number, made, oracle.attempts)
    return Counter({f"{run_id} {one}": count for one, count in made.items() if count})
