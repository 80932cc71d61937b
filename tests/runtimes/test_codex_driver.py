"""The real Codex on the scripted model, driven over its app server."""

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from greenroom.node.processes import ProcessSpawner
from greenroom.runtimes.agents.codex.launch import plan_launch
from greenroom.runtimes.conformance_check import check_driver
from greenroom.runtimes.conformance_trial import need_turn_end
from greenroom.runtimes.contract import (
    CallFinished,
    CallStarted,
    PermissionAsked,
    PermissionWithdrawn,
    QuestionAsked,
    Said,
    TurnEnded,
    Usage,
)
from greenroom.runtimes.driver_list import load_driver
from greenroom.runtimes.model_script import FAKE_SCRIPT
from greenroom.testing.fake_llm import FakeModel
from greenroom.testing.hub_process import HubProcess, wait_until
from tests.runtimes.acp_rig import Desk
from tests.runtimes.native_recorder import OPTIONS, SCRIPTS
from tests.runtimes.native_rig import hear_next, last, make_desk, make_opening, on_trial, only, said

pytestmark = pytest.mark.anyio
FORGETFUL = """
import json, sys

def tell(**message):
    print(json.dumps(message), flush=True)

turns = 0
for line in sys.stdin:
    asked = json.loads(line)
    params = asked.get("params", {})
    match asked["method"]:
        case "initialize":
            tell(id=asked["id"], result={})
        case "thread/start":
            tell(id=asked["id"], result={"thread": {"id": "t"}})
        case "turn/start":
            turns += 1
            turn = {"id": f"turn{turns}", "status": "completed"}
            said = {"type": "userMessage", "id": "u", "clientId": params["clientUserMessageId"]}
            tell(id=asked["id"], result={"turn": turn})
            tell(method="turn/started", params={"threadId": "t", "turn": turn})
            tell(method="item/started", params={"threadId": "t", "turnId": turn["id"], "item": said})
            if turns % 3:
                answer = {"type": "agentMessage", "id": f"m{turns}", "text": params["input"][0]["text"]}
                tell(method="item/started", params={"threadId": "t", "turnId": turn["id"], "item": answer})
                tell(method="item/completed", params={"threadId": "t", "turnId": turn["id"], "item": answer})
            tell(method="turn/completed", params={"threadId": "t", "turn": turn})
"""
"""An app server that takes every third prompt and does nothing about it, as the real one does at a bad moment."""
CREATE = json.dumps({"topic": "made by codex"})


@pytest.fixture(scope="module")
def model() -> Iterator[FakeModel]:
    with FakeModel() as model:
        yield model


@pytest.fixture
def desk(tmp_path: Path, model: FakeModel) -> Desk:
    return make_desk("codex", tmp_path / "home", model.url)


@pytest.fixture
def desk_at_hub(tmp_path: Path, shared_hub: HubProcess, model: FakeModel) -> Desk:
    return make_desk("codex", tmp_path / "home", model.url, shared_hub)


def with_options(desk: Desk, **options: object) -> Desk:
    return msgspec.structs.replace(desk, options=options)


@pytest.mark.anywhere
@pytest.mark.parametrize("attach", [False, True])
async def test_it_keeps_the_contract(attach: bool, desk_at_hub: Desk, spawner: ProcessSpawner) -> None:
    desk = with_options(desk_at_hub, attach=attach)
    script = msgspec.structs.replace(FAKE_SCRIPT, hub_tool='USE_TOOL bus_connect {"thread_name": "stage"}\nSAY TEXT')
    findings = await check_driver(load_driver("codex"), desk.opening, spawner, script)
    assert [finding for finding in findings if finding.verdict != "ok"] == []


async def test_every_command_is_asked_and_a_refusal_tells_the_model_why(desk: Desk, spawner: ProcessSpawner) -> None:
    async with on_trial("codex", desk, spawner) as trial:
        await trial.open()

        async def refuse(asked: PermissionAsked) -> None:
            await trial.session.decide(asked.permission, "deny", text="SAY then I will not")

        heard = await trial.run_turn("USE_TOOL bash echo hello\nSAY it was run", refuse)
        assert only(heard, PermissionAsked).title == "echo hello"
        assert not only(heard, CallFinished).ok
        assert said(heard) == "then I will not"
        need_turn_end(heard, "done")


async def test_a_changed_file_is_shown_before_it_is_written(desk: Desk, spawner: ProcessSpawner) -> None:
    async with on_trial("codex", desk, spawner) as trial:
        await trial.open()
        file = trial.directory / "made.txt"

        async def look(asked: PermissionAsked) -> None:
            (change,) = asked.input["changes"]
            assert (change["path"], change["diff"]) == (str(file), "hello\n")
            assert not file.exists()
            await trial.session.decide(asked.permission, "allow")

        heard = await trial.run_turn(SCRIPTS["codex"]["write"], look)
        assert only(heard, CallStarted).tool == only(heard, PermissionAsked).tool == "fileChange"
        assert file.read_text() == "hello\n"


