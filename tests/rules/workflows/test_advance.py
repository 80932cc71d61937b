"""The core, told one thing after another."""

import msgspec

from greenroom.rules.workflows import events as e
from greenroom.rules.workflows.core.news import (
    Answered,
    Begin,
    Due,
    Ended,
    Interrupted,
    Mend,
    PauseRequested,
    ResumeRequested,
    RetryRequested,
    RunDue,
    StopRequested,
)
from greenroom.rules.workflows.model import WorkflowStep, WorkflowUsage
from tests.rules.workflows.player import Outcome, Player, Script, workflow


def after(step_id: str, *before: str, **more: object) -> dict[str, object]:
    return {"id": step_id, "dependencies": list(before), **more}


def failing(*steps: str, times: int = 1000) -> Script:
    counts: dict[str, int] = {}

    def script(step: WorkflowStep) -> Outcome:
        if step.id in steps:
            counts[step.id] = counts.get(step.id, 0) + 1
            if counts[step.id] <= times:
                return False, "no"
        return True, step.id

    return script


def test_steps_run_after_those_they_depend_on() -> None:
    player = Player(workflow(after("c", "a", "b"), after("a"), after("b", "a"))).play()
    assert [step for step, _ in player.attempts()] == ["a", "b", "c"]
    assert player.status == "completed"
    assert player.board.run.output == {"c": "c"}


def test_a_skipped_step_skips_what_depends_on_it() -> None:
    player = Player(workflow(after("a"), after("b", "a", when="false"), after("c", "b"), after("d", "a"))).play()
    assert player.statuses() == {"a": "completed", "b": "skipped", "c": "skipped", "d": "completed"}
    assert player.status == "completed"


def test_a_choice_meets_again_where_any_way_is_enough() -> None:
    edges = [
        {"from": "a", "to": "yes", "when": "steps.a.output == 'a'"},
        {"from": "a", "to": "no", "when": "steps.a.output != 'a'"},
        {"from": "yes", "to": "both"},
        {"from": "no", "to": "both"},
    ]
    definition = workflow({"id": "a"}, {"id": "yes"}, {"id": "no"}, {"id": "both", "join": "any"}, edges=edges)
    player = Player(definition).play()
    assert player.statuses() == {"a": "completed", "yes": "completed", "no": "skipped", "both": "completed"}


def test_a_condition_that_cannot_be_worked_out_fails_its_step_and_is_not_false() -> None:
    player = Player(workflow(after("a"), after("b", "a", when="steps.a.output.score > 3"))).play()
    assert player.statuses() == {"a": "completed", "b": "failed"}
    assert player.status == "failed"
    assert "no 'score'" in str(player.board.run.error) or "score" in str(player.board.run.error)


def test_a_failure_ends_what_is_at_work_and_leaves_the_rest() -> None:
    player = Player(workflow(after("a"), after("b"), after("c", "b")), failing("a")).play()
    assert player.statuses() == {"a": "failed", "b": "cancelled", "c": "pending"}
    assert player.status == "failed"
    assert [ending.kind for ending in player.board.endings] == ["run"]


def test_what_a_failure_means_is_the_steps_choice() -> None:
    ignored = Player(workflow(after("a", on_error="ignore"), after("b", "a")), failing("a")).play()
    assert ignored.statuses() == {"a": "failed", "b": "completed"}
    assert (ignored.status, ignored.board.run.debts) == ("completed", 1)
    skipped = Player(workflow(after("a", on_error="skip"), after("b", "a")), failing("a")).play()
    assert skipped.statuses() == {"a": "skipped", "b": "skipped"}
    routed = workflow(after("a", on_error="route:mend"), after("b", "a"), {"id": "mend"})
    assert Player(routed, failing("a")).play().statuses() == {"a": "failed", "b": "skipped", "mend": "completed"}
    assert Player(routed).play().statuses() == {"a": "completed", "b": "completed", "mend": "skipped"}


def test_a_failed_attempt_is_made_again_after_a_growing_pause() -> None:
    retry = {"max": 3, "backoff_s": 10, "factor": 2, "jitter": 0.5}
    player = Player(workflow(after("a", retry=retry)), failing("a", times=2)).play()
    assert player.attempts() == [("a", 1), ("a", 2), ("a", 3)]
    assert player.status == "completed"
    first, second = [event for event in player.events if isinstance(event, e.StepDelayed)]
    assert 10_000 <= first.due - 1_000 <= 15_000
    assert 20_000 <= second.due - first.due <= 30_000
    again = Player(workflow(after("a", retry=retry)), failing("a", times=2)).play()
    assert [ev.due for ev in again.events if isinstance(ev, e.StepDelayed)] == [first.due, second.due]
    assert [(one.number, one.status) for one in player.board.attempts] == [(1, "failed"), (2, "failed")]


