"""An agent's process: what it was started with, where it works, and how it and all that it started are ended."""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

from greenroom.gateway import frames
from greenroom.log.ids import new_id
from greenroom.node.hearing import Show
from greenroom.node.processes import Spawner
from greenroom.node.sandbox import sandbox_for
from greenroom.node.seats import AgentSeat
from greenroom.node.surroundings import Given, clear_away, make_opening, start_of
from greenroom.node.terminals import Pace
from greenroom.node.tree_ender import end_tree_soon
from greenroom.node.worktrees import find_branch
from greenroom.nouns.agents.profiles import Definition
from greenroom.runtimes.contract import Driver, Opening, Session
from greenroom.runtimes.process_trees import family

logger = logging.getLogger(__name__)
_CLOSE_S = 15.0


class OwnProcess:
    """One agent's, again and again: an agent that is kept may be started several times."""

    def __init__(self, agent_id: str, folder: Path, show: Show, pace: Pace) -> None:
        self.seat = AgentSeat(agent_id, f"{family(folder)}.{new_id('tree')}", show, pace)
        self.credential: str | None = None
        self._branch = ""
        self._agent_id = agent_id
        self._folder = folder
        self._spawner = Spawner(f"{family(folder)}.{new_id('tree')}")
        self._opening: Opening | None = None
        self._being_opened: asyncio.Future[Session] | None = None
        self._definition: Definition | None = None
        self._started_with: dict[str, Any] = {}

    @property
    def directory(self) -> Path:
        """Where the agent works."""
        return self._opening.directory if self._opening is not None else self._folder

    @property
    def repository(self) -> Path | None:
        """The git repository of which the agent has a worktree; None if it has none."""
        has_own = self._definition is not None and self._definition.worktree and self._definition.directory
        return Path(has_own).expanduser() if has_own else None

    @property
    def place(self) -> dict[str, str]:
        """Where the agent works and with which model, as far as that was told: for whoever looks at its run."""
        model = self._definition.model if self._definition is not None else None
        repository = self.repository
        return {
            "directory": str(self.directory),
            "repository": str(repository) if repository else "",
            "branch": self._branch,
            "model": model or "",
        }

    async def look_at_branch(self) -> None:
        """See which branch the agent's directory is on now; a folder of its own has none."""
        has_directory = self._definition is not None and self._definition.directory is not None
        self._branch = await asyncio.to_thread(find_branch, self.directory) if has_directory else ""

    def fits(self, order: frames.Ordered) -> bool:
        """Whether it was started with what an order wants: a process keeps its sandbox, its model and the like."""
        return self._started_with == start_of(order)

    async def open(
        self,
        order: frames.Ordered,
        definition: Definition,
        driver: Driver,
        given: Given,
        is_wanted: Callable[[], bool],
    ) -> Session | None:
        """Start it and open its session, or resume it; None if that is not wanted any more meanwhile."""
        self._definition, self.credential, self._started_with = definition, order.credential, start_of(order)
        opening = await asyncio.to_thread(make_opening, self._folder, self._agent_id, order, definition, given)
        self._opening = opening
        await self.look_at_branch()
        own = [opening.scratch, opening.directory]
        home = given.env.get("HOME")
        self._spawner.sandbox = await asyncio.to_thread(sandbox_for, definition.sandbox, self._folder, home, own)
        if not is_wanted():
            return None
        self._being_opened = asyncio.ensure_future(driver.open(opening, self._spawner))
        try:
            async with asyncio.timeout(definition.start_timeout_s):
                session = await self._being_opened
        except asyncio.CancelledError:
            if is_wanted():
                raise  # not the run is cancelled, but the node stops
            return None
        finally:
            self._being_opened = None
        return session

    def give_up(self) -> None:
        """Open it no further, if it is being opened."""
        if self._being_opened is not None:
            self._being_opened.cancel()

    async def opened(self, session: Session) -> None:
        """Let people sit in at it."""
        if self._opening is not None:
            await self.seat.opened(session, self._opening, self._spawner.sandbox)

    async def close(self, session: Session) -> bool:
        """End it by its own means; False if it does not let itself be closed, and has to be killed."""
        try:
            async with asyncio.timeout(_CLOSE_S):
                await session.close()
        except TimeoutError:
            logger.warning("agent %s did not close in time: its processes are ended", self._agent_id)
            return False
        except Exception:
            logger.exception("agent %s did not let itself be closed: its processes are ended", self._agent_id)
            return False
        return True

    async def kill(self) -> None:
        """End it and all that it started."""
        await end_tree_soon(self._spawner.mark)

    async def clear_away(self, keep: bool) -> None:
        """See that nothing is left of it but what a kept agent needs to go on."""
        await self.seat.closed()
        await self.kill()
        await asyncio.to_thread(clear_away, self._folder, self._agent_id, self._definition, keep)
