"""What makes agents available: the node of this machine, profiles and rules from files, and timers."""

import asyncio
import logging

from greenroom.errors import Unavailable
from greenroom.log.reactors import run_reactor
from greenroom.rules.access.model import HUB
from greenroom.rules.nodes.model import NODES, LoseNode
from greenroom.runtimes.shipped_profiles import SHIPPED
from greenroom.services.hub import Hub
from greenroom.services.local_node import ensure_local_node, keep_local_node
from greenroom.services.period import get_time_left_s
from greenroom.services.policy_file import load_policy, watch_policy
from greenroom.services.profile_files import load_profiles, watch_profiles
from greenroom.services.service import Service
from greenroom.services.timers import expire_runs, resume_runs, update_due_asks
from greenroom.services.waker import Waker

logger = logging.getLogger(__name__)
_LOOK_S = 1.0


def build_agent_services(hub: Hub) -> list[Service]:
    """All of them, in the order in which they start."""
    services = [
        Service("files", prepare=lambda: _load_files(hub), start=lambda: _watch_files(hub), only_on_leader=True),
        Service("lost nodes", prepare=lambda: _lose_nodes(hub)),
        Service("deadlines", start=lambda: _run_timers(hub), only_on_leader=True),
        Service("wake-up", start=lambda: _wake_agents(hub), only_on_leader=True),
    ]
    if hub.store.is_shared:
        services.append(Service("nodes of lost hubs", start=lambda: _watch_hubs(hub), only_on_leader=True))
    if hub.settings.local_node:
        services.append(
            Service("local node", prepare=lambda: ensure_local_node(hub), start=lambda: keep_local_node(hub))
        )
    return services


async def _load_files(hub: Hub) -> None:
    """Whoever comes as soon as the doors are open finds the profiles, unless another hub leads."""
    if len(hub.store.hubs()) == int(hub.store.is_alive(hub.instance)):
        await _read_files(hub)


async def _read_files(hub: Hub) -> None:
    await load_policy(hub)
    await load_profiles(hub, SHIPPED)


async def _watch_files(hub: Hub) -> None:
    if hub.store.is_shared:
        await _read_files(hub)
    await asyncio.gather(watch_policy(hub), watch_profiles(hub, SHIPPED))


async def _lose_nodes(hub: Hub) -> None:
    """Nodes whose connection went down with its hub cannot be reached until they connect again."""
    for node in hub.rows.find(NODES, {"state": "connected"}):
        if node.hub == hub.instance or not hub.store.is_alive(node.hub):
            await hub.log.do(LoseNode(by=HUB, node_id=node.id, epoch=node.epoch))


async def _watch_hubs(hub: Hub) -> None:
    while True:
        await asyncio.sleep(get_time_left_s(_LOOK_S))
        for node in hub.rows.find(NODES, {"state": "connected"}):
            if node.hub != hub.instance and not hub.store.is_alive(node.hub):
                await hub.log.do(LoseNode(by=HUB, node_id=node.id, epoch=node.epoch))


async def _wake_agents(hub: Hub) -> None:
    await run_reactor(hub.log, Waker(hub.log, hub.bus).build_reactor(), hub.reactor_errors)


async def _run_timers(hub: Hub) -> None:
    while True:
        await asyncio.sleep(get_time_left_s(_LOOK_S))
        try:
            await expire_runs(hub)
            await resume_runs(hub)
            await update_due_asks(hub)
        except Unavailable as no:
            logger.warning("what has run out of time must wait: %s", no)
        except Exception:
            logger.exception("what has run out of time could not be looked through")