def test_retries_are_for_the_failures_that_are_named() -> None:
    player = Player(workflow(after("a", retry={"max": 3, "on": ["timeout"]})), failing("a")).play()
    assert player.attempts() == [("a", 1)]
    assert player.status == "failed"


def test_a_step_whose_time_is_over_fails_and_its_agent_is_ended() -> None:
    player = Player(workflow(after("a", timeout_s=5)))
    player.tell(Begin())
    player.tell(Due(step="a", due=6_000))
    assert player.status == "failed"
    assert "within 5 s" in str(player.board.run.error)
    assert (player.board.endings[0].kind, player.board.endings[0].key[:4]) == ("run", "run_")


def test_a_fan_out_keeps_to_its_bound_and_joins_in_order() -> None:
    most = 0

    def script(step: WorkflowStep) -> Outcome:
        nonlocal most
        most = max(most, len(player.at_work()))
        return True, step.item

    each = {"items": "inputs.names", "parallel": 3}
    player = Player(workflow(after("a", for_each=each), after("b", "a")), script, inputs={"names": list("abcdefg")})
    player.rank = lambda step_id: tuple(-ord(sign) for sign in step_id)
    player.play()
    assert player.board.step("a").output == list("abcdefg")  # type: ignore[union-attr]
    assert most == 3


def test_items_that_fail_decide_as_the_join_says() -> None:
    def each(join: str) -> dict[str, object]:
        return {"items": [1, 2, 3], "join": join, "parallel": 1}

    all_of = Player(workflow(after("a", for_each=each("all"))), failing("a[1]")).play()
    assert (all_of.status, all_of.statuses()["a[2]"]) == ("failed", "cancelled")
    settled = Player(workflow(after("a", for_each=each("settled"))), failing("a[1]")).play()
    assert settled.board.step("a").output == ["a[0]", None, "a[2]"]  # type: ignore[union-attr]
    one = Player(workflow(after("a", for_each=each("any"))), failing("a[0]")).play()
    assert one.board.step("a").output == ["a[1]"]  # type: ignore[union-attr]
    assert one.statuses()["a[2]"] == "cancelled"
    none = Player(workflow(after("a", for_each=each("any"))), failing("a[0]", "a[1]", "a[2]")).play()
    assert none.status == "failed"


def test_an_empty_fan_out_is_joined_at_once() -> None:
    player = Player(workflow(after("a", for_each={"items": []}), after("b", "a"))).play()
    assert (player.status, player.board.step("a").output) == ("completed", [])  # type: ignore[union-attr]


def test_a_loop_goes_on_until_it_is_enough_and_no_longer_than_its_limit() -> None:
    step = {"id": "a", "loop": {"until": "output.n >= 2", "max": 5}, "set": {"n": "round.index"}}
    player = Player(workflow(step)).play()
    assert player.board.step("a").output == {"n": 2}  # type: ignore[union-attr]
    assert player.attempts() == [("a", 1), ("a", 2), ("a", 3)]
    endless = Player(workflow({"id": "a", "loop": {"while": "true", "max": 3}, "set": {"n": "1"}})).play()
    assert len(endless.attempts()) == 3
    assert "3 rounds" in str(endless.board.run.error)


def test_no_more_attempts_are_at_work_than_the_run_allows() -> None:
    most = 0

    def script(step: WorkflowStep) -> Outcome:
        nonlocal most
        most = max(most, len(player.at_work()))
        return True, 1

    steps = [after(f"s{n}") for n in range(9)]
    player = Player(workflow(*steps, limits={"max_parallel": 2}), script)
    player.play()
    assert (player.status, most, player.board.run.working) == ("completed", 2, 0)


def test_the_first_success_ends_the_others() -> None:
    player = Player(workflow(after("a"), after("b"), after("c"), policy="first_success"), failing("a")).play()
    assert player.statuses() == {"a": "failed", "b": "completed", "c": "cancelled"}
    assert player.status == "completed"
    assert Player(workflow(after("a"), policy="first_success"), failing("a")).play().status == "failed"


