"""Computes a run's state from its events, in one place for the rows, the core and its tests."""

from collections.abc import Callable
from typing import Any

import msgspec

from greenroom.log.model import Event
from greenroom.rules.workflows import events as e
from greenroom.rules.workflows.core.board import Board
from greenroom.rules.workflows.model import (
    ACTIVE,
    NOTHING,
    AttemptStatus,
    WorkflowAttempt,
    WorkflowEnding,
    WorkflowStep,
    build_item_id,
    get_step_id,
)
from greenroom.sentences import Words, build_sentence

replace = msgspec.structs.replace
_NO_WAIT: dict[str, Any] = {"waits_kind": None, "waits_key": "", "due": 0}


def apply_event(board: Board, event: Event, at: int) -> None:
    """Let one event of a run have its effect."""
    _APPLY[type(event)](board, event, at)
    run = board.run
    waiting = run.status == "running" and bool(run.waits_for or (run.active and not run.working))
    if waiting != run.waiting:
        board.run = replace(run, waiting=waiting)


def _get_step(board: Board, step_id: str) -> WorkflowStep:
    return board.step(step_id) or WorkflowStep(run_id=board.run.id, id=step_id)


def is_working(step: WorkflowStep) -> bool:
    """Whether an attempt is being made; a fan-out works through its items only."""
    return step.status == "running" and step.waits_kind is not None


def _put(board: Board, old: WorkflowStep, new: WorkflowStep, **run: Any) -> None:
    """Keep a step, and the counts of its run."""
    if new.index is None:
        active = (new.status in ACTIVE) - (old.status in ACTIVE)
        if active:
            run["active"] = board.run.active + active
    working = is_working(new) - is_working(old)
    if working:
        run["working"] = board.run.working + working
    if run:
        board.run = replace(board.run, **run)
    _forget_waits(board, old, new)
    board.put_step(new)


def _forget_waits(board: Board, old: WorkflowStep, new: WorkflowStep) -> None:
    """A step that does not wait for the same thing any more is held up by no ask of before."""
    if board.run.waits_for and (old.waits_kind, old.waits_key) != (new.waits_kind, new.waits_key):
        waits = [one for one in board.run.waits_for if one.step != old.id]
        if len(waits) < len(board.run.waits_for):
            board.run = replace(board.run, waits_for=waits)


def _waits(board: Board, event: e.WorkflowWaits, at: int) -> None:
    others = [one for one in board.run.waits_for if one.ask_id != event.wait.ask_id]
    board.run = replace(board.run, waits_for=[*others, event.wait])


def _wait_ended(board: Board, event: e.WorkflowWaitEnded, at: int) -> None:
    board.run = replace(board.run, waits_for=[one for one in board.run.waits_for if one.ask_id != event.ask_id])


def _file_attempt(
    board: Board, step: WorkflowStep, status: AttemptStatus, at: int, error: Words | None, event: Any = None
) -> None:
    """An attempt is over while its step continues: it gets a row of its own."""
    board.put_attempt(
        WorkflowAttempt(
            run_id=step.run_id,
            place=f"{step.id} {step.attempt:06d}",
            step=step.id,
            number=step.attempt,
            status=status,
            began_at=step.began_at,
            ended_at=at,
            agent_id=getattr(event, "agent_id", None) or step.agent_id,
            agent_run=getattr(event, "agent_run", None) or step.agent_run,
            error=error,
            round=step.round,
            spent=step.spent - step.spent_before + getattr(event, "spent", NOTHING),
        )
    )


def _began(board: Board, event: e.StepBegan, at: int) -> None:
    old = _get_step(board, event.step)
    if old.status == "queued":
        board.run = replace(board.run, first_queued=old.next_queued)
    if old.status == "running" or old.asking == "crash":
        _file_attempt(board, old, "interrupted", at, old.reason, event)
    new = replace(
        old,
        status=event.status,
        attempt=event.attempt,
        waits_kind=event.waits_for.kind,
        waits_key=event.waits_for.key,
        due=event.due,
        dated=event.dated,
        tries=event.tries,
        round=event.round,
        rollback=event.rollback,
        reason=None,
        resumed=event.resumed,
        repairs=0,
        leave=True,
        asking="",
        next_queued=None,
        began_at=at,
        ended_at=None,
        agent_run=event.waits_for.key if event.waits_for.kind == "run" else None,
        error=None,
        spent_before=old.spent if event.spent == NOTHING else old.spent + event.spent,
    )
    _put(board, old, _count_usage(board, new, event))


