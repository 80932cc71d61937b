"""Finds nodes for runs that wait for one."""

import asyncio
import logging

from greenroom.errors import Refused, Unavailable
from greenroom.ids import new_id
from greenroom.rules.access.model import HUB
from greenroom.rules.nodes.model import NodeConnected, NodeUndrained
from greenroom.rules.runs.commands import PlaceRun
from greenroom.rules.runs.events import RunEnded
from greenroom.rules.runs.queries import find_placeable
from greenroom.services.hub import Hub

logger = logging.getLogger(__name__)
_RETRY_S = 1.0


class RunPlacer:
    """Looks whenever a node may have got room."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._placing: asyncio.Task[None] | None = None
        self._again = False
        hub.log.subscribe(lambda _: self.place_soon(), NodeConnected, NodeUndrained, RunEnded)

    def place_soon(self) -> None:
        self._again = True
        if self._placing is None or self._placing.done():
            self._placing = asyncio.get_running_loop().create_task(self._place(), name="placing runs")

    async def _place(self) -> None:
        """Place runs while any fits. If the log takes no command at the moment, try again: no other event may come."""
        while self._again:
            self._again = False
            for run in find_placeable(self._hub.rows):
                try:
                    await self._hub.log.do(PlaceRun(by=HUB, run_id=run.id, order_id=new_id("ord")))
                except Refused as no:
                    logger.info("run %s cannot be placed: %s", run.id, no.message)
                except Unavailable as no:
                    if no.code == "stopping":
                        return
                    logger.warning("runs must wait for a node: %s", no)
                    await asyncio.sleep(_RETRY_S)
                    self._again = True
                    break
