"""The core of workflows: what follows from a piece of news. It is pure: no clock, no randomness, no I/O.

The cost of one piece of news is that of what it changes, however large the graph is.
"""

from collections.abc import Callable, Iterable
from typing import Any

from greenroom.log.model import Event
from greenroom.rules.workflows.core import external_news, news, run_control, step_end, step_start
from greenroom.rules.workflows.core.board import Board
from greenroom.rules.workflows.core.plan import Plan
from greenroom.rules.workflows.core.transition import Transition


def advance(plan: Plan, board: Board, told: news.News, now: int) -> list[Event]:
    """The events that follow, in order; none when the news comes too late to matter."""
    return advance_by(plan, board, (told,), now)


def advance_by(plan: Plan, board: Board, several: Iterable[news.News], now: int) -> list[Event]:
    """The events that follow from several pieces of news, one after another."""
    transition = Transition(plan, board, now)
    for told in several:
        _TOLD[type(told)](transition, told)
        while True:
            while transition.todo:
                what, step_id, with_ = transition.todo.popleft()
                _TODO[what](transition, step_id, with_)
            run_control.settle(transition)
            if not transition.todo:
                break
    return transition.events


def _begin(transition: Transition, told: news.Begin) -> None:
    for step_id in transition.plan.order:
        if not transition.plan.nodes[step_id].incoming:
            transition.schedule("ready", step_id)


_TOLD: dict[type[news.News], Callable[[Transition, Any], None]] = {
    news.Begin: _begin,
    news.Ended: step_end.end_attempt,
    news.Work: step_end.set_values,
    news.Interrupted: external_news.handle_interruption,
    news.Mend: external_news.request_correction,
    news.Due: external_news.handle_due,
    news.RunDue: external_news.handle_run_due,
    news.Answered: external_news.handle_answer,
    news.AskAgain: external_news.ask_again,
    news.PauseRequested: run_control.pause,
    news.ResumeRequested: run_control.resume,
    news.StopRequested: run_control.handle_stop_request,
    news.RetryRequested: run_control.retry,
}
_TODO: dict[str, Callable[[Transition, str, Any], None]] = {
    "ready": step_start.decide_start,
    "permission": step_start.ask_permission,
    "start": step_start.start_step,
    "attempt": step_start.make_attempt,
    "skip": step_end.skip,
    "fail": step_end.fail,
    "pass": step_end.complete,
    "item": step_end.end_item,
    "join": step_end.join_items,
    "stop": run_control.stop,
}
