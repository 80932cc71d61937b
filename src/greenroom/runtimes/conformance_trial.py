"""A conversation with a runtime under test: scripts for its model, and the words to wait for."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from greenroom.runtimes.contract import (
    Died,
    Driver,
    Heard,
    Opened,
    PermissionAsked,
    RuntimeSession,
    Said,
    SessionOptions,
    Thought,
    TurnEnded,
)
from greenroom.runtimes.model_script import ModelScript
from greenroom.runtimes.spawn_tracker import TrackingSpawner

MakeOpening = Callable[[str | None], SessionOptions]
"""An opening for a new session, or to resume the one of this id."""
Answer = Callable[[PermissionAsked], Awaitable[None]]
FIRST = "good evening"
"""What the model is made to say first in every session, so that it can be asked for it later."""


class ContractViolation(Exception):
    """Something is not as it must be."""


class NotSupported(Exception):
    """The runtime does not have this."""


class DriverTrial:
    """One session at a time, and its facts."""

    def __init__(
        self, driver: Driver, make_opening: MakeOpening, witness: TrackingSpawner, script: ModelScript
    ) -> None:
        self.driver = driver
        self.make_opening = make_opening
        self.witness = witness
        self.script = script
        self.last_id: str | None = None
        """The id of the session that was opened last, which a later one can resume."""
        self.lately: list[str] = []
        """The facts, in short, since somebody emptied the list."""
        self.directory = Path()
        self._session: RuntimeSession | None = None
        self._heard: asyncio.Queue[Heard | None] = asyncio.Queue()
        self._reading: asyncio.Task[None] | None = None

    @property
    def session(self) -> RuntimeSession:
        if self._session is None:
            raise ContractViolation("there is no session")
        return self._session

    async def open(self, resume: str | None = None) -> Opened:
        opening = self.make_opening(resume)
        self.directory = opening.directory
        self._heard = asyncio.Queue()
        self._session = await self.driver.open(opening, self.witness)
        self._reading = asyncio.create_task(self._read(self._session, self._heard))
        first = await self.read_next()
        if not isinstance(first, Opened):
            raise ContractViolation("the first that is heard is not Opened")
        self.last_id = first.session
        return first

    async def ensure_open(self) -> None:
        """Open another session, and begin it as every one begins, if the last is gone."""
        if self._session is None:
            await self.open()
            await self.run_turn(self.build_say_prompt(FIRST))

    async def _read(self, session: RuntimeSession, heard: "asyncio.Queue[Heard | None]") -> None:
        async for one in session.listen():
            heard.put_nowait(one)
        heard.put_nowait(None)

    async def read_next(self) -> Heard:
        heard = await self._heard.get()
        if heard is None:
            raise ContractViolation("the session is over")
        self.lately.append(summarize(heard))
        return heard

    async def run_turn(self, prompt: str, answer: Answer | None = None) -> list[Heard]:
        """One turn with all its facts. A permission is allowed, unless somebody else answers."""
        await self.session.prompt(prompt)
        return await self.finish_turn(answer)

    async def finish_turn(self, answer: Answer | None = None) -> list[Heard]:
        """The rest of a turn."""
        found: list[Heard] = []
        while True:
            heard = await self.read_next()
            found.append(heard)
            if isinstance(heard, PermissionAsked):
                await (answer(heard) if answer else self.session.decide(heard.permission, "allow"))
            elif isinstance(heard, TurnEnded):
                return found
            elif isinstance(heard, Died):
                raise ContractViolation("its process ended")

    async def wait_until_said(self) -> None:
        """Wait for the first words of a turn."""
        while not isinstance(heard := await self.read_next(), Said | Thought):
            if isinstance(heard, TurnEnded | Died):
                raise ContractViolation("nothing was said")

    async def wait_until_died(self) -> Died:
        """Wait for the end of a session; no fact may follow it."""
        while not isinstance(heard := await self.read_next(), Died):
            pass
        if await self._heard.get() is not None:
            raise ContractViolation("something was heard after Died")
        return heard

    async def close(self) -> None:
        """End the session and its process; closing twice is allowed."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()
            await session.close()
        if self._reading is not None:
            await self._reading
            self._reading = None

    def build_say_prompt(self, text: str) -> str:
        """A prompt that makes the model say this."""
        return self.script.say.replace("TEXT", text)

    def build_touch_prompt(self, file: str, text: str) -> tuple[str, Path]:
        """A prompt that makes the model create a file, for which it must ask, and then say this."""
        if self.script.command is None:
            raise NotSupported("it has no tool that runs commands")
        prompt = self.script.command.replace("COMMAND", f"touch {file}").replace("TEXT", text)
        return prompt, self.directory / file


def summarize(heard: Heard) -> str:
    """The facts, for a report."""
    match heard:
        case Said():
            return f"Said {heard.text[:40]!r}"
        case TurnEnded():
            return f"TurnEnded {heard.reason} {str(heard.error)[:200]}".strip()
        case Died():
            return f"Died {heard.code} {str(heard.last_words)[-200:]}".strip()
        case _:
            return type(heard).__name__


def need_turn_end(heard: list[Heard], reason: str) -> None:
    """The turn must have ended so."""
    end = heard[-1]
    if not isinstance(end, TurnEnded) or end.reason != reason:
        raise ContractViolation(f"the turn should have ended as {reason}")


def need_said(heard: list[Heard], text: str) -> None:
    """This must have been said."""
    if text not in "".join(one.text for one in heard if isinstance(one, Said)):
        raise ContractViolation(f"{text!r} was not said")