async def test_a_cancelled_permission_ends_the_turn(desk: Desk, spawner: ProcessSpawner) -> None:
    async with on_trial("codex", desk, spawner) as trial:
        await trial.open()

        async def cancel(asked: PermissionAsked) -> None:
            await trial.session.decide(asked.permission, "cancel")

        heard = await trial.run_turn("USE_TOOL bash touch file\nSAY not this", cancel)
        need_turn_end(heard, "cancelled")
        assert not said(heard)
        assert not (trial.directory / "file").exists()


async def test_tools_of_other_servers_are_asked_and_those_of_the_hub_are_not(
    desk_at_hub: Desk, spawner: ProcessSpawner
) -> None:
    other = {"url": f"{desk_at_hub.hub_url}/mcp", "bearer_token_env_var": "GREENROOM_TOKEN", "required": True}
    desk = with_options(desk_at_hub, config={"mcp_servers.other": other})
    async with on_trial("codex", desk, spawner) as trial:
        await trial.open()

        async def cancel(asked: PermissionAsked) -> None:
            await trial.session.decide(asked.permission, "cancel")

        heard = await trial.run_turn(f"FORCE_TOOL mcp__other::thread_create {CREATE}")
        asked = only(heard, PermissionAsked)
        assert (asked.tool, asked.input) == ("mcp__other__thread_create", json.loads(CREATE))
        assert asked.call == only(heard, CallStarted).call
        assert only(heard, CallFinished).ok
        need_turn_end(
            await trial.run_turn(f"FORCE_TOOL mcp__other::thread_create {CREATE}\nSLOW 99", cancel), "cancelled"
        )

        heard = await trial.run_turn(f"FORCE_TOOL mcp__greenroom::thread_create {CREATE}")
        assert only(heard, CallFinished).ok
        assert not [one for one in heard if isinstance(one, PermissionAsked)]


async def test_the_agents_questions_are_answered_one_by_one(desk: Desk, spawner: ProcessSpawner) -> None:
    async with on_trial("codex", with_options(desk, **OPTIONS["codex"]), spawner) as trial:
        await trial.open()
        await trial.session.prompt(SCRIPTS["codex"]["question"])
        first = await hear_next(trial, QuestionAsked)
        second = await hear_next(trial, QuestionAsked)
        await trial.session.decide(second.permission, "allow", text="mine")
        await trial.session.decide(first.permission, "allow", text="A")
        told = said(await trial.finish_turn())
        assert '"one":{"answers":["A"]}' in told
        assert '"two":{"answers":["mine"]}' in told


async def test_helpers_ask_and_count_with_the_agent_and_stop_with_it(desk: Desk, spawner: ProcessSpawner) -> None:
    async with on_trial("codex", desk, spawner) as trial:
        await trial.open()
        heard = await trial.run_turn(SCRIPTS["codex"]["helper"])
        assert only(heard, PermissionAsked).title == "touch helped"
        await asyncio.to_thread(wait_until, (trial.directory / "helped").exists)  # a helper may end after its agent
        assert last(heard, Usage).input_tokens >= 4000

        async def cancel(asked: PermissionAsked) -> None:
            await trial.session.cancel()

        heard = await trial.run_turn(SCRIPTS["codex"]["helper"].replace("helped", "stopped"), cancel)
        need_turn_end(heard, "cancelled")
        assert only(heard, PermissionWithdrawn).permission == only(heard, PermissionAsked).permission
        assert not (trial.directory / "stopped").exists()


async def test_a_turn_is_cancelled_before_it_has_begun(desk: Desk, spawner: ProcessSpawner) -> None:
    async with on_trial("codex", desk, spawner) as trial:
        await trial.open()
        await trial.session.prompt("SLOW 100 0.2")
        await trial.session.cancel()
        assert not await trial.session.steer("too late")
        need_turn_end(await trial.finish_turn(), "cancelled")
        assert said(await trial.run_turn("SAY next")) == "next"


async def test_what_is_said_meanwhile_belongs_to_the_turn(desk: Desk, spawner: ProcessSpawner) -> None:
    async with on_trial("codex", desk, spawner) as trial:
        await trial.open()
        assert not await trial.session.steer("nobody works")
        await trial.session.prompt("SLOW 100 0.1")
        await trial.wait_until_said()
        assert await trial.session.steer("SAY short")
        heard = await trial.finish_turn()
        assert said(heard).endswith("short")
        need_turn_end(heard, "done")


