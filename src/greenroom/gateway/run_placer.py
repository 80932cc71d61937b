"""Finds nodes for runs that wait for one."""

import asyncio
import logging

from greenroom.hub import Hub
from greenroom.log.errors import Refused, Unavailable
from greenroom.log.ids import new_id
from greenroom.log.model import Commit
from greenroom.nouns.access.model import HUB
from greenroom.nouns.nodes.model import NodeConnected, NodeUndrained
from greenroom.nouns.runs.commands import PlaceRun
from greenroom.nouns.runs.events import RunEnded
from greenroom.nouns.runs.queries import find_placeable

logger = logging.getLogger(__name__)
_RETRY_S = 1.0


class RunPlacer:
    """Looks whenever a node may have got room."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._placing: asyncio.Task[None] | None = None
        self._again = False
        hub.log.subscribe(self._on_commit)

    def _on_commit(self, commit: Commit) -> None:
        if any(isinstance(record.event, (NodeConnected, NodeUndrained, RunEnded)) for record in commit.records):
            self.place_soon()

    def place_soon(self) -> None:
        self._again = True
        if self._placing is None or self._placing.done():
            self._placing = asyncio.get_running_loop().create_task(self._place(), name="placing runs")

    async def _place(self) -> None:
        """As long as any fits; when the log takes nothing just now it is tried again, for nothing else may come."""
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
