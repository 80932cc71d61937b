"""A tool of a real MCP server is an agent: over pipes and over HTTP, with its questions, its failures and its end."""

import asyncio
import os
import re
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from greenroom.node.processes import ProcessSpawner
from greenroom.runtimes.conformance_check import check_driver
from greenroom.runtimes.conformance_trial import DriverTrial
from greenroom.runtimes.contract import QuestionAsked, Said, SessionOptions, Thought, TurnEnded
from greenroom.runtimes.driver_list import load_driver
from greenroom.runtimes.scripted_model import choose_script
from greenroom.runtimes.spawn_tracker import TrackingSpawner
from greenroom.testing.hub_process import wait_until
from greenroom.testing.timeouts import WAIT_S

pytestmark = pytest.mark.anyio
SERVER = [sys.executable, "-m", "greenroom.testing.scripted_tool"]
TOOL = {"tool": "perform", "prompt_argument": "script"}


def opening(folder: Path, command: list[str], options: dict[str, object], resume: str | None = None) -> SessionOptions:
    for name in ("desk", "scratch"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    passed = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    return SessionOptions(
        command=command,
        directory=folder / "desk",
        scratch=folder / "scratch",
        env={**passed, "HOME": str(folder)},
        resume=resume,
        options=options,
    )


@asynccontextmanager
async def conversation(folder: Path, spawner: ProcessSpawner, **more: object) -> AsyncIterator[DriverTrial]:
    def make(resume: str | None) -> SessionOptions:
        return opening(folder, SERVER, {**TOOL, **more}, resume)

    trial = DriverTrial(load_driver("mcp"), make, TrackingSpawner(spawner), choose_script("mcp"))
    async with asyncio.timeout(WAIT_S):
        await trial.open()
        try:
            yield trial
        finally:
            await trial.close()


async def test_it_keeps_the_contract_as_far_as_a_tool_can(tmp_path: Path, spawner: ProcessSpawner) -> None:
    findings = await check_driver(
        load_driver("mcp"), lambda resume: opening(tmp_path, SERVER, dict(TOOL), resume), spawner, choose_script("mcp")
    )
    assert not [finding for finding in findings if finding.verdict == "failed"]
    assert {f.point for f in findings if f.verdict == "ok"} >= {
        "answers a prompt",
        "leaves no process when it is closed",
    }


async def test_arguments_progress_and_structured_output_are_told(tmp_path: Path, spawner: ProcessSpawner) -> None:
    async with conversation(tmp_path, spawner, arguments={"greeting": "good evening"}) as trial:
        heard = await trial.run_turn("SLEEP 0\nSAY hello")
        assert [type(one) for one in heard] == [Thought, Said, TurnEnded]
        assert heard[1] == Said("good evening\nhello")
        end = (await trial.run_turn('JSON {"verdict": "fine"}'))[-1]
        assert isinstance(end, TurnEnded)
        assert (end.reason, end.output) == ("done", {"verdict": "fine"})


async def test_a_failed_tool_fails_the_turn_and_the_next_one_works(tmp_path: Path, spawner: ProcessSpawner) -> None:
    async with conversation(tmp_path, spawner) as trial:
        end = (await trial.run_turn("FAIL no paper left"))[-1]
        assert isinstance(end, TurnEnded)
        assert end.reason == "failed"
        assert "no paper left" in str(end.error)
        assert Said("again") in await trial.run_turn("SAY again")


async def test_a_question_of_the_server_is_answered_by_a_person(tmp_path: Path, spawner: ProcessSpawner) -> None:
    async with conversation(tmp_path, spawner) as trial:
        await trial.session.prompt("ASK which colour?")
        asked = await trial.read_next()
        assert isinstance(asked, QuestionAsked)
        assert "which colour?" in asked.question
        await trial.session.decide(asked.permission, "allow", text="green")
        assert Said("green") in await trial.finish_turn()


async def test_a_server_that_dies_fails_the_turn(tmp_path: Path, spawner: ProcessSpawner) -> None:
    async with conversation(tmp_path, spawner) as trial:
        end = (await trial.run_turn("CRASH"))[-1]
        assert isinstance(end, TurnEnded)
        assert end.reason == "failed"


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """A server of its own over HTTP."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with (tmp_path / "server.log").open("w") as log:
        server = subprocess.Popen([*SERVER, str(port)], stdout=log, stderr=log)
    try:
        wait_until(lambda: _listens(port))
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.kill()
        server.wait()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


async def test_a_server_by_its_address_is_called(tmp_path: Path, spawner: ProcessSpawner, address: str) -> None:
    options = {**TOOL, "url": address}
    trial = DriverTrial(
        load_driver("mcp"), lambda r: opening(tmp_path, [], options, r), TrackingSpawner(spawner), choose_script("mcp")
    )
    async with asyncio.timeout(WAIT_S):
        await trial.open()
        try:
            assert Said("over the wire") in await trial.run_turn("SAY over the wire")
        finally:
            await trial.close()


@pytest.mark.parametrize(
    ("command", "options", "sentence"),
    [
        (SERVER, {"tool": "dance", "prompt_argument": "script"}, "has no tool 'dance'; it has perform"),
        (SERVER, {"tool": "perform"}, "has no argument 'prompt'; it has script, greeting"),
        ([], {"tool": "perform"}, "write either command"),
        (SERVER, {"tool": "perform", "url": "http://127.0.0.1:9/mcp"}, "write either command"),
        ([], {"tool": "perform", "url": "file:///etc/passwd"}, "begins with http"),
        (SERVER, {"tool": "perform", "spell": 1}, "unknown field `spell`"),
        (["./server"], dict(TOOL), "is not installed on this machine"),
        (["/bin/false"], dict(TOOL), "cannot be used"),
        ([], {**TOOL, "url": "http://127.0.0.1:9/mcp"}, "cannot be used"),
        ([], {**TOOL, "url": "http://127.0.0.1:9/mcp", "bearer_env": "NOWHERE"}, "NOWHERE is not set"),
    ],
)
async def test_what_is_wrong_is_said_before_the_first_prompt(
    tmp_path: Path, spawner: ProcessSpawner, command: list[str], options: dict[str, object], sentence: str
) -> None:
    async with asyncio.timeout(WAIT_S):
        with pytest.raises(ValueError, match=re.escape(sentence)):
            await load_driver("mcp").open(opening(tmp_path, command, options), spawner)