def test_debts_are_noted_and_the_run_goes_on() -> None:
    player = Player(workflow(after("a"), after("b", "a"), policy="allow_debt"), failing("a")).play()
    assert (player.status, player.board.run.debts) == ("completed", 1)


def test_a_gate_waits_for_a_person_and_recommended_goes_on_by_itself() -> None:
    level = {"kind": "confirmed", "question": "Release?"}
    player = Player(workflow(after("a"), after("gate", "a", level=level, prompt="release", profile="r"))).play()
    waiting = player.board.step("gate")
    assert waiting is not None
    assert waiting.status == "waiting"
    ask = waiting.waits_key
    player.tell(Answered(step="gate", ask_id=ask, verdict="go"))
    assert player.play().status == "completed"
    refused = Player(workflow(after("gate", level=level))).play()
    ask = refused.board.step("gate").waits_key  # type: ignore[union-attr]
    refused.tell(Answered(step="gate", ask_id=ask, verdict="stop", words="not today"))
    assert str(refused.board.run.error) == "step 'gate' failed: not today"
    soft = Player(workflow(after("a", level={"kind": "recommended", "timeout_s": 9}, prompt="x", profile="r"))).play()
    assert soft.status == "completed"
    assert soft.now == 10_000


def test_a_paused_run_begins_nothing_and_goes_on_where_it_was() -> None:
    player = Player(workflow(after("a"), after("b", "a"), after("c", "a", for_each={"items": [1, 2]})))
    player.tell(Begin())
    player.tell(PauseRequested(reason="lunch"))
    player.end(player.at_work()[0])
    assert player.statuses()["b"] == "held"
    assert not player.at_work()
    player.tell(ResumeRequested())
    assert player.play().status == "completed"


def test_a_run_that_has_used_what_it_may_is_paused_once_and_can_go_on() -> None:
    player = Player(workflow(after("a"), after("b", "a"), after("c", "b"), limits={"max_tokens": 100}))
    player.tell(Begin())
    player.tell(Ended(step="a", attempt=1, ok=True, spent=WorkflowUsage(90, 20)))
    assert (player.status, player.statuses()["b"]) == ("paused", "held")
    assert "110 of 100 tokens" in str(player.board.run.note)
    player.tell(ResumeRequested())
    player.tell(Ended(step="b", attempt=1, ok=True, spent=WorkflowUsage(90, 20)))
    assert player.status == "running"
    assert player.board.run.spent.tokens == 220


def test_a_run_whose_time_is_over_fails_and_says_so() -> None:
    player = Player(workflow(after("a"), limits={"timeout_s": 5}))
    player.board.run = msgspec.structs.replace(player.board.run, due=6_000)
    player.tell(Begin())
    player.tell(RunDue(due=6_000))
    assert (player.status, str(player.board.run.error)) == ("failed", "the workflow was not done within 5 s")


def test_an_aborted_run_ends_and_can_be_taken_up_again_keeping_what_is_finished() -> None:
    player = Player(workflow(after("a"), after("b", "a"), after("c", "b")))
    player.tell(Begin())
    player.end(player.at_work()[0])
    player.tell(StopRequested(error="enough"))
    assert (player.status, player.statuses()) == ("cancelled", {"a": "completed", "b": "cancelled", "c": "pending"})
    player.tell(RetryRequested())
    player.play()
    assert player.status == "completed"
    assert player.attempts() == [("a", 1), ("b", 1), ("b", 2), ("c", 1)]
    player.tell(RetryRequested(step="b"))
    player.play()
    assert player.attempts()[4:] == [("b", 3), ("c", 2)]
    run = player.board.run
    assert (run.completed, run.active, run.working, run.over) == (3, 0, 0, 3)


