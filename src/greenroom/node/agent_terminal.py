"""Where people attach to one agent: its own terminal, or one that its runtime opens beside it."""

import asyncio
import logging
from typing import Any

from greenroom.link import frames
from greenroom.link.frames import LiveKind
from greenroom.node.output_buffer import Show
from greenroom.node.processes import ProcessSpawner
from greenroom.node.sandbox import Sandbox
from greenroom.node.terminals import COLUMNS, ROWS, ShownTerminal, TerminalPacer
from greenroom.runtimes.attachable import Attachable, TerminalSession
from greenroom.runtimes.contract import RuntimeSession, SessionOptions
from greenroom.runtimes.transports.pty import TerminalLine

logger = logging.getLogger(__name__)


class AgentTerminal:
    """The terminal of one agent. Viewers that come while a program starts find it as it was before."""

    def __init__(self, agent_id: str, mark: str, show: Show, pace: TerminalPacer) -> None:
        self._agent_id = agent_id
        self._show = show
        self._pace = pace
        self._spawner = ProcessSpawner(mark)
        """For the program beside the agent, which ends without it."""
        self._session: RuntimeSession | None = None
        self._opening: SessionOptions | None = None
        self._terminal: ShownTerminal | None = None
        self._is_beside = False
        self._settling = asyncio.Lock()
        self.is_watched = False
        self._is_coming = False

    def expect(self) -> None:
        """The agent is being started: whoever looks waits for what there will be to see."""
        self._is_coming = True

    async def set_session(self, session: RuntimeSession, opening: SessionOptions, sandbox: Sandbox | None) -> None:
        """The agent has a session: whoever looks already gets to see it."""
        async with self._settling:
            self._is_coming = False
            self._session, self._opening, self._spawner.sandbox = session, opening, sandbox
            if isinstance(session, TerminalSession):
                if self._terminal is not None:
                    await self._terminal.forget()
                self._terminal = ShownTerminal(session.get_terminal(), self._show_terminal, self._pace)
                self._terminal.watch(self.is_watched)
                return
        if self.is_watched:
            await self._update_terminal()

    async def clear_session(self) -> None:
        """The agent has none any more; the last screen of its own terminal can still be looked at."""
        async with self._settling:
            self._session, was_coming, self._is_coming = None, self._is_coming, False
            if self._is_beside:
                await self._close_attach_program()
        if was_coming and self.is_watched:
            await self._update_terminal()

    async def watch(self, on: bool) -> None:
        """Somebody watches, or nobody does any more."""
        self.is_watched = on
        await self._update_terminal()

    async def _update_terminal(self) -> None:
        """Bring what runs in line with whether anybody looks now."""
        async with self._settling:
            if self._is_beside and (not self.is_watched or (self._terminal is not None and self._terminal.is_over)):
                await self._close_attach_program()
            if self.is_watched and self._terminal is None:
                await self._start_attach_program()
            if self._terminal is not None:
                self._terminal.watch(self.is_watched)
            elif self.is_watched and not self._is_coming:
                self._show(self._agent_id, "none", None)

    async def _start_attach_program(self) -> None:
        beside = self._session.attach_command() if isinstance(self._session, Attachable) else None
        if beside is None or self._opening is None:
            return
        env = {**self._opening.env, **beside.env}
        try:
            child = await self._spawner.spawn_terminal(beside.command, self._opening.directory, env, ROWS, COLUMNS)
        except (OSError, ValueError) as error:
            logger.warning("agent %s: its terminal program cannot be started: %s", self._agent_id, error)
            return
        self._is_beside = True
        self._terminal = ShownTerminal(TerminalLine(child), self._show_terminal, self._pace)

    async def _close_attach_program(self) -> None:
        terminal, self._terminal, self._is_beside = self._terminal, None, False
        if terminal is not None:
            await terminal.close()

    def handle_input(self, frame: frames.TerminalInput) -> None:
        """Keys from whoever sits there, or the terminal's new size."""
        if self._terminal is None:
            return
        if frame.rows and frame.columns:
            self._terminal.resize(frame.rows, frame.columns)
        if frame.data:
            self._terminal.type(frame.data)

    def _show_terminal(self, kind: LiveKind, data: Any) -> bool:
        return self._show(self._agent_id, kind, data)
