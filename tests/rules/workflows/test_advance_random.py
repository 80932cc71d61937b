"""The core against a slow and simple reading of the same definitions."""

from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from greenroom.rules.workflows import events as e
from greenroom.rules.workflows.core.news import Ended, RetryRequested, StopRequested
from greenroom.rules.workflows.definition import WorkflowDefinition
from greenroom.rules.workflows.model import WorkflowStep
from tests.rules.workflows.graphs import fails, rank, workflows
from tests.rules.workflows.oracle import Oracle
from tests.rules.workflows.player import Outcome, Player


def outcome(seed: int, key: str, attempt: int) -> Outcome:
    return (False, "no") if fails(seed, key, attempt) else (True, f"{key} {attempt}")


def player_of(given_workflow: dict[str, Any], seed: int, **limits: int) -> Player:
    definition = msgspec.convert({**given_workflow, "limits": limits}, WorkflowDefinition)

    def script(step: WorkflowStep) -> Outcome:
        return outcome(seed, step.id, step.attempt)

    return Player(definition, script, lambda step_id: rank(seed, step_id))


@settings(max_examples=300, deadline=None)
@given(workflows(), st.integers(0, 2**32))
def test_a_run_comes_to_what_the_simple_reading_says(plain: dict[str, Any], seed: int) -> None:
    player = player_of(plain, seed, max_parallel=1000).play()
    oracle = Oracle(player.definition, lambda key, n: outcome(seed, key, n), lambda key: rank(seed, key)).play()
    assert player.status == oracle.result
    assert {key: status for key, status in player.statuses().items() if "[" not in key} == oracle.status
    assert {key: out for key, out in player.outputs().items() if "[" not in key} == {
        key: out for key, out in oracle.output.items() if "[" not in key
    }


@settings(max_examples=200, deadline=None)
@given(workflows(), st.integers(0, 2**32), st.integers(1, 3))
def test_counts_are_right_and_attempts_are_numbered_without_gaps(plain: dict[str, Any], seed: int, bound: int) -> None:
    player = player_of(plain, seed, max_parallel=bound)
    most = 0
    script = player.script

    def watched(step: WorkflowStep) -> Outcome:
        nonlocal most
        most = max(most, len(player.at_work()))
        return script(step)

    player.script = watched
    player.play()
    run = player.board.run
    assert most <= bound
    assert run.status in ("completed", "failed")
    assert (run.active, run.working) == (0, 0)
    over = [step for step in player.board.steps.values() if step.index is None and step.status not in ("pending",)]
    assert run.over == len(over)
    seen: dict[str, int] = {}
    for step, number in player.attempts():
        assert number == seen.get(step, 0) + 1
        seen[step] = number


@settings(max_examples=200, deadline=None)
@given(workflows(), st.integers(0, 2**32), st.integers(0, 12))
def test_a_run_that_is_aborted_and_taken_up_again_comes_to_an_end(plain: dict[str, Any], seed: int, at: int) -> None:
    player = player_of(plain, seed, max_parallel=3)
    player.play_some(at)
    player.tell(StopRequested(error="enough"))
    assert not player.at_work()
    finished = player.outputs()
    if player.status == "cancelled":
        player.tell(RetryRequested())
        player.play()
        again = {event.step: event.keeps for event in player.events if isinstance(event, e.StepReset)}
        kept = {one: out for one, out in finished.items() if again.get(one.partition("[")[0], "[" in one)}
        kept |= {one: out for one, out in finished.items() if one not in again and "[" not in one}
        assert kept.items() <= player.outputs().items()
    assert player.status in ("completed", "failed", "cancelled")
    assert (player.board.run.active, player.board.run.working) == (0, 0)


@settings(max_examples=200, deadline=None)
@given(workflows(), st.integers(0, 2**32), st.data())
def test_news_that_comes_twice_or_too_late_changes_nothing(
    plain: dict[str, Any], seed: int, data: st.DataObject
) -> None:
    player = player_of(plain, seed, max_parallel=1000)
    player.play_some(data.draw(st.integers(0, 10)))
    for step in list(player.board.steps.values()):
        for number in range(1, step.attempt):
            assert player.tell(Ended(step=step.id, attempt=number, ok=True)) == []
