"""Commands as agents: what they print is what they say, and their exit code is how it went."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from greenroom.node.processes import ProcessSpawner, find_tree
from greenroom.runtimes.contract import Died, Heard, Opened, Said, SessionOptions, TurnEnded
from greenroom.runtimes.drivers.command.driver import CommandDriver
from greenroom.testing.timeouts import WAIT_S

pytestmark = pytest.mark.anyio


def opening(folder: Path, command: list[str], **options: Any) -> SessionOptions:
    token = folder / "token"
    token.write_text("gr_agent_x")
    env = {"PATH": "/usr/bin:/bin"}
    return SessionOptions(
        command=command,
        directory=folder,
        scratch=folder,
        env=env,
        hub_url="http://hub/mcp",
        token_file=token,
        options=options,
    )


async def heard(folder: Path, command: list[str], text: str = "", **options: Any) -> list[Heard]:
    """Everything from the beginning to the end of a command; nothing of it is left."""
    spawner = ProcessSpawner()
    async with asyncio.timeout(WAIT_S):
        session = await CommandDriver().open(opening(folder, command, **options), spawner)
        await session.prompt(text)
        found = [one async for one in session.listen()]
        await session.close()
    assert not find_tree(spawner.mark)
    assert isinstance(found[0], Opened)
    assert isinstance(found[-1], Died)
    return found


def ended(found: list[Heard]) -> TurnEnded:
    turns = [one for one in found if isinstance(one, TurnEnded)]
    assert len(turns) == 1
    return turns[0]


def said(found: list[Heard]) -> str:
    return "".join(one.text for one in found if isinstance(one, Said))


async def test_what_a_command_prints_is_what_it_says(tmp_path: Path) -> None:
    found = await heard(tmp_path, ["echo", "你好; $(touch pwned)"])
    assert (said(found), ended(found).reason) == ("你好; $(touch pwned)\n", "done")
    assert not (tmp_path / "pwned").exists()


async def test_a_command_that_fails_tells_its_last_words(tmp_path: Path) -> None:
    found = await heard(tmp_path, ["bash", "-c", "echo half; echo no such luck >&2; exit 3"])
    assert ended(found).reason == "failed"
    assert str(ended(found).error) == "the command ended with code 3: no such luck"


async def test_a_command_can_read_its_prompt(tmp_path: Path) -> None:
    text = "line one\n" * 50_000
    found = await heard(tmp_path, ["wc", "-c"], text, prompt="stdin")
    assert said(found).strip() == str(len(text))


async def test_a_command_beyond_its_time_is_ended_with_all_it_started(tmp_path: Path) -> None:
    found = await heard(tmp_path, ["bash", "-c", "sleep 600 & setsid sleep 600"], timeout_s=0.5)
    assert ended(found).reason == "failed"
    assert "within 0.5 s" in str(ended(found).error)


async def test_a_child_that_keeps_the_pipe_does_not_hold_up_the_end(tmp_path: Path) -> None:
    found = await heard(tmp_path, ["bash", "-c", "echo done; setsid sleep 600 &"])
    assert (said(found), ended(found).reason) == ("done\n", "done")


async def test_a_command_finds_the_hub_by_its_environment_and_not_by_its_arguments(tmp_path: Path) -> None:
    script = "import os, sys; print(os.environ['GREENROOM_URL'], os.environ['GREENROOM_TOKEN'])"
    found = await heard(tmp_path, [sys.executable, "-c", script])
    assert said(found) == "http://hub gr_agent_x\n"


async def test_a_cancelled_command_is_gone(tmp_path: Path) -> None:
    session = await CommandDriver().open(opening(tmp_path, ["sleep", "600"]), ProcessSpawner())
    await session.prompt("")
    await session.cancel()
    async with asyncio.timeout(WAIT_S):
        found = [one async for one in session.listen()]
    assert ended(found).reason == "cancelled"


async def test_a_command_that_is_not_there_is_told_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises((OSError, ValueError), match="no-such-program"):
        await CommandDriver().open(opening(tmp_path, ["no-such-program"]), ProcessSpawner())
