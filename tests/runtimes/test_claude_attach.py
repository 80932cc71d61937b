"""A person sits at a live session of Claude Code, in its own terminal program, while the hub drives it."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pyte
import pytest

from greenroom.node.processes import ProcessSpawner
from greenroom.runtimes.attachable import TerminalSession
from greenroom.runtimes.conformance_trial import DriverTrial, need_turn_end
from greenroom.runtimes.contract import CallFinished, Heard, PermissionAsked, PermissionWithdrawn, TurnEnded, Usage
from greenroom.testing.fake_llm import FakeModel
from tests.runtimes.acp_rig import Desk
from tests.runtimes.native_rig import hear_next, last, make_desk, on_trial, only, said
from tests.runtimes.seat import Screen

pytestmark = pytest.mark.anyio
KEY = "sk-ant-fake-of-twenty-characters"
QUESTION = "Do you want to proceed?"
_AGAIN_S = 5


@pytest.fixture(scope="module")
def model() -> Iterator[FakeModel]:
    with FakeModel() as model:
        yield model


def known_home(home: Path, directory: Path) -> None:
    """A home in which the terminal program was used before."""
    known = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [KEY[-20:]]},
        "projects": {str(directory): {"hasTrustDialogAccepted": True}},
    }
    home.mkdir(exist_ok=True)
    (home / ".claude.json").write_text(json.dumps(known))


@pytest.fixture
def desk(tmp_path: Path, model: FakeModel) -> Desk:
    """At a desk where the terminal program was used before: it knows its key and trusts the folder."""
    options: dict[str, Any] = {"attach": True}
    found = make_desk("claude", tmp_path / "home", model.url)
    known_home(tmp_path / "home", found.directory)
    return msgspec.structs.replace(found, options=options, env={**found.env, "ANTHROPIC_API_KEY": KEY})


class Sitter:
    """Somebody at the terminal that the session lives in."""

    def __init__(self, trial: DriverTrial) -> None:
        assert isinstance(trial.session, TerminalSession)
        self.seat = trial.session.get_terminal()
        self._screen = Screen(110, 36)
        self._stream = pyte.ByteStream(self._screen)
        self._changed = asyncio.Event()
        self.leave = self.seat.watch(self._see)

    def _see(self, data: bytes) -> None:
        self._stream.feed(data)
        self._changed.set()

    async def until_shown(self, text: str) -> None:
        while text not in self._shown:
            self._changed.clear()
            await self._changed.wait()

    async def answer(self, key: bytes) -> None:
        """Press a key until the question is gone: one pressed right when it appears counts as a mistake."""
        await self.until_shown(QUESTION)
        while QUESTION in self._shown:
            self.seat.type(key)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_AGAIN_S):
                    while QUESTION in self._shown:
                        self._changed.clear()
                        await self._changed.wait()

    @property
    def _shown(self) -> str:
        return "\n".join(self._screen.display)


@asynccontextmanager
async def seated(desk: Desk, spawner: ProcessSpawner) -> AsyncIterator[tuple[DriverTrial, Sitter]]:
    async with on_trial("claude", desk, spawner) as trial:
        await trial.open()
        sitter = Sitter(trial)
        try:
            yield trial, sitter
        finally:
            sitter.leave()


async def test_the_hub_drives_it_and_answers_what_it_asks(desk: Desk, spawner: ProcessSpawner) -> None:
    async with seated(desk, spawner) as (trial, sitter):
        assert said(await trial.run_turn("SAY driven by the hub")) == "driven by the hub"
        assert trial.session is not None
        await trial.session.prompt("USE_TOOL bash touch allowed\nSAY saw it happen")
        asked = await hear_next(trial, PermissionAsked)
        assert (asked.tool, asked.input["command"]) == ("Bash", "touch allowed")
        await sitter.until_shown(QUESTION)
        await trial.session.decide(asked.permission, "allow")
        heard = await trial.finish_turn()
        assert said(heard) == "saw it happen"
        assert (desk.directory / "allowed").exists()


async def test_what_the_hub_refuses_does_not_run_and_the_agent_goes_on(desk: Desk, spawner: ProcessSpawner) -> None:
    async with seated(desk, spawner) as (trial, _):
        assert trial.session is not None
        await trial.session.prompt("USE_TOOL bash touch refused\nSAY went on")
        asked = await hear_next(trial, PermissionAsked)
        await trial.session.decide(asked.permission, "deny", text="not today")
        need_turn_end(await trial.finish_turn(), "done")
        assert not (desk.directory / "refused").exists()


async def test_a_person_answers_and_speaks_at_its_terminal(desk: Desk, spawner: ProcessSpawner) -> None:
    async with seated(desk, spawner) as (trial, sitter):
        need_turn_end(await trial.run_turn("SAY before anybody came"), "done")
        assert trial.session is not None
        await trial.session.prompt("USE_TOOL bash touch allowed-there\nSAY saw it happen")
        asked = await hear_next(trial, PermissionAsked)
        await sitter.answer(b"1")
        assert await hear_next(trial, PermissionWithdrawn) == PermissionWithdrawn(asked.permission)
        assert (await hear_next(trial, CallFinished)).ok
        assert said(await trial.finish_turn()) == "saw it happen"
        assert (desk.directory / "allowed-there").exists()

        sitter.seat.type(b"SAY spoken by a person")
        await sitter.until_shown("SAY spoken by a person")
        sitter.seat.type(b"\r")
        await sitter.until_shown("● spoken by a person")
        assert said(await trial.run_turn("SAY driven on")) == "driven on"


async def test_a_turn_is_cancelled_and_the_next_goes_on(desk: Desk, spawner: ProcessSpawner) -> None:
    async with seated(desk, spawner) as (trial, sitter):
        need_turn_end(await trial.run_turn("SAY remember the milk"), "done")
        assert trial.session is not None
        await trial.session.prompt("SLOW 200 0.5\nSAY " + "never " * 40)
        await sitter.until_shown("❯ SLOW 200 0.5")
        await sitter.until_shown(" tokens)")
        await trial.session.cancel()
        need_turn_end(await trial.finish_turn(), "cancelled")
        assert said(await trial.run_turn("SAY still here")) == "still here"


async def test_a_turn_cancelled_as_soon_as_it_was_asked_for_leaves_nothing_behind(
    desk: Desk, spawner: ProcessSpawner
) -> None:
    async with seated(desk, spawner) as (trial, _):
        for script in ("SLOW 200 0.5", "SLOW 200 0.5\nSAY never"):
            assert trial.session is not None
            await trial.session.prompt(script)
            await trial.session.cancel()
            need_turn_end(await trial.finish_turn(), "cancelled")
            assert said(await trial.run_turn("SAY still here")) == "still here"


async def test_a_turn_is_cancelled_while_it_asks_and_the_next_goes_on(desk: Desk, spawner: ProcessSpawner) -> None:
    async with seated(desk, spawner) as (trial, _):
        assert trial.session is not None
        await trial.session.prompt("USE_TOOL bash touch unanswered\nSAY never")
        await hear_next(trial, PermissionAsked)
        await trial.session.cancel()
        need_turn_end(await trial.finish_turn(), "cancelled")
        assert said(await trial.run_turn("SAY still here")) == "still here"
        assert not (desk.directory / "unanswered").exists()


def used(heard: list[Heard]) -> tuple[int, int, float | None, bool]:
    told = last(heard, Usage)
    return told.input_tokens, told.output_tokens, told.cost_usd, told.is_last


async def test_what_a_turn_has_used_is_told_once_also_after_a_resume(desk: Desk, spawner: ProcessSpawner) -> None:
    async with seated(desk, spawner) as (trial, _):
        assert used(await trial.run_turn("SAY one")) == (1000, 50, 0.005, True)
        two = await trial.run_turn("USE_TOOL bash echo two\nUSE_TOOL bash sleep 2\nSAY two")
        assert used(two) == (3000, 150, 0.015, True)
        until_then = [one.is_last for one in two if isinstance(one, Usage)][:-1]
        assert until_then, "it can be stopped at a limit: what the first call used was written down during the second"
        assert not any(until_then)
        await trial.close()
        await trial.open(resume=trial.last_id)
        recalled = await trial.run_turn("RECALL")
        assert "SAY one" in said(recalled)
        assert used(recalled) == (1000, 50, 0.005, True)


async def test_a_turn_is_over_when_its_helpers_are_and_counts_them(
    desk: Desk, spawner: ProcessSpawner, model: FakeModel
) -> None:
    helper = json.dumps({"description": "look", "prompt": "SAY i have looked", "subagent_type": "general-purpose"})
    async with seated(desk, spawner) as (trial, _):
        before = len(model.log)
        heard = await trial.run_turn(f"USE_TOOL Agent {helper}\nSAY looked")
        assert only(heard, TurnEnded).reason == "done"
        asked = [entry["prompt"] for entry in model.log[before:]]
        assert asked.count("SAY i have looked") == 1
        after = await trial.run_turn("SAY next")
        assert said(after) == "next"
        # It may speak once more of itself when the helper has ended; then that counts as part of the next turn.
        (tokens, _, cost, _), (tokens_after, _, cost_after, _) = used(heard), used(after)
        calls = len(model.log) - before
        assert tokens >= 3000, "the helper's call is counted in its own turn"
        assert tokens + tokens_after == 1000 * calls
        assert (cost or 0) + (cost_after or 0) == pytest.approx(0.005 * calls)