def test_items_that_are_completed_stay_so_when_their_fan_out_is_taken_up_again() -> None:
    each = {"items": "inputs.names", "parallel": 2}
    script = failing("a[1]", "a[4]", times=1)
    player = Player(workflow(after("a", for_each=each), after("b", "a")), script, inputs={"names": list("uvwxyz")})
    player.play()
    assert player.statuses() | {"b": "pending"} == player.statuses()
    assert player.statuses()["a[0]"] == "completed"
    first = [step for step, _ in player.attempts()]
    player.tell(RetryRequested())
    player.play()
    assert player.statuses()["a[4]"] == "failed"
    second = [step for step, _ in player.attempts()[len(first) :]]
    assert "a[0]" not in second
    assert second[0] == "a[1]"
    player.tell(RetryRequested())
    player.play()
    assert player.status == "completed"
    assert player.board.step("a").output == [f"a[{n}]" for n in range(6)]  # type: ignore[union-attr]
    counts = {step: number for step, number in player.attempts() if "[" in step}
    assert (counts["a[0]"], counts["a[1]"], counts["a[4]"]) == (1, 2, 2)
    before = len(player.attempts())
    player.tell(RetryRequested(step="a"))
    player.play()
    assert len(player.attempts()) - before == 7, "a step that is named is done again as a whole"


def test_an_attempt_is_told_with_what_it_has_used_however_often_a_step_is_retried() -> None:
    for place, more in (("a", {}), ("a[0]", {"for_each": {"items": [1]}})):
        player = Player(workflow(after("a", **more)))
        player.tell(Begin())
        player.tell(Ended(step=place, attempt=1, ok=False, error="no", spent=WorkflowUsage(10, 1)))
        player.tell(RetryRequested())
        player.tell(Interrupted(step=place, attempt=2, error="gone", agent_run="run_x", spent=WorkflowUsage(20, 2)))
        player.tell(Ended(step=place, attempt=3, ok=True, spent=WorkflowUsage(30, 3)))
        filed = [(one.number, one.status, one.spent) for one in player.board.attempts]
        assert filed == [(1, "failed", WorkflowUsage(10, 1)), (2, "interrupted", WorkflowUsage(20, 2))]
        last = player.board.step(place)
        assert last is not None
        assert (last.spent, last.spent - last.spent_before) == (WorkflowUsage(60, 6), WorkflowUsage(30, 3))
        assert player.board.run.spent == WorkflowUsage(60, 6)


def test_what_a_crash_means_is_the_steps_choice() -> None:
    for how, resumes in (("rerun", False), ("resume", True)):
        player = Player(workflow(after("a", on_crash=how)))
        player.tell(Begin())
        player.tell(Interrupted(step="a", attempt=1, error="the node is gone", agent_run="run_x"))
        step = player.board.step("a")
        assert step is not None
        assert (step.attempt, step.resumed) == (2, "run_x" if resumes else None)
        assert [(one.number, one.status) for one in player.board.attempts] == [(1, "interrupted")]
    asked = Player(workflow(after("a", on_crash="ask")))
    asked.tell(Begin())
    asked.tell(Interrupted(step="a", attempt=1, error="the node is gone", agent_run="run_x"))
    waiting = asked.board.step("a")
    assert waiting is not None
    assert waiting.asking == "crash"
    asked.tell(Answered(step="a", ask_id=waiting.waits_key, verdict="rerun"))
    assert asked.play().attempts() == [("a", 1), ("a", 2)]


def test_an_agent_is_asked_once_to_mend_its_output() -> None:
    player = Player(workflow(after("a")))
    player.tell(Begin())
    first = player.board.step("a").agent_run  # type: ignore[union-attr]
    assert len(player.tell(Mend(step="a", attempt=1, reason="not JSON"))) == 1
    assert player.board.step("a").agent_run != first  # type: ignore[union-attr]
    assert player.tell(Mend(step="a", attempt=1, reason="not JSON")) == []


def test_news_of_an_attempt_that_is_over_changes_nothing() -> None:
    player = Player(workflow(after("a"), after("b", "a"))).play()
    assert player.tell(Ended(step="a", attempt=1, ok=False, error="late")) == []
    assert player.tell(Due(step="a", due=5)) == []


def test_the_cost_of_an_items_end_does_not_grow_with_the_number_of_items() -> None:
    reads = []
    for size in (100, 1_000):
        each = {"items": list(range(size)), "parallel": size}
        player = Player(workflow(after("a", for_each=each), limits={"max_parallel": size}))
        player.tell(Begin())
        count = 0
        look = player.board.step

        def counted(step_id: str) -> WorkflowStep | None:
            nonlocal count
            count += 1
            return look(step_id)  # noqa: B023

        player.board.step = counted  # type: ignore[method-assign]
        player.tell(Ended(step="a[5]", attempt=1, ok=True))
        reads.append(count)
    assert reads[0] == reads[1] < 30
