"""Delivers news to runs, whichever hub saw it."""

from collections.abc import Callable

from greenroom.errors import Refused, Unavailable
from greenroom.log.log import Log
from greenroom.rules.access.model import HUB
from greenroom.rules.workflows.commands import TellRun
from greenroom.rules.workflows.core.news import News, StopRequested
from greenroom.sentences import build_sentence

Complain = Callable[[str, Exception], None]
"""Takes a bug, and what it came up at."""


async def tell_run(log: Log, run_id: str, news: list[News], complain: Complain) -> None:
    """Deliver news to a run; if that triggers a bug in the core, the run says so instead of waiting forever."""
    try:
        await log.do(TellRun(by=HUB, run_id=run_id, news=news))
    except (Refused, Unavailable):
        raise
    except Exception as error:
        complain(f"run {run_id}", error)
        stop = StopRequested(verdict="failed", error=build_sentence("flow_error.bug", error=error))
        await log.do(TellRun(by=HUB, run_id=run_id, news=[stop]))
