"""The agents on a node: one session each, which carries out its orders one after the other."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import assert_never

from greenroom.link import reports
from greenroom.link.call_digest import Subject
from greenroom.link.orders import DecideOrder
from greenroom.link.reports import TurnPaused, TurnReport, TurnUsedUp, TurnWentOn
from greenroom.node.agent_process import AgentProcess
from greenroom.node.agent_terminal import AgentTerminal
from greenroom.node.changes import WorktreeChanges
from greenroom.node.launch_env import Launch, LaunchContext
from greenroom.node.output_buffer import OutputBuffer, Show, Tell
from greenroom.node.permission_gate import PermissionGate
from greenroom.node.terminals import TerminalPacer
from greenroom.runtimes.attachable import TerminalSession
from greenroom.runtimes.contract import Driver, RuntimeSession, TaskSession
from greenroom.runtimes.launch_error import explain_failure
from greenroom.sentences import Sentence, build_sentence

logger = logging.getLogger(__name__)
_CANCEL_S = 5.0
_ACCOUNT_S = 2.0
"""How long an agent that is not kept may take to say what a cancelled turn has used."""
_CLOSE_S = 15.0


class HeldAgent:
    """One agent: its session while it lives, its current run, and its next prompts."""

    def __init__(
        self,
        agent_id: str,
        folder: Path,
        tell: Tell,
        show: Show,
        room: Callable[[], Awaitable[None]],
        pace: TerminalPacer,
    ) -> None:
        self.agent_id = agent_id
        self.run_id: str | None = None
        self._cancelled_run: str | None = None
        """The run that was cancelled last: the usage of its turn is still reported."""
        self.session: RuntimeSession | None = None
        self.keep = False
        self.idle_since = time.monotonic()
        self.idle_s = 0
        self._process = AgentProcess(agent_id, folder, show, pace)
        self._folder = folder
        self._hearing = OutputBuffer(agent_id, tell, show)
        self._room = room
        self._task = ""
        self._is_step = False
        self._queued: list[str] = []
        self._paused = False
        self._gate = PermissionGate()
        self._changes = WorktreeChanges()
        self._place = Subject(tool="", agent_id=agent_id)
        """What is the same for every call of the current run."""
        self._reading: asyncio.Task[None] | None = None
        self._turn = asyncio.Event()
        self._turn.set()
        self._opened: reports.Opened | None = None
        self._noted = asyncio.Event()
        """Whether the session's id is kept for the hub, or the session is over."""
        self._is_ending = False
        self._busy = asyncio.Lock()
        """Orders are carried out one by one: only a cancel does not wait for the one that is under way."""

    @property
    def terminal(self) -> AgentTerminal:
        """Where people attach."""
        return self._process.seat

    @property
    def is_gone(self) -> bool:
        """Whether nothing is left of it that would have to be held."""
        is_held = self._busy.locked() or self.terminal.is_watched or self._reading is not None
        return not is_held and self.session is None and self.run_id is None

    @property
    def is_idle(self) -> bool:
        return not self._busy.locked() and self.session is not None and self.run_id is None

    async def start(
        self, launch: Launch, driver: Driver, given: LaunchContext, is_cancelled: Callable[[], bool]
    ) -> None:
        """Put the agent to work, opening or resuming its session if it has none."""
        work, definition = launch.work, launch.work.definition
        async with self._busy:
            if self._is_ending or (self.session is not None and not self._process.fits(launch.work.definition)):
                await self._end()  # the profile may need another sandbox now: a process keeps its own
            if is_cancelled():  # from here on `cancel` finds the run
                if self.session is None:
                    await self.terminal.clear_session()
                return
            if self.session is None:
                self.terminal.expect()
            self.run_id, self.keep = launch.run_id, work.keep
            self._queued, self._paused, self._cancelled_run = [], False, None
            self._gate = PermissionGate()
            try:
                self.idle_s = definition.idle_s
                self._place = Subject(
                    tool="",
                    profile=work.profile,
                    agent_id=self.agent_id,
                    run_id=launch.run_id,
                    sandbox=definition.sandbox,
                )
                if self.session is not None and self._opened is not None:
                    await self._process.update_branch()
                    self._note_opened(self._opened)
                else:
                    await self._open(launch, driver, given)
                    await self._noted.wait()  # the hub knows the session before the agent gets its prompt
                if self.session is None or self.run_id != launch.run_id:
                    await self._end()  # it was cancelled meanwhile
                    return
                await asyncio.to_thread(self._changes.begin, self._process.repository, self._process.directory)
                self._turn.clear()
                self._task, self._is_step = work.task or launch.run_id, work.is_step
                await self._prompt(self.session, work.prompt, resumes=self._task != launch.run_id)
            except TimeoutError:
                await self._report_failure(build_sentence("launch.not_in_time", seconds=definition.start_timeout_s))
            except Exception as error:
                if not isinstance(error, OSError | ValueError):
                    logger.exception("agent %s could not be started", self.agent_id)
                await self._report_failure(build_sentence("launch.failed", error=explain_failure(error)))

    async def _prompt(self, session: RuntimeSession, text: str, *, resumes: bool) -> None:
        if isinstance(session, TaskSession):
            session.set_task(self._task, resumes=resumes, is_step=self._is_step)
        await session.prompt(text)

    async def _open(self, launch: Launch, driver: Driver, given: LaunchContext) -> None:
        session = await self._process.open(launch, driver, given, lambda: self.run_id == launch.run_id)
        if session is None:
            self._noted.set()
        else:
            self.session = session
            self._noted.clear()
            self._reading = asyncio.create_task(self._read(session), name=f"agent {self.agent_id}")
            await self._process.attach_session(session)

    async def _report_failure(self, error: Sentence) -> None:
        self._hearing.note(self.run_id, reports.TurnEnded(reason="failed", error=error))
        self.run_id = None
        await self._end()

    async def _read(self, session: RuntimeSession) -> None:
        try:
            async for heard in session.listen():
                await self._room()
                await self._handle(session, heard)
        except Exception as error:
            logger.exception("agent %s cannot be heard any more", self.agent_id)
            words = build_sentence("run_error.driver_failed", error=repr(error))
            self._hearing.note(self.run_id, reports.Died(code=None, last_words=words))
        finally:
            self._is_ending = True
            self.run_id = self.session = self._opened = None
            self._noted.set()
            self._turn.set()
            try:
                await self._process.clean_up(self.keep)
            finally:
                self._reading = None
                self._is_ending = False

    async def _handle(self, session: RuntimeSession, heard: reports.Heard) -> None:
        match heard:
            case reports.Opened():
                self._opened = heard
                self._note_opened(heard)
                self._noted.set()
            case reports.TurnEnded():
                await self._handle_turn_end(session, heard)
            case reports.PermissionAsked():
                await self._handle_permission(heard)
            case reports.Usage():
                self._hearing.note(self.run_id or self._cancelled_run, heard)
            case reports.PermissionWithdrawn():
                self._gate.forget(heard.permission)
                self._hearing.note(self.run_id, heard)
            case reports.Died():
                if not self._turn.is_set():
                    self._hearing.note_stop(self.run_id)
                self._hearing.note(self.run_id, heard)
            case (
                reports.Said()
                | reports.Thought()
                | reports.CallStarted()
                | reports.CallFinished()
                | reports.QuestionAsked()
            ):
                self._hearing.note(self.run_id, heard)
            case _:
                assert_never(heard)

    async def _handle_permission(self, asked: reports.PermissionAsked) -> None:
        """Report to the hub what would run, and keep it, so that nothing else runs."""
        directory, hidden = self._process.directory, self._folder.parent
        report = await asyncio.to_thread(self._gate.add_call, asked, self._place, directory, hidden)
        self._hearing.note(self.run_id, report)

    def _note_opened(self, opened: reports.Opened) -> None:
        report = reports.SessionReport(opened.session, opened.details, self._process.credential, self._process.place)
        self._hearing.note(self.run_id, report)

    async def _handle_turn_end(self, session: RuntimeSession, ended: reports.TurnEnded) -> None:
        goes_on = bool(self._queued) and ended.reason == "done" and self.run_id is not None
        changed = await asyncio.to_thread(self._changes.find) if self.run_id is not None else None
        if changed is not None:
            self._hearing.tell(self.run_id, changed)
        used_up = ended.reason == "quota" and self.run_id is not None
        paused = used_up or (self._paused and ended.reason == "cancelled")
        outcome = TurnWentOn if goes_on else TurnUsedUp if used_up else TurnPaused if paused else TurnReport
        self._hearing.note(self.run_id, ended, outcome)
        if goes_on:
            text, self._queued = "\n\n".join(self._queued), []
            await session.prompt(text)
            return
        self._turn.set()
        if paused:
            self._paused = True
            return
        self.run_id = None
        self.idle_since = time.monotonic()
        if not self.keep:
            self._is_ending = True  # an order for another run waits for the end
            await self._close(session)

    async def steer(self, run_id: str, text: str) -> None:
        """Send a message to the working agent: into the turn where its runtime supports it, else as the next prompt."""
        async with self._busy:
            if self.session is None or self.run_id != run_id:
                return
            if self._paused:
                self._queued.append(text)
            elif self._turn.is_set():
                self._turn.clear()
                await self.session.prompt(text)
            elif not await self.session.steer(text):
                self._queued.append(text)

    async def decide(self, order: DecideOrder) -> None:
        async with self._busy:
            if self.session is None:
                return
            refusal = await asyncio.to_thread(self._gate.get_refusal, order)
            if refusal is not None:
                logger.warning("agent %s: %s", self.agent_id, refusal)
                self._hearing.tell(self.run_id, reports.ApprovalUnused(order.native, refusal))
                await self.session.decide(order.native, "deny", text=str(refusal))
                return
            await self.session.decide(order.native, order.decision, text=order.text, arguments=order.arguments)

    async def pause(self, run_id: str) -> None:
        """Stop the turn but not the run: a person decides whether it continues."""
        async with self._busy:
            if self.session is None or self.run_id != run_id:
                return
            self._paused = True
            self._hearing.note_stop(run_id)
            await self.session.cancel()

    async def resume(self, run_id: str) -> None:
        """Resume a paused run, once the pause has reached the agent."""
        async with self._busy:
            if self.session is None or self.run_id != run_id:
                return
            try:
                async with asyncio.timeout(_CANCEL_S):
                    await self._turn.wait()
            except TimeoutError:
                logger.warning("agent %s did not pause: its processes are ended", self.agent_id)
                await self._kill()
                return
            self._paused = False
            self._turn.clear()
            await self._prompt(self.session, "Go on.", resumes=True)

    async def cancel(self, run_id: str) -> None:
        """End the run, whatever is under way. A kept agent stays if it lets itself be stopped in time."""
        if self.run_id != run_id:
            return
        if not self._turn.is_set():
            self._hearing.note_stop(run_id)
        self.run_id, self._cancelled_run = None, run_id
        self.idle_since = time.monotonic()
        self._queued = []
        self._process.give_up()
        try:
            async with asyncio.timeout(_CANCEL_S), self._busy:
                await self._stop_turn()
                if self.session is None or not self.keep:
                    await self._end()
        except TimeoutError:
            logger.warning("agent %s did not stop: its processes are ended", self.agent_id)
            await self._kill()

    async def _stop_turn(self) -> None:
        """Stop the turn by the agent's own means. One that is not kept, and does not stop, is ended all the same."""
        if self.session is None or self._turn.is_set():
            return
        await self.session.cancel()
        if self.keep:
            await self._turn.wait()
        else:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_ACCOUNT_S):
                    await self._turn.wait()

    async def finish(self, run_id: str, text: str) -> None:
        """The agent has reported through the hub that it is done, with a summary."""
        if self.run_id == run_id and isinstance(self.session, TerminalSession):
            self._hearing.note(run_id, reports.Said(text=text))
            await self.session.finish()

    async def close(self, *, if_idle: bool = False) -> None:
        """End the agent's process and all it started; it can be resumed later."""
        async with self._busy:
            if not if_idle or self.run_id is None:
                await self._end()

    async def _end(self) -> None:
        reading = self._reading
        if self.session is not None:
            await self._close(self.session)
        if reading is not None:
            await asyncio.wait([reading], timeout=_CLOSE_S)
            reading.cancel()
        else:
            await self._process.clean_up(self.keep)

    async def _close(self, session: RuntimeSession) -> None:
        if not await self._process.close(session):
            await self._kill()

    async def _kill(self) -> None:
        self._is_ending = self._is_ending or self.session is not None
        await self._process.kill()
