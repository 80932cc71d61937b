"""Deadlines: pauses or resumes runs whose time is up, and expires asks that nobody answered."""

import asyncio

from greenroom.ids import new_id
from greenroom.rules.access.model import HUB
from greenroom.rules.asks.commands import TimeAsk
from greenroom.rules.asks.model import ASKS
from greenroom.rules.runs.commands import ExpireRun, GoOn
from greenroom.rules.runs.model import RUNS
from greenroom.services.hub import Hub

_AT_ONCE = 5
"""How many runs resume each second: agents of one account would only use it up again."""


async def expire_runs(hub: Hub) -> None:
    """Pause the runs whose time is over; to be done every second."""
    over = hub.rows.find(
        RUNS,
        {"status": "running"},
        after=("deadline", 0),
        before=("deadline", hub.log.clock.now()),
        order="deadline",
        limit=100,
    )
    for run in over:
        await hub.log.do(ExpireRun(by=HUB, run_id=run.id, order_id=new_id("ord")))


async def resume_runs(hub: Hub) -> None:
    """Resume runs whose account can be used again; to be called every second."""
    due = hub.rows.find(
        RUNS,
        {"status": "waiting"},
        after=("goes_on_at", 0),
        before=("goes_on_at", hub.log.clock.now() + 1),
        order="goes_on_at",
        limit=_AT_ONCE,
    )
    for run in due:
        await hub.log.do(GoOn(by=HUB, run_id=run.id, order_id=new_id("ord")))


async def update_due_asks(hub: Hub) -> None:
    """Show again, warn of, or refuse the asks whose time has come, and end approvals that nobody took."""
    until = hub.log.clock.now() + 1
    due = [
        ask
        for state in ("open", "answered")
        for ask in hub.rows.find(
            ASKS, {"state": state}, after=("due", 0), before=("due", until), order="due", limit=500
        )
    ]
    await asyncio.gather(*(hub.log.do(TimeAsk(by=HUB, ask_id=ask.id)) for ask in due))
