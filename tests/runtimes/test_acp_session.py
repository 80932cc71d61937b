"""What an agent does wrong is heard, or said in a sentence; it never hangs, and nothing of it is left."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from acp.schema import InitializeRequest

from greenroom.node.processes import ProcessSpawner
from greenroom.runtimes.contract import (
    CallFinished,
    Died,
    Heard,
    PermissionAsked,
    RuntimeSession,
    Said,
    Thought,
    TurnEnded,
)
from greenroom.runtimes.driver_list import load_driver
from greenroom.runtimes.drivers.acp.driver import HELLO
from greenroom.runtimes.transports.heard_queue import HeardQueue
from greenroom.sentences import build_sentence
from greenroom.testing.timeouts import WAIT_S
from tests.runtimes.acp_rig import Desk
from tests.runtimes.odd_agent import FLOOD

pytestmark = pytest.mark.anyio


class Stage:
    """Opens agents with bad manners."""

    def __init__(self, home: Path, spawner: ProcessSpawner) -> None:
        self._desk = Desk(home=home, hub_url="http://127.0.0.1:1", token="nobody")
        self._spawner = spawner

    async def open(self, manner: str, **manifest: Any) -> RuntimeSession:
        command = [sys.executable, str(Path(__file__).parent / "odd_agent.py"), manner]
        desk = msgspec.structs.replace(self._desk, command=command, options={"manifest": manifest})
        return await load_driver("acp").open(desk.opening(), self._spawner)


@pytest.fixture
def stage(tmp_path: Path, spawner: ProcessSpawner) -> Stage:
    return Stage(tmp_path / "home", spawner)


async def play(session: RuntimeSession, text: str, decision: str = "deny", words: str = "") -> list[Heard]:
    """One turn, then the end of the session; all that is heard after the opening."""
    found: list[Heard] = []
    await session.prompt(text)
    async with asyncio.timeout(WAIT_S):
        async for heard in session.listen():
            found.append(heard)
            if isinstance(heard, PermissionAsked):
                await session.decide(heard.permission, "allow" if decision == "allow" else "deny", text=words)
            elif isinstance(heard, TurnEnded):
                await session.close()
    return found[1:]


def said(heard: list[Heard]) -> str:
    return "".join(one.text for one in heard if isinstance(one, Said))


@pytest.mark.parametrize(
    ("manner", "sentence"),
    [
        ("dies at once", "acp ended before it was ready: no key was found"),
        ("is from yesterday", "acp speaks version 0 of ACP, not 1"),
        ("has no account", "acp says: Authentication required — log in with it by hand once, or name the variable"),
    ],
)
async def test_an_agent_that_cannot_begin_is_refused_with_a_sentence(manner: str, sentence: str, stage: Stage) -> None:
    with pytest.raises(ValueError, match=sentence):
        await stage.open(manner)


async def test_an_agent_that_never_answers_is_ended_when_somebody_gives_up(stage: Stage) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await stage.open("never answers")


async def test_a_program_that_is_not_there_is_refused(stage: Stage, spawner: ProcessSpawner, tmp_path: Path) -> None:
    desk = Desk(home=tmp_path / "home", hub_url="http://127.0.0.1:1", token="nobody", command=["/no/such/program"])
    with pytest.raises(OSError, match="no/such/program"):
        await load_driver("acp").open(desk.opening(), spawner)


async def test_a_manifest_with_a_mistake_is_refused(stage: Stage) -> None:
    with pytest.raises(ValueError, match=r"options.manifest: .*second_prompt"):
        await stage.open("is fine", second_prompt="explodes")


async def test_a_flood_is_heard_whole_and_in_order(stage: Stage) -> None:
    heard = await play(await stage.open("floods"), "go")
    assert said(heard).split() == [str(number) for number in range(FLOOD)]


async def test_a_slow_reader_holds_the_agent_back() -> None:
    ears = HeardQueue()
    ears.put(*[Thought(str(number)) for number in range(1500)])
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await ears.wait_for_room()
    listening = ears.listen()
    for _ in range(1200):
        await anext(listening)
    async with asyncio.timeout(WAIT_S):
        await ears.wait_for_room()


async def test_lines_that_are_no_messages_are_passed_over_and_a_strange_end_is_a_failure(stage: Stage) -> None:
    heard = await play(await stage.open("says strange things"), "go")
    assert heard[0] == TurnEnded(reason="failed", error=build_sentence("run_error.unknown_stop", reason="bored"))


async def test_an_error_of_the_agent_is_told_with_its_details(stage: Stage) -> None:
    heard = await play(await stage.open("fails"), "go")
    assert heard[0] == TurnEnded(reason="failed", error="Internal error: no money")


async def test_a_yes_for_ever_is_not_given(stage: Stage) -> None:
    heard = await play(await stage.open("wants everything"), "go", "allow")
    assert said(heard) == "cancelled"


async def test_what_a_client_need_not_do_is_refused(stage: Stage) -> None:
    assert said(await play(await stage.open("is curious"), "go")) == "-32601"


async def test_who_gives_up_at_a_refusal_is_told_why_and_goes_on(stage: Stage) -> None:
    session = await stage.open("gives up", refusal_ends_turn=True)
    heard = await play(session, "work", "deny", "take mv")
    assert said(heard) == "noYou may not do this: rm -r .\ntake mv\n\nGo on without it."
    assert [one for one in heard if isinstance(one, CallFinished)] == [CallFinished(call="c1", ok=False)]
    assert len([one for one in heard if isinstance(one, TurnEnded)]) == 1


async def test_who_goes_on_by_itself_is_told_only_words(stage: Stage) -> None:
    assert said(await play(await stage.open("gives up"), "work", "deny")) == "no"
    heard = await play(await stage.open("gives up"), "work", "deny", "take mv")
    assert "take mv" in said(heard)


async def test_a_question_after_the_turn_is_withdrawn_unheard(stage: Stage) -> None:
    session = await stage.open("asks too late")
    await session.prompt("go")
    listening = session.listen()
    async with asyncio.timeout(WAIT_S):
        heard = [await anext(listening) for _ in range(4)]
    await session.close()
    assert [type(one) for one in heard[1:]] == [Said, TurnEnded, Said]
    assert heard[3] == Said("cancelled")


async def test_an_agent_that_closes_its_mouth_is_ended(stage: Stage) -> None:
    heard = await play(await stage.open("goes silent"), "go")
    assert [type(one) for one in heard] == [Died]


async def test_an_agent_that_ignores_the_request_to_end_is_made_to(stage: Stage) -> None:
    heard = await play(await stage.open("does not want to go"), "hello")
    assert said(heard) == "hello"
    assert heard[-1] == Died(-9)


async def test_a_dead_agent_takes_orders_without_an_error(stage: Stage) -> None:
    session = await stage.open("drops dead")
    assert (await play(session, "go"))[-1] == Died(4)
    await session.cancel()
    await session.decide("prm_gone", "allow")
    assert not await session.steer("hello?")
    await session.close()


def test_the_greeting_is_as_the_protocols_schema_has_it() -> None:
    assert InitializeRequest.model_validate(HELLO).model_dump(mode="json", by_alias=True, exclude_none=True) == HELLO
