"""What makes agents callable: the node of this machine, profiles, and timers."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator

from greenroom.gateway.local_node import ensure_local_node, keep_local_node
from greenroom.gateway.policy_file import load_policy, watch_policy
from greenroom.gateway.profile_files import load_profiles, watch_profiles
from greenroom.gateway.timers import expire_runs, time_asks
from greenroom.hub import Hub
from greenroom.log.reactors import run_reactor
from greenroom.nouns.access.model import HUB
from greenroom.nouns.nodes.model import NODES, LoseNode
from greenroom.nouns.runs.wake import Waker
from greenroom.runtimes.shipped import SHIPPED

logger = logging.getLogger(__name__)
_LOOK_S = 1.0


@contextlib.asynccontextmanager
async def calling(hub: Hub) -> AsyncIterator[None]:
    """All that, for as long as the hub has doors."""
    await load_policy(hub)
    await load_profiles(hub, SHIPPED)
    for node in hub.rows.find(NODES, {"state": "connected"}):  # as it was when the hub went down
        await hub.log.do(LoseNode(by=HUB, node_id=node.id, epoch=node.epoch))
    waker = Waker(hub.log, hub.bus).reactor()
    tasks = [
        asyncio.create_task(_look(hub), name="timers"),
        asyncio.create_task(watch_policy(hub), name="policy file"),
        asyncio.create_task(watch_profiles(hub, SHIPPED), name="profile files"),
        asyncio.create_task(run_reactor(hub.log, waker, hub.reactor_errors), name="wake"),
    ]
    if hub.settings.local_node:
        await ensure_local_node(hub)
        tasks.append(asyncio.create_task(keep_local_node(hub), name="local node"))
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _look(hub: Hub) -> None:
    while True:
        await asyncio.sleep(_LOOK_S)
        try:
            await expire_runs(hub)
            await time_asks(hub)
        except Exception:
            logger.exception("what has run out of time could not be looked through")
