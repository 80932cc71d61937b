"""Each refusal of the rules of runs, by its code and over REST."""

from collections.abc import Iterator

import httpx
import pytest

from greenroom.testing.hub_process import HubProcess
from tests.doors.rest.refusals import Case, assert_refused, describe_case
from tests.doors.rest.rest_rig import Rest, code_of
from tests.stage import Stage

CASES = [
    Case("profile_disabled", 409, "POST", "/api/runs", {"profile": "off", "prompt": "x"}),
    Case("bad_prompt", 400, "POST", "/api/runs", {"profile": "rehearsal", "prompt": " "}),
    Case("wrong_profile", 409, "POST", "/api/runs", {"profile": "other", "prompt": "x", "agent": "{agent}"}),
    Case("agent_busy", 409, "POST", "/api/agents/{agent}/stop"),
    Case("run_ended", 409, "POST", "/api/runs/{ended}/steer", {"text": "x"}),
    Case("not_paused", 409, "POST", "/api/runs/{ended}/extend", {"timeout_s": 1}),
    Case("not_interrupted", 409, "POST", "/api/runs/{ended}/resume", {}),
]


@pytest.fixture(scope="module")
def known(shared_stage: Stage) -> Iterator[dict[str, str]]:
    """A run at work, its agent, and a run that is over."""
    shared_stage.profile("off", enabled=False)
    shared_stage.profile("other")
    ended = shared_stage.done("SAY hi")
    working = shared_stage.start("SLEEP 3600")
    yield {"agent": shared_stage.run(working)["agent_id"], "ended": ended["id"], "working": working}
    shared_stage.tidy()


@pytest.mark.parametrize("case", CASES, ids=describe_case)
def test_a_wrong_request_is_refused_by_its_code(shared_stage: Stage, known: dict[str, str], case: Case) -> None:
    assert_refused(shared_stage.api, known, case)


def test_an_agent_does_not_steer_itself(shared_stage: Stage, known: dict[str, str]) -> None:
    with Rest(shared_stage.hub) as rest:
        agent = rest.bearer(kind="agent", agent_id=known["agent"])
        refused = agent.post(f"/api/runs/{known['working']}/steer", json={"text": "SAY more"})
    assert code_of(refused) == (403, "own_run")


def test_a_tree_has_a_bounded_number_of_runs(hub: HubProcess) -> None:
    """They wait for a node, all of them."""
    with Rest(hub) as rest:
        rest.operator.put("/api/profiles/wide", json={"driver": "rehearsal", "max_children": 100}).raise_for_status()

        def start(parent: str | None = None) -> httpx.Response:
            body = {"profile": "wide", "prompt": "x", "node": "away", "parent_id": parent}
            return rest.operator.post("/api/runs", json=body)

        rest.operator.post("/api/nodes", json={"name": "away"}).raise_for_status()
        root = start().json()["id"]
        children = [start(root).json()["id"] for _ in range(100)]
        for _ in range(99):
            assert start(children[0]).status_code == 201
        assert code_of(start(children[1])) == (429, "too_many_runs")
        assert len(rest.operator.get(f"/api/runs/{root}/tree").json()["runs"]) == 200
        rest.operator.post(f"/api/runs/{root}/cancel", json={}).raise_for_status()