def _asked(board: Board, event: e.StepAsked, at: int) -> None:
    old = _get_step(board, event.step)
    new = replace(old, status="waiting", waits_kind="ask", waits_key=event.ask_id, due=event.due, dated=False)
    new = replace(new, reason=event.reason, asking=event.about, began_at=old.began_at if event.about == "crash" else at)
    _put(board, old, _count_usage(board, new, event))


def _fanned(board: Board, event: e.StepFanned, at: int) -> None:
    old = _get_step(board, event.step)
    new = replace(old, status="running", total=len(event.items), done=len(event.kept), kept=event.kept, lost=0)
    new = replace(new, began_at=at, leave=True, **_NO_WAIT, reason=None, ended_at=None)
    _put(board, old, new)
    kept = frozenset(event.kept)
    for index, item in enumerate(event.items):
        if index in kept:
            continue
        step_id = build_item_id(event.step, index)
        fresh = WorkflowStep(run_id=old.run_id, id=step_id, index=index, item=item)
        before = board.step(step_id)
        if before is not None and before.attempt:
            _file_attempt(board, before, before.status, before.ended_at or at, before.error)
            fresh = replace(fresh, attempt=before.attempt, spent=before.spent, spent_before=before.spent)
        board.put_step(fresh)


def _delayed(board: Board, event: e.StepDelayed, at: int) -> None:
    old = _get_step(board, event.step)
    _file_attempt(board, old, "failed", at, event.error, event)
    new = replace(old, status="delayed", waits_kind="time", waits_key="", due=event.due, dated=False)
    new = replace(new, error=event.error, reason=None)
    _put(board, old, _count_usage(board, new, event))


def _count_usage(board: Board, step: WorkflowStep, event: Any) -> WorkflowStep:
    if event.spent == NOTHING:
        return step
    board.run = replace(board.run, spent=board.run.spent + event.spent)
    return replace(step, spent=step.spent + event.spent)


def _queued(board: Board, event: e.StepQueued, at: int) -> None:
    old = _get_step(board, event.step)
    run = board.run
    behind = _get_step(board, run.last_queued) if run.first_queued and run.last_queued else None
    if behind is not None:
        board.put_step(replace(behind, next_queued=old.id))
    new = replace(old, status="queued", **_NO_WAIT, reason=build_sentence("step_reason.queued"), leave=True)
    _put(board, old, new, first_queued=run.first_queued or old.id, last_queued=old.id)


def _held(board: Board, event: e.StepHeld, at: int) -> None:
    old = _get_step(board, event.step)
    reason = build_sentence("step_reason.paused")
    _put(board, old, replace(old, status="held", **_NO_WAIT, reason=reason, leave=event.leave))


def _repeats(board: Board, event: e.StepRepeats, at: int) -> None:
    old = _get_step(board, event.step)
    _file_attempt(board, old, "completed", at, None, event)
    new = replace(old, status="delayed", **_NO_WAIT, tries=0, round=old.round + 1, output=event.output)
    _put(board, old, _count_usage(board, replace(new, agent_id=event.agent_id or old.agent_id), event))
    _save(board, event.saved)


def _save(board: Board, saved: dict[str, Any]) -> None:
    if saved:
        board.facts = replace(board.facts, variables={**board.facts.variables, **saved})


def _moved(board: Board, event: e.StepMoved, at: int) -> None:
    old = _get_step(board, event.step)
    moved = replace(
        old,
        waits_kind=event.waits_for.kind,
        waits_key=event.waits_for.key,
        reason=event.reason,
        repairs=old.repairs + 1,
        agent_id=event.agent_id or old.agent_id,
    )
    if event.waits_for.kind == "run":
        moved = replace(moved, agent_run=event.waits_for.key)
    _forget_waits(board, old, moved)
    board.put_step(_count_usage(board, moved, event))