async def test_what_was_taken_and_not_answered_is_said_again(tmp_path: Path, spawner: ProcessSpawner) -> None:
    script = tmp_path / "codex.py"
    script.write_text(FORGETFUL)
    desk = Desk(home=tmp_path / "home", hub_url="", token="", command=[sys.executable, str(script)])
    async with on_trial("codex", desk, spawner) as trial:
        await trial.open()
        for words in ("one", "two", "three", "four"):
            assert said(await trial.run_turn(words)) == words


async def test_it_has_its_instructions_and_its_model(desk: Desk, spawner: ProcessSpawner) -> None:
    async with on_trial("codex", msgspec.structs.replace(desk, instructions="Wear a green hat."), spawner) as trial:
        await trial.open()
        heard = await trial.run_turn("SYSTEM Wear a [a-z]+ hat")
        assert "Wear a green hat" in said(heard)
        assert last(heard, Usage) == Usage(1000, 50, None, "fake-model")


async def test_a_resumed_session_tells_what_the_turn_used(desk: Desk, spawner: ProcessSpawner) -> None:
    async with on_trial("codex", desk, spawner) as trial:
        opened = await trial.open()
        await trial.run_turn("SAY one")
        await trial.run_turn("SAY two")
        await trial.close()
        assert (await trial.open(resume=opened.session)).session == opened.session
        heard = await trial.run_turn("RECALL")
        assert "3 user messages" in said(heard)
        assert last(heard, Usage) == Usage(1000, 50, None, "fake-model")


async def test_what_cannot_begin_says_why(desk_at_hub: Desk, spawner: ProcessSpawner, tmp_path: Path) -> None:
    desk = msgspec.structs.replace(desk_at_hub, hub_url="", token="")
    with pytest.raises(ValueError, match="Codex says: no rollout found"):
        await load_driver("codex").open(make_opening(desk, "00000000-0000-4000-8000-000000000000"), spawner)
    with pytest.raises(ValueError, match="required MCP servers failed to initialize: greenroom"):
        await load_driver("codex").open(msgspec.structs.replace(desk_at_hub, token="gr_wrong").opening(), spawner)
    with pytest.raises(ValueError, match="options: Object contains unknown field"):
        await load_driver("codex").open(make_opening(with_options(desk, gate="all")), spawner)
    far = msgspec.structs.replace(with_options(desk, attach=True).opening(), scratch=tmp_path / ("x" * 99))
    with pytest.raises(ValueError, match="too long for a socket"):
        plan_launch(far, None)
    broken = msgspec.structs.replace(with_options(desk, attach=True), command=["/bin/false"])
    with pytest.raises(ValueError, match="Codex ended before it was ready"):
        await load_driver("codex").open(make_opening(broken), spawner)


async def test_an_account_that_is_used_up_is_a_fact_with_its_time(desk: Desk, spawner: ProcessSpawner) -> None:
    async with on_trial("codex", desk, spawner) as trial:
        await trial.open()
        before = time.time() * 1000
        end = (await trial.run_turn("QUOTA 3600"))[-1]
        assert isinstance(end, TurnEnded) and end.reason == "quota" and "usage limit" in str(end.error), end
        assert end.resets_at is not None and before < end.resets_at - 3_500_000 < before + 300_000
        assert said(await trial.run_turn("SAY back again")) == "back again"


async def test_a_model_that_fails_is_a_fact(desk: Desk, spawner: ProcessSpawner) -> None:
    async with on_trial("codex", desk, spawner) as trial:
        await trial.open()
        heard = await trial.run_turn("ERROR 400")
        need_turn_end(heard, "failed")
        assert "fake error" in str(heard[-1].error)  # type: ignore[union-attr]


async def test_a_session_that_is_gone_takes_words_without_an_error(desk: Desk, spawner: ProcessSpawner) -> None:
    async with on_trial("codex", desk, spawner) as trial:
        await trial.open()
        await trial.session.prompt("SLOW 100 0.2")
        await hear_next(trial, Said)
        os.kill(trial.witness.last_pid, signal.SIGKILL)
        assert (await trial.wait_until_died()).code == -9
        assert not await trial.session.steer("too late")
        await trial.session.cancel()
        await trial.session.prompt("nobody hears this")


def test_the_credential_is_in_the_environment_only(tmp_path: Path) -> None:
    desk = Desk(home=tmp_path, hub_url="http://127.0.0.1:1", token="gr_secret", command=["codex"])
    launch = plan_launch(desk.opening(), "gr_secret")
    assert launch.env["GREENROOM_TOKEN"] == "gr_secret"
    assert "gr_secret" not in str((launch.command, launch.params))
    assert launch.params["config"]["mcp_servers.greenroom"]["bearer_token_env_var"] == "GREENROOM_TOKEN"
