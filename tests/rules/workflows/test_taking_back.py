"""Rollback steps: after a failure, after an abort that wants them, and never otherwise."""

from greenroom.rules.workflows.core.news import RetryRequested, StopRequested
from greenroom.rules.workflows.definition import WorkflowDefinition
from tests.rules.workflows.player import Player, workflow
from tests.rules.workflows.plays import Play
from tests.rules.workflows.test_advance import after, failing
from tests.stage import Stage


def test_a_failed_run_takes_back_what_it_had_completed_the_last_first() -> None:
    steps = [after(x, *y, rollback=[{"id": f"un{x}", "prompt": "undo"}]) for x, y in (("a", ()), ("b", ("a",)))]
    player = Player(workflow(*steps, after("c", "b")), failing("c")).play()
    assert [step for step, _ in player.attempts()] == ["a", "b", "c", "unb", "una"]
    assert player.status == "failed"
    assert Player(workflow(*steps, after("c", "b"))).play().statuses()["una"] == "pending"


def test_what_was_taken_back_is_done_again_when_the_run_is_taken_up_again() -> None:
    made = after("a", "z", rollback=[{"id": "una", "prompt": "undo"}])
    player = Player(workflow(after("z"), made, after("b", "a"), after("c", "b")), failing("c", times=1)).play()
    assert (player.status, player.statuses()["una"]) == ("failed", "completed")
    before = len(player.attempts())
    player.tell(RetryRequested())
    assert player.play().status == "completed"
    assert player.attempts()[before:] == [("a", 2), ("b", 2), ("c", 2)], "what nobody took back is kept"
    assert player.statuses()["una"] == "pending"


def taken_back() -> WorkflowDefinition:
    steps = [after(x, *y, rollback=[{"id": f"un{x}", "prompt": "undo"}]) for x, y in (("a", ()), ("b", ("a",)))]
    return workflow(*steps, after("c", "b", wait={"webhook": "never"}))


def test_an_abort_begins_nothing_unless_what_was_completed_is_to_be_taken_back() -> None:
    plain, back = Player(taken_back()).play(), Player(taken_back()).play()
    plain.tell(StopRequested(error="enough"))
    assert (plain.status, plain.statuses()["una"]) == ("cancelled", "pending")
    back.tell(StopRequested(error="enough", rollback=True))
    assert back.status == "stopping"
    assert [step for step, _ in back.play().attempts()] == ["a", "b", "c", "unb", "una"]
    assert (back.status, back.board.run.error, back.board.run.takes_back) == ("cancelled", "enough", False)
    assert (back.board.run.over, back.board.run.steps) == (3, 3), "what takes back is not counted"


def test_what_is_being_taken_back_can_be_left_off() -> None:
    player = Player(taken_back()).play()
    player.tell(StopRequested(error="enough", rollback=True))
    assert player.statuses()["unb"] == "running"
    player.tell(StopRequested(error="at once"))
    assert (player.status, player.statuses()["unb"], player.statuses()["una"]) == ("cancelled", "cancelled", "pending")
    assert str(player.board.run.error) == "enough; not everything was rolled back: at once"
    assert player.board.run.active == 0


def test_an_abort_with_rollback_has_the_agent_take_back_what_it_did(stage: Stage) -> None:
    play = Play(stage)
    stage.profile("free", approvals="never")
    build = {"id": "build", "profile": "free", "prompt": "SAY built", "rollback": ["SAY removed"]}
    run_id = play.start(build, {"id": "ship", "wait": {"webhook": "never"}, "dependencies": ["build"]})
    play.until(run_id, "ship", "waiting")
    assert play.control(run_id, "abort", reason="not today", rollback=True).json()["status"] == "stopping"
    run, steps = play.end(run_id), play.steps(run_id)
    assert (run["status"], run["error"]) == ("cancelled", "not today")
    assert steps["build.rollback.1"]["output"] == "removed"
    assert steps["ship"]["status"] == "cancelled"
