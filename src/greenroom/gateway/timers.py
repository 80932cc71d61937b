"""Time that runs out: runs beyond their deadline are paused and a person is asked."""

from greenroom.hub import Hub
from greenroom.log.ids import new_id
from greenroom.nouns.access.model import HUB
from greenroom.nouns.runs.commands import ExpireRun
from greenroom.nouns.runs.model import RUNS


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
