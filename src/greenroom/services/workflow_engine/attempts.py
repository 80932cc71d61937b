"""Attempts that this hub carries out, whichever hub started them: each from its current state to its end."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager

from greenroom.errors import Refused, Unavailable
from greenroom.log.log import Log
from greenroom.log.model import Commit
from greenroom.rules.runs.model import ENDED, RUNS
from greenroom.rules.workflows.core.news import Ended, Work
from greenroom.rules.workflows.model import STEPS, WorkflowStep
from greenroom.sentences import build_sentence
from greenroom.services.workflow_engine.executor import AttemptExecutor
from greenroom.services.workflow_engine.news_delivery import Complain, tell_run

logger = logging.getLogger(__name__)
_RETRY_S = 2.0


def is_work(step: WorkflowStep) -> bool:
    """Whether a step is at an attempt that somebody has to carry out: an agent's run, or values to be worked out.

    People, nested workflows, messages, calls and time are waited for by rows alone.
    """
    return step.waits_kind in ("engine", "run")


class AttemptRunner:
    """Sees attempts through. It may be given one that was carried out before, here or elsewhere: all is found again."""

    def __init__(self, log: Log, world: AttemptExecutor, complain: Complain) -> None:
        self._log = log
        self._world = world
        self._complain = complain
        self._watching: dict[str, set[asyncio.Event]] = {}
        log.subscribe(self._on_commit, STEPS, RUNS)

    def _on_commit(self, commit: Commit) -> None:
        if not self._watching:
            return
        for change in commit.changes:
            if change.table is STEPS and change.row is not None:
                self._wake(f"step {change.row.run_id} {change.row.id}")
            elif change.table is RUNS and change.row is not None and change.row.status in ENDED:
                self._wake(f"run {change.row.id}")

    def _wake(self, what: str) -> None:
        for changed in self._watching.get(what, ()):
            changed.set()

    async def carry_out(self, run_id: str, step_id: str, number: int) -> None:
        """Returns once the run knows how the attempt ended, or does not need it any more. It never fails."""
        while True:
            try:
                step = self._log.rows.get(STEPS, run_id, step_id)
                if step is None or step.attempt != number or not is_work(step):
                    return
                with self._watch_places(f"step {run_id} {step_id}", f"run {step.waits_key}") as changed:
                    await self._advance_attempt(step)
                    await changed.wait()
            except Unavailable as no:
                logger.warning("an attempt must wait: %s", no)
                await asyncio.sleep(_RETRY_S)

    async def _advance_attempt(self, step: WorkflowStep) -> None:
        """Do what there is to do at an attempt now."""
        try:
            if step.waits_kind == "engine":
                await tell_run(self._log, step.run_id, [Work(step=step.id, attempt=step.attempt)], self._complain)
                return
            news = self._world.get_news(step)
            if news is None:
                await self._world.submit(step)
            else:
                await tell_run(self._log, step.run_id, [news], self._complain)
        except Refused as no:
            logger.warning("an attempt was refused something: %s", no.message)
        except Unavailable:
            raise
        except Exception as error:
            self._complain(f"step {step.id} of {step.run_id}", error)
            failed = Ended(
                step=step.id, attempt=step.attempt, ok=False, error=build_sentence("step_error.bug", error=error)
            )
            await tell_run(self._log, step.run_id, [failed], self._complain)

    @contextmanager
    def _watch_places(self, *places: str) -> Iterator[asyncio.Event]:
        """What is set as soon as something at one of these places changes."""
        changed = asyncio.Event()
        for place in places:
            self._watching.setdefault(place, set()).add(changed)
        try:
            yield changed
        finally:
            for place in places:
                self._watching[place].discard(changed)
                if not self._watching[place]:
                    del self._watching[place]
