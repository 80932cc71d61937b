"""Terminal programs as agents: typed to, watched, and over when their process is."""

import asyncio
import os
import time
from pathlib import Path
from typing import Any

import pytest

from greenroom.node.processes import ProcessSpawner, find_tree
from greenroom.node.terminals import ShownTerminal, TerminalPacer
from greenroom.runtimes.contract import Died, Heard, TurnEnded
from greenroom.runtimes.drivers.pty.driver import PtyDriver
from greenroom.runtimes.drivers.pty.session import PtySession
from greenroom.testing.timeouts import WAIT_S
from tests.runtimes.test_command_driver import ended, opening

pytestmark = pytest.mark.anyio


class Sitter:
    """A terminal program with its screen, and somebody who looks."""

    def __init__(self, session: PtySession, spawner: ProcessSpawner) -> None:
        self.session = session
        self.spawner = spawner
        self.frames: list[tuple[str, Any]] = []
        self._came = asyncio.Event()
        self.terminal = ShownTerminal(session.get_terminal(), self._show, TerminalPacer())
        self.terminal.watch(True)

    def _show(self, kind: str, data: Any) -> bool:
        self.frames = [*self.frames[-99:], (kind, data)]
        self._came.set()
        return True

    async def sees(self, text: str) -> None:
        async with asyncio.timeout(WAIT_S):
            while not any(text in row for row in self.terminal.screen.text()):
                self._came.clear()
                await self._came.wait()

    async def to_the_end(self) -> list[Heard]:
        async with asyncio.timeout(WAIT_S):
            return [one async for one in self.session.listen()]

    async def leave(self) -> None:
        await self.session.close()
        await self.terminal.forget()
        assert not find_tree(self.spawner.mark)


async def sit(folder: Path, command: list[str], **options: Any) -> Sitter:
    spawner = ProcessSpawner()
    return Sitter(await PtyDriver().open(opening(folder, command, **options), spawner), spawner)


async def test_a_prompt_is_typed_and_the_turn_ends_with_the_program(tmp_path: Path) -> None:
    sitter = await sit(tmp_path, ["bash", "--norc"])
    await sitter.session.prompt("echo made > made.txt; exit 0")
    found = await sitter.to_the_end()
    assert ended(found).reason == "done"
    assert (tmp_path / "made.txt").read_text() == "made\n"
    await sitter.leave()


async def test_several_lines_are_one_paste_where_the_program_knows_pastes(tmp_path: Path) -> None:
    script = "stty -echo -icanon; printf '\\e[?2004hready'; head -c 22 | od -An -c"
    sitter = await sit(tmp_path, ["bash", "-c", script], ready="ready")
    await sitter.session.prompt("one\ntwo\x1b[201~")
    await sitter.sees("033   [   2   0   0   ~")
    await sitter.leave()


async def test_a_program_that_fails_tells_the_end_of_its_screen(tmp_path: Path) -> None:
    sitter = await sit(tmp_path, ["bash", "-c", "read x; printf '\\e[31mout of luck\\e[0m'; exit 4"], prompt="none")
    await sitter.session.prompt("ignored")
    sitter.terminal.type("\r")
    found = await sitter.to_the_end()
    assert ended(found).reason == "failed"
    assert "code 4" in str(ended(found).error)
    assert "out of luck" in str(ended(found).error)
    assert "\x1b" not in str(ended(found).error)
    await sitter.leave()


async def test_silence_ends_no_turn_but_the_agents_word_does(tmp_path: Path) -> None:
    sitter = await sit(tmp_path, ["cat"])
    await sitter.session.prompt("hello")
    await sitter.sees("hello")
    await sitter.session.finish()
    await sitter.leave()
    found = await sitter.to_the_end()
    assert [type(one) for one in found[1:]] == [TurnEnded, Died]
    assert ended(found).reason == "done"


async def test_vim_is_drawn_used_and_left_and_the_page_before_it_is_back(tmp_path: Path) -> None:
    sitter = await sit(
        tmp_path, ["bash", "--norc", "-c", "echo before; read x; vim -u NONE -N note.txt; echo after; read x"]
    )
    await sitter.sees("before")
    sitter.terminal.resize(20, 60)
    sitter.terminal.type("\r")
    await sitter.sees("[New]")
    assert not any("before" in row for row in sitter.terminal.screen.text())
    sitter.terminal.type("iwritten in vim")
    await sitter.sees("written in vim")
    sitter.terminal.type("\x1b:wq\r")
    await sitter.sees("after")
    await sitter.sees("before")
    assert (tmp_path / "note.txt").read_text() == "written in vim\n"
    await sitter.leave()


async def test_the_screen_answers_for_a_person_who_is_not_there(tmp_path: Path) -> None:
    script = "stty -echo -icanon; printf '\\e[3;5H\\e[6n'; IFS= read -rd R where; printf '%q' \"$where\"; read x"
    sitter = await sit(tmp_path, ["bash", "-c", script])
    sitter.terminal.watch(False)
    async with asyncio.timeout(WAIT_S):
        while not any("[3\\;5" in row or "[3;5" in row for row in sitter.terminal.screen.text()):
            await sitter.session.get_terminal().wait_until_quiet(0.05, 1)
    await sitter.leave()


async def test_the_last_bytes_of_a_program_arrive(tmp_path: Path) -> None:
    sitter = await sit(tmp_path, ["bash", "-c", "head -c 1000000 /dev/zero | tr '\\0' x; echo; echo the-very-end"])
    await sitter.session.prompt("")
    assert ended(await sitter.to_the_end()).reason == "done"
    await sitter.sees("the-very-end")
    await sitter.leave()


async def test_a_grandchild_that_holds_the_terminal_does_not_hold_up_the_end(tmp_path: Path) -> None:
    sitter = await sit(tmp_path, ["bash", "-c", "sleep 600 & disown; exit 0"], prompt="none")
    await sitter.session.prompt("")
    assert ended(await sitter.to_the_end()).reason == "done"
    await sitter.leave()


async def test_a_flood_is_bounded_in_memory_and_time_and_told(tmp_path: Path) -> None:
    quiet = await sit(tmp_path, ["cat"])
    noisy = await sit(tmp_path, ["yes", "abcdefghijklmnop"])
    await noisy.sees("abcdefghijklmnop")
    async with asyncio.timeout(WAIT_S):
        while noisy.terminal.screen.scrollback.dropped_bytes < 20_000_000:
            noisy._came.clear()
            await noisy._came.wait()
    assert noisy.terminal.screen.scrollback.size <= 512 * 1024
    assert len(noisy.terminal._backlog) <= 512 * 1024
    quiet.terminal.type("still here\r")
    await quiet.sees("still here")
    cpu = os.times()
    begin = time.monotonic()
    await asyncio.sleep(1)
    used = sum(os.times()[:2]) - sum(cpu[:2])
    assert used < 0.8 * (time.monotonic() - begin)
    await noisy.leave()
    await quiet.leave()
