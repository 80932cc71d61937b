"""An agent's process: its command, its directory, and how it and everything it started are ended."""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from greenroom.ids import new_id
from greenroom.link.profile_definition import ProfileDefinition
from greenroom.link.reports import WorkPlace
from greenroom.node.agent_terminal import AgentTerminal
from greenroom.node.launch_env import (
    Launch,
    LaunchContext,
    extract_start_options,
    make_session_options,
    remove_agent_files,
)
from greenroom.node.output_buffer import Show
from greenroom.node.processes import ProcessSpawner
from greenroom.node.sandbox import make_sandbox
from greenroom.node.terminals import TerminalPacer
from greenroom.node.tree_ender import end_tree_soon
from greenroom.node.worktrees import find_branch
from greenroom.runtimes.contract import Driver, RuntimeSession, SessionOptions
from greenroom.runtimes.process_trees import build_family_mark

logger = logging.getLogger(__name__)
_CLOSE_S = 15.0


class AgentProcess:
    """One agent's, again and again: an agent that is kept may be started several times."""

    def __init__(self, agent_id: str, folder: Path, show: Show, pace: TerminalPacer) -> None:
        self.seat = AgentTerminal(agent_id, f"{build_family_mark(folder)}.{new_id('tree')}", show, pace)
        self.credential: str | None = None
        self._branch = ""
        self._agent_id = agent_id
        self._folder = folder
        self._spawner = ProcessSpawner(f"{build_family_mark(folder)}.{new_id('tree')}")
        self._opening: SessionOptions | None = None
        self._being_opened: asyncio.Future[RuntimeSession] | None = None
        self._definition: ProfileDefinition | None = None
        self._started_with: ProfileDefinition | None = None

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
    def place(self) -> WorkPlace:
        """The directory and the model of the agent, as far as known, to show with its run."""
        model = self._definition.model if self._definition is not None else None
        repository = self.repository
        return WorkPlace(str(self.directory), str(repository) if repository else "", self._branch, model or "")

    async def update_branch(self) -> None:
        """See which branch the agent's directory is on now; a folder of its own has none."""
        has_directory = self._definition is not None and self._definition.directory is not None
        self._branch = await asyncio.to_thread(find_branch, self.directory) if has_directory else ""

    def fits(self, definition: ProfileDefinition) -> bool:
        """Whether it was started with these options: a process keeps its sandbox, its model and the like."""
        return self._started_with == extract_start_options(definition)

    async def open(
        self,
        launch: Launch,
        driver: Driver,
        given: LaunchContext,
        is_wanted: Callable[[], bool],
    ) -> RuntimeSession | None:
        """Start it and open its session, or resume it; None if that has been cancelled meanwhile."""
        definition = launch.work.definition
        self._definition, self.credential = definition, launch.credential
        self._started_with = extract_start_options(definition)
        opening = await asyncio.to_thread(make_session_options, self._folder, self._agent_id, launch, given)
        self._opening = opening
        await self.update_branch()
        own = [opening.scratch, opening.directory]
        home = given.env.get("HOME")
        self._spawner.sandbox = await asyncio.to_thread(make_sandbox, definition.sandbox, self._folder, home, own)
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

    async def attach_session(self, session: RuntimeSession) -> None:
        """Let people attach to it."""
        if self._opening is not None:
            await self.seat.set_session(session, self._opening, self._spawner.sandbox)

    async def close(self, session: RuntimeSession) -> bool:
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

    async def clean_up(self, keep: bool) -> None:
        """Remove everything of it except what a kept agent needs to continue."""
        await self.seat.clear_session()
        await self.kill()
        await asyncio.to_thread(remove_agent_files, self._folder, self._agent_id, self._definition, keep)
