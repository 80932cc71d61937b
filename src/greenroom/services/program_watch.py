"""Asks nodes whether they have the programs that profiles name, after a change and at intervals."""

import asyncio
import logging
import time

from greenroom.errors import Unavailable
from greenroom.rules.access.model import HUB
from greenroom.rules.agents.profiles import PROFILES, Profile
from greenroom.rules.agents.unavailable_programs import NoteMissingPrograms
from greenroom.rules.nodes.model import NODES
from greenroom.services.hub import Hub
from greenroom.services.node_links import NodeLinks
from greenroom.services.period import get_time_left_s

logger = logging.getLogger(__name__)
_LOOK_S = 1.0
_AGAIN_S = 30.0
"""A program may be installed or removed without a word to anybody."""


class ProgramWatch:
    """Keeps what is known of missing programs up to date, for the nodes that are connected to this hub."""

    def __init__(self, hub: Hub, links: NodeLinks) -> None:
        self._hub = hub
        self._links = links
        self._seen: list[tuple[str, int]] = []
        self._looked_at = 0.0

    async def run(self) -> None:
        """Look every second whether there is something to ask, until cancelled."""
        while True:
            await asyncio.sleep(get_time_left_s(_LOOK_S))
            try:
                await self._look()
            except Unavailable as no:
                logger.warning("which programs are missing must wait: %s", no)

    async def _look(self) -> None:
        """Ask every node, if a profile or a connection has changed or some time has gone by."""
        rows = self._hub.rows
        naming = [profile for profile in rows.find(PROFILES) if profile.definition.command]
        nodes = [node for node in rows.find(NODES) if node.state == "connected" and node.hub == self._hub.instance]
        seen = [*((node.id, node.epoch) for node in nodes), *((profile.name, profile.seq) for profile in naming)]
        if seen == self._seen and time.monotonic() < self._looked_at + _AGAIN_S:
            return
        await asyncio.gather(*(self._look_at(node.id, naming) for node in nodes))
        self._seen, self._looked_at = seen, time.monotonic()

    async def _look_at(self, node_id: str, naming: list[Profile]) -> None:
        found = await asyncio.gather(*(self._links.check_profile(node_id, profile.definition) for profile in naming))
        pairs = zip(naming, found, strict=True)
        missing = {
            profile.name: one.missing_program for profile, one in pairs if one is not None and one.missing_program
        }
        await self._hub.log.do(NoteMissingPrograms(by=HUB, node_id=node_id, programs=missing))