def _ended(board: Board, event: e.StepEnded, at: int) -> None:
    old = _get_step(board, event.step)
    new = replace(
        old,
        status=event.status,
        output=event.output,
        error=event.error,
        reason=event.reason,
        debt=event.debt,
        **_NO_WAIT,
        ended_at=at,
        agent_id=event.agent_id or old.agent_id,
        agent_run=event.agent_run or old.agent_run,
    )
    new = _count_usage(board, new, event)
    counts: dict[str, Any] = {}
    if new.index is None and not new.rollback:
        counts[event.status] = getattr(board.run, event.status) + 1
        if event.debt:
            counts["debts"] = board.run.debts + 1
    _put(board, old, new, **counts)
    if new.index is not None:
        fan = _get_step(board, get_step_id(new.id))
        lost = fan.lost + (event.status == "failed" and not event.debt)
        board.put_step(replace(fan, done=fan.done + 1, lost=lost))
    for following in event.reached:
        after = _get_step(board, following)
        board.put_step(replace(after, seen=after.seen + 1))
    _save(board, event.saved)
    if event.kept_as and new.agent_id:
        board.facts = replace(board.facts, agents={**board.facts.agents, event.kept_as: new.agent_id})


def _reset(board: Board, event: e.StepReset, at: int) -> None:
    old = _get_step(board, event.step)
    if old.attempt and old.index is None and not old.total:
        _file_attempt(board, old, old.status, old.ended_at or at, old.error)
    is_counted = old.status in _COUNTED and not old.rollback
    counts: dict[str, int] = {old.status: getattr(board.run, old.status) - 1} if is_counted else {}
    if old.debt and not old.rollback:
        counts["debts"] = board.run.debts - 1
    fresh = WorkflowStep(run_id=old.run_id, id=old.id, seen=event.seen, attempt=old.attempt, spent=old.spent)
    fresh = replace(fresh, spent_before=old.spent, total=old.total if event.keeps else 0)
    _put(board, old, fresh, **counts)


_COUNTED = ("completed", "failed", "skipped", "cancelled")


def _ending_wanted(board: Board, event: e.EndingWanted, at: int) -> None:
    board.put_ending(
        WorkflowEnding(
            kind=event.what.kind, key=event.what.key, run_id=event.run_id, step=event.step, reason=event.reason
        )
    )


def _paused(board: Board, event: e.WorkflowPaused, at: int) -> None:
    board.run = replace(board.run, status="paused", note=event.reason or None)


def _resumed(board: Board, event: e.WorkflowResumed, at: int) -> None:
    board.run = replace(board.run, status="running", note=None)


def _amended(board: Board, event: e.WorkflowAmended, at: int) -> None:
    board.run = replace(board.run, digest=event.digest)


def _retried(board: Board, event: e.WorkflowRetried, at: int) -> None:
    board.run = replace(
        board.run,
        status="running",
        verdict=None,
        error=None,
        output=None,
        ended_at=None,
        first_queued=None,
        last_queued=None,
        due=event.due,
    )


def _stopping(board: Board, event: e.WorkflowStopping, at: int) -> None:
    board.run = replace(
        board.run,
        status="stopping",
        verdict=event.verdict,
        takes_back=event.verdict == "failed" if event.takes_back is None else event.takes_back,
        error=event.error,
        first_queued=None,
        last_queued=None,
        due=0,
    )


def _over(board: Board, event: e.WorkflowEnded, at: int) -> None:
    board.run = replace(
        board.run, status=event.status, output=event.output, error=event.error, ended_at=at, verdict=None, due=0
    )
    board.run = replace(board.run, takes_back=False, waits_for=[])


_APPLY: dict[type[Event], Callable[[Board, Any, int], None]] = {
    e.StepBegan: _began,
    e.StepAsked: _asked,
    e.WorkflowWaits: _waits,
    e.WorkflowWaitEnded: _wait_ended,
    e.StepFanned: _fanned,
    e.StepDelayed: _delayed,
    e.StepQueued: _queued,
    e.StepHeld: _held,
    e.StepRepeats: _repeats,
    e.StepMoved: _moved,
    e.StepEnded: _ended,
    e.StepReset: _reset,
    e.EndingWanted: _ending_wanted,
    e.WorkflowPaused: _paused,
    e.WorkflowResumed: _resumed,
    e.WorkflowAmended: _amended,
    e.WorkflowRetried: _retried,
    e.WorkflowStopping: _stopping,
    e.WorkflowEnded: _over,
}
OF_A_RUN = tuple(_APPLY)
"""The events that change the state of one run."""
