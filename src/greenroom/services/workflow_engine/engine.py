"""The embedded engine: reads in each commit what runs ask for, has it done, and reports the outcome.

It holds nothing that must survive. The rows say what is in progress. After a crash the engine reads them once: it finds
what was started outside under its id, and starts the rest.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

from greenroom.errors import Refused, Unavailable
from greenroom.log.log import Log
from greenroom.log.model import Commit, Recorded
from greenroom.log.reactors import note_once
from greenroom.rules.access.model import HUB
from greenroom.rules.asks.events import AskAnswered, AskExpired, AskWithdrawn
from greenroom.rules.runs.events import RunEnded
from greenroom.rules.workflows import events as e
from greenroom.rules.workflows.commands import EndingIsDone
from greenroom.rules.workflows.core.news import Due, Ended, News, RunDue, Work
from greenroom.rules.workflows.model import (
    ENDED,
    ENDINGS,
    STEPS,
    WORKFLOW_RUNS,
    OutsideWork,
    StepWait,
    WaitKind,
    WorkflowEnding,
    WorkflowStep,
)
from greenroom.sentences import build_sentence
from greenroom.services.workflow_engine.executor import AttemptExecutor
from greenroom.services.workflow_engine.news_delivery import tell_run
from greenroom.services.workflow_engine.timers import TimerEntry, Timers

logger = logging.getLogger(__name__)
_TOLD_AT_ONCE = 20
_AT_ONCE = 500
_RETRY_S = 5.0
_AT_WORK: tuple[WaitKind, ...] = ("ask", "engine", "run", "workflow")
"""What steps wait for that the engine begins or sees to; the rest comes by itself."""


class Engine:
    """Carries out the runs of one hub; `run` is a task for as long as the hub lives."""

    def __init__(
        self, log: Log, world: AttemptExecutor, errors: list[str] | None = None, *, carries: bool = True
    ) -> None:
        """`carries`: whether it carries out attempts to their end; otherwise others do, and inform the runs."""
        self._log = log
        self._world = world
        self._errors = errors
        self._carries = carries
        self._timers = Timers(log.clock.now)
        self._wake = asyncio.Event()
        self._news: dict[str, list[News]] = {}
        self._steps: dict[tuple[str, str], None] = {}
        self._outside: dict[StepWait, None] = {}
        self._endings: dict[OutsideWork, None] = {}
        self._ended: dict[OutsideWork, None] = {}

    async def run(self) -> None:
        """Resume what was in progress when the hub went down, and then handle whatever comes."""
        leave = self._log.subscribe(self._on_commit, WORKFLOW_RUNS, *_NOTES)
        try:
            await self._recover()
            while True:
                await self._work()
                await self._sleep()
        finally:
            leave()

    def _on_commit(self, commit: Commit) -> None:
        for change in commit.changes:  # a nested run that is over
            if change.row.parent_id is not None and change.row.status in ENDED:
                self._outside[StepWait("workflow", change.key)] = None
                self._wake.set()
        for record in commit.records:
            _NOTES[type(record.event)](self, record)

    async def _recover(self) -> None:
        """Look through the rows once; what waits for time, words or calls costs nothing but its timer."""
        rows = self._log.rows
        for kind in _AT_WORK:
            for step in rows.find(STEPS, {"waits_kind": kind}):
                self._steps[step.run_id, step.id] = None
        self._add_all_timers()
        for ending in rows.find(ENDINGS):
            self._endings[ending.work] = None
        for number, step_id in enumerate(tuple(self._steps)):
            self._check_step(rows.get(STEPS, *step_id))
            if number % _AT_ONCE == 0:
                await asyncio.sleep(0)  # others have their turn

    def _add_all_timers(self) -> None:
        for step in self._log.rows.find(STEPS, after=("due", 0)):
            self._timers.add(TimerEntry(step.run_id, step.id, step.due), dated=step.dated)
        for run in self._log.rows.find(WORKFLOW_RUNS, after=("due", 0)):
            self._timers.add(TimerEntry(run.id, "", run.due), dated=False)

    def _note_clock_moved(self, record: Recorded) -> None:
        """The hub's clock has been moved by now, and so have the rows."""
        self._add_all_timers()
        self._wake.set()

    def _note_step_began(self, record: Recorded) -> None:
        event: e.StepBegan = record.event
        if event.due:
            self._timers.add(TimerEntry(event.run_id, event.step, event.due), dated=event.dated)
        if event.waits_for.kind == "engine" and self._carries:
            self._queue_news(event.run_id, Work(step=event.step, attempt=event.attempt))
        elif event.status == "running":
            self._steps[event.run_id, event.step] = None
        self._wake.set()

    def _note_step(self, record: Recorded) -> None:
        event: e.StepAsked | e.StepMoved = record.event
        if isinstance(event, e.StepAsked) and event.due:
            self._timers.add(TimerEntry(event.run_id, event.step, event.due), dated=False)
        self._steps[event.run_id, event.step] = None
        self._wake.set()

    def _note_step_delayed(self, record: Recorded) -> None:
        event: e.StepDelayed = record.event
        self._timers.add(TimerEntry(event.run_id, event.step, event.due), dated=False)
        self._wake.set()

    def _note_run(self, record: Recorded) -> None:
        event: e.WorkflowBegan | e.WorkflowRetried = record.event
        if event.due:
            self._timers.add(TimerEntry(event.run_id, "", event.due), dated=False)
            self._wake.set()

    def _note_ending(self, record: Recorded) -> None:
        self._endings[record.event.what] = None
        self._wake.set()

    def _note_run_ended(self, record: Recorded) -> None:
        if self._carries:
            self._outside[StepWait("run", record.event.run_id)] = None
            self._wake.set()

    def _note_ask(self, record: Recorded) -> None:
        self._outside[StepWait("ask", record.event.ask_id)] = None
        self._wake.set()

    def _queue_news(self, run_id: str, news: News) -> None:
        self._news.setdefault(run_id, []).append(news)

    def _check_step(self, step: WorkflowStep | None) -> None:
        """See whether what a step waits for has come already."""
        news = self._world.get_news(step) if step is not None and step.waits_kind is not None else None
        if step is not None and news is not None:
            self._steps.pop((step.run_id, step.id), None)
            self._queue_news(step.run_id, news)

    async def _work(self) -> None:
        """Do all that there is to do now; commands of one round are committed together."""
        self._wake.clear()
        outside, self._outside = self._outside, {}
        for what in outside:
            for step in self._log.rows.find(STEPS, {"waits_kind": what.kind, "waits_key": what.key}):
                self._check_step(step)
        for timed in self._timers.take_due():
            told = Due(step=timed.step, due=timed.due) if timed.step else RunDue(due=timed.due)
            self._queue_news(timed.run_id, told)
        news, self._news = self._news, {}
        steps = tuple(self._steps)[:_AT_ONCE]
        for place in steps:
            del self._steps[place]
        if self._steps:
            self._wake.set()
        wishes = [self._tell_run(run_id, some) for run_id, told in news.items() for some in _split_news(told)]
        wishes += [self._submit(*place) for place in steps]
        await self._run_all(wishes)
        endings, self._endings = self._endings, {}
        if endings:
            agents = [what for what in endings if what.kind == "agent"]
            await self._run_all(self._cancel(what) for what in endings if what not in agents)
            await self._run_all(self._cancel(what) for what in agents)  # their runs are ended first
            done, self._ended = list(self._ended), {}
            await self._try(self._log.do(EndingIsDone(by=HUB, what=done)), lambda: self._endings.update(endings))

    async def _tell_run(self, run_id: str, news: list[News]) -> None:
        def again() -> None:
            self._news.setdefault(run_id, []).extend(news)

        await self._try(tell_run(self._log, run_id, news, self._complain), again)

    async def _submit(self, run_id: str, step_id: str) -> None:
        def again() -> None:
            self._steps[run_id, step_id] = None

        await self._try(self._begin(run_id, step_id), again)

    async def _begin(self, run_id: str, step_id: str) -> None:
        step = self._log.rows.get(STEPS, run_id, step_id)
        if step is None or step.waits_kind is None:
            return
        try:
            await self._world.submit(step)
        except (Refused, Unavailable):
            raise
        except Exception as error:
            self._complain(f"step {step_id} of {run_id}", error)
            failed = Ended(
                step=step_id, attempt=step.attempt, ok=False, error=build_sentence("step_error.bug", error=error)
            )
            self._queue_news(run_id, failed)
            self._wake.set()

    async def _cancel(self, what: OutsideWork) -> None:
        def again() -> None:
            self._endings[what] = None

        if await self._try(self._end_outside(what), again):
            self._ended[what] = None

    async def _end_outside(self, what: OutsideWork) -> None:
        ending: WorkflowEnding | None = self._log.rows.get(ENDINGS, what.kind, what.key)
        if ending is not None:
            await self._world.cancel(ending)

    async def _run_all(self, wishes: Iterable[Coroutine[Any, Any, None]]) -> None:
        """Do several things at once; one that fails by a bug holds up no other."""
        several = list(wishes)
        if len(several) == 1:  # the usual case, without a task of its own
            try:
                await several[0]
            except Exception as error:
                self._complain("a wish", error)
        elif several:
            for outcome in await asyncio.gather(*several, return_exceptions=True):
                if isinstance(outcome, Exception):
                    self._complain("a wish", outcome)

    async def _try(self, wish: Coroutine[Any, Any, Any], again: Callable[[], None]) -> bool:
        """Whether it was done; if the hub cannot do it at the moment, it is tried again later."""
        try:
            await wish
        except Unavailable as no:
            logger.warning("a workflow must wait: %s", no)
            asyncio.get_running_loop().call_later(_RETRY_S, self._retry_later, again)
            return False
        except Refused as no:
            logger.warning("a workflow was refused something: %s", no.message)
        return True

    def _retry_later(self, put_back: Callable[[], None]) -> None:
        put_back()
        self._wake.set()

    def _complain(self, about: str, error: Exception) -> None:
        logger.error("the workflow engine failed at %s", about, exc_info=error)
        if self._errors is not None:
            note_once(self._errors, f"workflows at {about}: {error}")

    async def _sleep(self) -> None:
        if self._wake.is_set():
            return
        try:
            async with asyncio.timeout(self._timers.sleep_s()):
                await self._wake.wait()
        except TimeoutError:
            return


def _split_news(news: list[News]) -> Iterable[list[News]]:
    return (news[at : at + _TOLD_AT_ONCE] for at in range(0, len(news), _TOLD_AT_ONCE))


_NOTES: dict[type, Callable[[Engine, Recorded], None]] = {
    e.StepBegan: Engine._note_step_began,
    e.StepAsked: Engine._note_step,
    e.StepMoved: Engine._note_step,
    e.StepDelayed: Engine._note_step_delayed,
    e.WorkflowBegan: Engine._note_run,
    e.WorkflowRetried: Engine._note_run,
    e.WorkflowTimesMoved: Engine._note_clock_moved,
    e.EndingWanted: Engine._note_ending,
    RunEnded: Engine._note_run_ended,
    AskAnswered: Engine._note_ask,
    AskExpired: Engine._note_ask,
    AskWithdrawn: Engine._note_ask,
}
