"""Agents that ask the hub the same again and again are paused; those that wait, or are told something new, are not."""

import pytest

from greenroom.testing.hub_process import wait_until
from tests.stage import Stage

TIMES = 4


@pytest.fixture
def strict(stage: Stage) -> Stage:
    """A hub that is quick to see a loop."""
    (stage.hub.data / "policy.toml").write_text(f"[options]\nloop_times = {TIMES}\n")
    wait_until(lambda: stage.api.get("/api/policy").json()["options"].get("loop_times") == TIMES)
    return stage


@pytest.mark.parametrize("verdict", ["approve", "deny"])
@pytest.mark.parametrize("call", ["TOOL agent_list {}", 'TOOL mail_wait {"timeout_ms": 20}'])
def test_the_same_question_with_the_same_answer_is_a_loop(strict: Stage, call: str, verdict: str) -> None:
    run = strict.start(f"{call}\n" * (2 * TIMES - 2) + "SLEEP 600")
    ask = strict.asked()
    assert (ask["rule"], ask["risk"]) == ("loop", "high")
    assert f"the same call {TIMES} times" in ask["why"]
    strict.until(lambda: strict.run(run)["status"] == "waiting", "the run to be paused")
    assert strict.decide(ask["id"], verdict).is_success
    if verdict == "deny":
        assert strict.end(run)["status"] == "cancelled"
    else:
        assert strict.run(run)["status"] == "running"


def test_the_same_question_with_another_answer_each_time_is_none(strict: Stage) -> None:
    steps = [f'TOOL thread_list {{}}\nTOOL thread_create {{"topic": "topic {number}"}}' for number in range(2 * TIMES)]
    assert strict.done("\n".join([*steps, "SAY done"]))["output"] == "done"


def test_waits_that_really_wait_are_none(strict: Stage) -> None:
    script = 'TOOL mail_wait {"timeout_ms": 5500}\n' * (TIMES + 1) + "SAY done"
    assert strict.done(script)["output"] == "done"
