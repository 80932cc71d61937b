"""The agents that a node holds: one session each, carrying out orders and telling what is heard."""

import asyncio
import logging
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from greenroom.gateway import frames
from greenroom.node.processes import Spawner, end_marked
from greenroom.node.surroundings import make_opening
from greenroom.nouns.agents.profiles import Definition
from greenroom.runtimes.contract import CallStarted, Died, Driver, Heard, Opened, Said, Session, Thought, TurnEnded

logger = logging.getLogger(__name__)
Tell = Callable[[str, dict[str, Any]], None]
Show = Callable[[str, str, Any], None]
_GATHER_S = 0.5
_GATHER_CHARS = 8192
_CANCEL_S = 5.0


class HeldAgent:
    """One agent: its session while it lives, the run it is at, and what is to be said to it next."""

    def __init__(self, agent_id: str, folder: Path, tell: Tell, show: Show) -> None:
        self.agent_id = agent_id
        self.run_id: str | None = None
        self.session: Session | None = None
        self.keep = False
        self.idle_since = time.monotonic()
        self.idle_s = 0
        self.spawner = Spawner()
        self._folder = folder
        self._tell = tell
        self._show = show
        self._said: list[str] = []
        self._answer: list[str] = []
        self._said_at = 0.0
        self._queued: list[str] = []
        self._paused = False
        self._reading: asyncio.Task[None] | None = None
        self._turn = asyncio.Event()
        self._opened: Opened | None = None

    async def start(self, order: frames.Ordered, driver: Driver, mcp_url: str, env: dict[str, str]) -> None:
        """Put the agent to work, opening or resuming its session if it has none."""
        body = order.body
        definition = msgspec.convert(body["definition"], Definition)
        self.run_id, self.keep, self.idle_s = order.run, bool(body.get("keep")), definition.idle_s
        self._said, self._answer, self._queued, self._paused = [], [], [], False
        try:
            if self.session is None:
                opening = make_opening(self._folder, self.agent_id, order, definition, mcp_url, env)
                async with asyncio.timeout(definition.start_timeout_s):
                    self.session = await driver.open(opening, self.spawner)
                self._reading = asyncio.create_task(self._read(self.session), name=f"agent {self.agent_id}")
            elif self._opened is not None:
                self._note(self._opened)
            self._turn.clear()
            await self.session.prompt(body["prompt"])
        except TimeoutError:
            await self._failed(f"the agent did not start within {definition.start_timeout_s} s")
        except (OSError, ValueError) as error:
            await self._failed(f"the agent could not be started: {error}")

    async def _failed(self, error: str) -> None:
        self._note(TurnEnded(reason="failed", error=error))
        self.run_id = None
        await self.close()

    async def _read(self, session: Session) -> None:
        async for heard in session.heard():
            if isinstance(heard, Opened):
                self._opened = heard
            self._note(heard)
            if isinstance(heard, TurnEnded):
                await self._turn_ended(session, heard)
        self.session = None
        self._turn.set()

    async def _turn_ended(self, session: Session, ended: TurnEnded) -> None:
        self._turn.set()
        if self._queued and ended.reason == "done" and self.run_id is not None:
            text, self._queued = "\n\n".join(self._queued), []
            self._turn.clear()
            await session.prompt(text)
            return
        if self._paused and ended.reason == "cancelled":
            return
        self.run_id = None
        self.idle_since = time.monotonic()
        if not self.keep:
            await session.close()

    def _note(self, heard: Heard) -> None:
        """Hand on what is heard. Words are gathered for the log and shown at once to whoever looks."""
        if isinstance(heard, Said):
            self._show(self.agent_id, "said", heard.text)
            self._said.append(heard.text)
            self._answer.append(heard.text)
            size = sum(map(len, self._said))
            if size < _GATHER_CHARS and time.monotonic() - self._said_at < _GATHER_S:
                return
            self._flush()
            return
        if isinstance(heard, Thought):
            self._show(self.agent_id, "thought", heard.text)
        self._flush()
        if isinstance(heard, CallStarted):
            self._answer = []
        fields = msgspec.to_builtins(heard)
        if isinstance(heard, TurnEnded):
            if self._queued and heard.reason == "done":
                fields["type"] = "turn_went_on"
            fields["text"] = "".join(self._answer)
            self._answer = []
        if self.run_id is not None:
            self._tell(self.run_id, fields)
        elif isinstance(heard, Died):
            self._tell("", {"type": "asleep", "agent": self.agent_id})

    def _flush(self) -> None:
        self._said_at = time.monotonic()
        if self._said and self.run_id is not None:
            self._tell(self.run_id, {"type": "said", "text": "".join(self._said)})
        self._said = []

    async def steer(self, text: str) -> None:
        """Say something to the agent at work: into the turn where its runtime can, else as the next prompt."""
        if self.session is None or self.run_id is None:
            return
        if self._turn.is_set():
            self._turn.clear()
            await self.session.prompt(text)
        elif not await self.session.steer(text):
            self._queued.append(text)

    async def decide(self, body: dict[str, Any]) -> None:
        if self.session is not None:
            native = str(body["permission"]).partition(":")[2]
            arguments = body.get("arguments")
            await self.session.decide(native, body["decision"], text=body.get("text") or "", arguments=arguments)

    async def pause(self) -> None:
        """Stop the turn but not the run: a person decides whether it goes on."""
        self._paused = True
        if self.session is not None:
            await self.session.cancel()

    async def go_on(self) -> None:
        self._paused = False
        if self.session is not None and self.run_id is not None:
            self._turn.clear()
            await self.session.prompt("Go on.")

    async def cancel(self) -> None:
        """End the run that the agent is at. A kept agent stays if it lets itself be stopped."""
        self.run_id = None
        self._queued = []
        if self.session is None:
            return
        await self.session.cancel()
        if self.keep:
            try:
                async with asyncio.timeout(_CANCEL_S):
                    await self._turn.wait()
                return
            except TimeoutError:
                logger.warning("agent %s did not stop: its process is ended", self.agent_id)
        await self.close()

    async def close(self) -> None:
        """End the agent's process and all it started."""
        session, self.session = self.session, None
        if session is not None:
            await session.close()
        if self._reading is not None:
            await self._reading
            self._reading = None
        await asyncio.get_running_loop().run_in_executor(None, end_marked, self.spawner.mark)
        await asyncio.to_thread(shutil.rmtree, self._folder / "scratch" / self.agent_id, ignore_errors=True)
