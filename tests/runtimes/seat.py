"""Somebody at a terminal: a screen that is looked at all the time, and keys."""

import asyncio
from typing import Any

import pyte

from greenroom.node.processes import ChildTerminal, ProcessSpawner
from greenroom.runtimes.attachable import Attachable
from greenroom.runtimes.contract import RuntimeSession, SessionOptions

ROWS, COLUMNS = 36, 110
_ANSWERS = {b"\x1b[6n": b"\x1b[1;1R", b"\x1b[c": b"\x1b[?62;c"}
"""What a terminal says when it is asked where its cursor is, and what it can."""


class Screen(pyte.Screen):
    """pyte's, which does not know some marks that programs put before colours."""

    def select_graphic_rendition(self, *attrs: int, **named: Any) -> None:
        if not named:
            super().select_graphic_rendition(*attrs)


class Seat:
    """The terminal of somebody who sits in, and looks at it all the time."""

    def __init__(self, terminal: ChildTerminal) -> None:
        self._terminal = terminal
        self._screen = Screen(COLUMNS, ROWS)
        self._changed = asyncio.Event()
        self._looking = asyncio.create_task(self._look())

    async def _look(self) -> None:
        stream = pyte.ByteStream(self._screen)
        while data := await self._terminal.read():
            for question, answer in _ANSWERS.items():
                if question in data:
                    await self._terminal.write(answer)
            stream.feed(data)
            self._changed.set()

    @property
    def shown(self) -> str:
        return "\n".join(line.rstrip() for line in self._screen.display)

    async def until_shown(self, text: str) -> None:
        while text not in self.shown:
            self._changed.clear()
            await self._changed.wait()

    async def until_gone(self, text: str) -> None:
        while text in self.shown:
            self._changed.clear()
            await self._changed.wait()

    async def type(self, keys: str) -> None:
        await self._terminal.write(keys.encode())

    async def leave(self) -> None:
        self._looking.cancel()
        await asyncio.gather(self._looking, return_exceptions=True)
        await self._terminal.end()


async def sit_beside(session: RuntimeSession, opening: SessionOptions, spawner: ProcessSpawner) -> Seat:
    """Start the runtime's own terminal program on a live session."""
    assert isinstance(session, Attachable)
    beside = session.attach_command()
    assert beside is not None
    env = {**opening.env, **beside.env}
    return Seat(await spawner.spawn_terminal(beside.command, opening.directory, env, ROWS, COLUMNS))
