"""The core of workflows: what follows when a run is told something. It is pure: no clock, no chance, no I/O.

The cost of one piece of news is that of what it changes, however large the graph is.
"""

from collections.abc import Callable, Iterable
from typing import Any

from greenroom.log.model import Event
from greenroom.nouns.workflows.core import begin, end, news, outside, stop
from greenroom.nouns.workflows.core.board import Board
from greenroom.nouns.workflows.core.course import Course
from greenroom.nouns.workflows.core.plan import Plan


def advance(plan: Plan, board: Board, told: news.News, now: int) -> list[Event]:
    """The events that follow, in order; none when the news comes too late to matter."""
    return advance_by(plan, board, (told,), now)


def advance_by(plan: Plan, board: Board, several: Iterable[news.News], now: int) -> list[Event]:
    """The events that follow from several pieces of news, told one after another."""
    course = Course(plan, board, now)
    for told in several:
        _TOLD[type(told)](course, told)
        while True:
            while course.todo:
                what, step_id, with_ = course.todo.popleft()
                _TODO[what](course, step_id, with_)
            stop.settle(course)
            if not course.todo:
                break
    return course.events


def _begin(course: Course, told: news.Begin) -> None:
    for step_id in course.plan.order:
        if not course.plan.nodes[step_id].incoming:
            course.later("ready", step_id)


_TOLD: dict[type[news.News], Callable[[Course, Any], None]] = {
    news.Begin: _begin,
    news.Ended: end.ended,
    news.Work: end.work,
    news.Interrupted: outside.interrupted,
    news.Mend: outside.mend,
    news.Due: outside.due,
    news.RunDue: outside.run_due,
    news.Answered: outside.answered,
    news.AskAgain: outside.ask_again,
    news.Pause: stop.pause,
    news.Resume: stop.resume,
    news.Stop: stop.stop_wished,
    news.Retry: stop.retry,
}
_TODO: dict[str, Callable[[Course, str, Any], None]] = {
    "ready": begin.ready,
    "leave": begin.leave,
    "start": begin.start,
    "attempt": begin.attempt,
    "skip": end.skip,
    "fail": end.fail,
    "pass": end.complete,
    "item": end.item,
    "join": end.joined,
    "stop": stop.stop,
}
