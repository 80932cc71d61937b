"""Each refusal of the rules of runs, by its code and over REST."""

from collections.abc import Iterator

import pytest

from tests.doors.rest.refusals import Case, assert_refused, describe_case
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
    yield {"agent": shared_stage.run(working)["agent_id"], "ended": ended["id"]}
    shared_stage.tidy()


@pytest.mark.parametrize("case", CASES, ids=describe_case)
def test_a_wrong_request_is_refused_by_its_code(shared_stage: Stage, known: dict[str, str], case: Case) -> None:
    assert_refused(shared_stage.api, known, case)
