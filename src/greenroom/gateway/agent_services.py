"""What makes agents callable: the node of this machine, profiles, and timers."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Coroutine
from typing import Any

from greenroom.gateway.local_node import ensure_local_node, keep_local_node
from greenroom.gateway.policy_file import load_policy, watch_policy
from greenroom.gateway.profile_files import load_profiles, watch_profiles
from greenroom.gateway.timers import expire_runs, resume_runs, update_due_asks
from greenroom.hub import Hub
from greenroom.log.errors import Unavailable
from greenroom.log.leadership import run_while_leader
from greenroom.log.reactors import run_reactor
from greenroom.nouns.access.model import HUB
from greenroom.nouns.nodes.model import NODES, LoseNode
from greenroom.nouns.runs.waker import Waker
from greenroom.runtimes.shipped_profiles import SHIPPED

logger = logging.getLogger(__name__)
_LOOK_S = 1.0


@contextlib.asynccontextmanager
async def run_agent_services(hub: Hub) -> AsyncIterator[None]:
    """All that, for as long as the hub has doors."""
    if _is_alone(hub):
        await _read_files(hub)  # who comes as soon as the doors are open finds them
    await _lose_nodes(hub)
    if hub.settings.local_node:
        await ensure_local_node(hub)
    async with asyncio.TaskGroup() as tasks:
        kept = [
            tasks.create_task(run_while_leader(hub.store, "agents", lambda: _build_duties(hub)), name="lead of agents")
        ]
        if hub.settings.local_node:
            kept.append(tasks.create_task(keep_local_node(hub), name="local node"))
        try:
            yield
        finally:
            for task in kept:
                task.cancel()


def _is_alone(hub: Hub) -> bool:
    """Whether no other hub is there that may lead."""
    return len(hub.store.hubs()) == int(hub.store.is_alive(hub.instance))


def _build_duties(hub: Hub) -> list[Coroutine[Any, Any, None]]:
    """What one hub does for all that share the log."""
    waker = Waker(hub.log, hub.bus).build_reactor()
    duties = [_run_timers(hub), _watch_files(hub), run_reactor(hub.log, waker, hub.reactor_errors)]
    return [*duties, _watch_hubs(hub)] if hub.store.is_shared else duties


async def _read_files(hub: Hub) -> None:
    await load_policy(hub)
    await load_profiles(hub, SHIPPED)


async def _watch_files(hub: Hub) -> None:
    if hub.store.is_shared:
        await _read_files(hub)
    await asyncio.gather(watch_policy(hub), watch_profiles(hub, SHIPPED))


async def _lose_nodes(hub: Hub) -> None:
    """Nodes whose connection went down with its hub cannot be reached until they dial in again."""
    for node in hub.rows.find(NODES, {"state": "connected"}):
        if node.hub == hub.instance or not hub.store.is_alive(node.hub):
            await hub.log.do(LoseNode(by=HUB, node_id=node.id, epoch=node.epoch))


async def _watch_hubs(hub: Hub) -> None:
    while True:
        await asyncio.sleep(_LOOK_S)
        for node in hub.rows.find(NODES, {"state": "connected"}):
            if node.hub != hub.instance and not hub.store.is_alive(node.hub):
                await hub.log.do(LoseNode(by=HUB, node_id=node.id, epoch=node.epoch))


async def _run_timers(hub: Hub) -> None:
    while True:
        await asyncio.sleep(_LOOK_S)
        try:
            await expire_runs(hub)
            await resume_runs(hub)
            await update_due_asks(hub)
        except Unavailable as no:
            logger.warning("what has run out of time must wait: %s", no)
        except Exception:
            logger.exception("what has run out of time could not be looked through")
