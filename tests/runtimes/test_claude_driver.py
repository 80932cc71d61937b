"""The real Claude Code on the scripted model, driven over its stream of JSON."""

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
from greenroom.runtimes.agents.claude.launch import plan_launch
from greenroom.runtimes.attachable import Attachable
from greenroom.runtimes.conformance_check import check_driver
from greenroom.runtimes.conformance_trial import need_turn_end
from greenroom.runtimes.contract import (
    CallFinished,
    Died,
    PermissionAsked,
    PermissionWithdrawn,
    QuestionAsked,
    Said,
    TurnEnded,
    Usage,
)
from greenroom.runtimes.driver_list import load_driver
from greenroom.runtimes.scripted_model import choose_script
from greenroom.testing.fake_llm import FakeModel
from greenroom.testing.hub_process import HubProcess, wait_until
from tests.runtimes.acp_rig import Desk
from tests.runtimes.native_rig import hear_next, last, make_desk, make_opening, on_trial, only, said

pytestmark = pytest.mark.anyio
OLD = """
import json, sys

def tell(**message):
    print(json.dumps(message), flush=True)

for line in sys.stdin:
    asked = json.loads(line)
    if asked["type"] == "control_request":
        error = {"subtype": "error", "error": "unsupported"}
        fine = {"subtype": "success", "response": {}}
        kind = fine if asked["request"]["subtype"] == "initialize" else error
        tell(type="control_response", response={"request_id": asked["request_id"], **kind})
    else:
        print("not a message", flush=True)
        print("[" * 50_000, flush=True)
        tell(type="control_request", request_id="r1", request={"subtype": "something_new"})
        refused = json.loads(sys.stdin.readline())["response"]
        tell(type="assistant", message={"id": "m", "content": [{"type": "text", "text": refused["subtype"]}]})
        used = {"opus": {"inputTokens": 9, "outputTokens": 9}}
        tell(type="result", subtype="success", is_error=False, total_cost_usd=1.0, modelUsage=used)
"""
"""A Claude Code that tells less than today's."""
QUESTIONS = [
    {
        "question": text,
        "header": text,
        "multiSelect": False,
        "options": [{"label": one, "description": ""} for one in "AB"],
    }
    for text in ("Which?", "Whose?")
]


@pytest.fixture(scope="module")
def bodies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where everything is that the model was asked."""
    return tmp_path_factory.mktemp("bodies")


@pytest.fixture(scope="module")
def model(bodies: Path) -> Iterator[FakeModel]:
    with FakeModel(bodies=bodies) as model:
        yield model


@pytest.fixture
def desk(tmp_path: Path, model: FakeModel) -> Desk:
    return make_desk("claude", tmp_path / "home", model.url)


@pytest.fixture
def desk_at_hub(tmp_path: Path, shared_hub: HubProcess, model: FakeModel) -> Desk:
    return make_desk("claude", tmp_path / "home", model.url, shared_hub)


def with_options(desk: Desk, **options: object) -> Desk:
    return msgspec.structs.replace(desk, options=options)


@pytest.mark.anywhere
@pytest.mark.parametrize("gate", ["all", "runtime"])
async def test_it_keeps_the_contract(gate: str, desk_at_hub: Desk, spawner: ProcessSpawner) -> None:
    desk = with_options(desk_at_hub, gate=gate)
    script = msgspec.structs.replace(
        choose_script("claude"), hub_tool='USE_TOOL bus_connect {"thread_name": "stage"}\nSAY TEXT'
    )
    findings = await check_driver(load_driver("claude"), desk.opening, spawner, script)
    assert [finding for finding in findings if finding.verdict != "ok"] == []


async def test_every_tool_is_asked_when_the_profile_says_so(desk: Desk, spawner: ProcessSpawner) -> None:
    async with on_trial("claude", with_options(desk, gate="all"), spawner) as trial:
        await trial.open()
        file = trial.directory / "note"
        file.write_text("in the note")
        heard = await trial.run_turn(f"USE_TOOL Read {json.dumps({'file_path': str(file)})}")
        assert only(heard, PermissionAsked).tool == "Read"
        assert "in the note" in said(heard)


async def test_a_file_that_is_mentioned_is_not_read_behind_the_gate(
    desk: Desk, spawner: ProcessSpawner, bodies: Path
) -> None:
    async with on_trial("claude", with_options(desk, gate="all"), spawner) as trial:
        await trial.open()
        (trial.directory / "note").write_text("what nobody may see")
        need_turn_end(await trial.run_turn("SAY hello\nplease look at @note"), "done")
    assert not [path for path in bodies.iterdir() if "what nobody may see" in path.read_text()]


async def test_changed_arguments_are_what_runs(desk: Desk, spawner: ProcessSpawner) -> None:
    async with on_trial("claude", desk, spawner) as trial:
        await trial.open()

        async def change(asked: PermissionAsked) -> None:
            changed = {**asked.input, "command": "touch changed"}
            await trial.session.decide(asked.permission, "allow", arguments=changed)

        heard = await trial.run_turn("USE_TOOL bash touch original", change)
        assert only(heard, PermissionAsked).edits
        assert (trial.directory / "changed").exists()
        assert not (trial.directory / "original").exists()


async def test_a_refusal_tells_the_model_why_and_a_cancelled_permission_ends_the_turn(
    desk: Desk, spawner: ProcessSpawner
) -> None:
    async with on_trial("claude", desk, spawner) as trial:
        await trial.open()

        async def refuse(asked: PermissionAsked) -> None:
            await trial.session.decide(asked.permission, "deny", text="not before noon")

        async def cancel(asked: PermissionAsked) -> None:
            await trial.session.decide(asked.permission, "cancel")

        heard = await trial.run_turn("USE_TOOL bash touch file", refuse)
        assert "not before noon" in said(heard)
        need_turn_end(heard, "done")
        need_turn_end(await trial.run_turn("USE_TOOL bash touch file\nSAY not this", cancel), "cancelled")
        assert not (trial.directory / "file").exists()


async def test_the_agents_questions_are_answered_one_by_one(desk: Desk, spawner: ProcessSpawner) -> None:
    async with on_trial("claude", desk, spawner) as trial:
        await trial.open()
        await trial.session.prompt(f"USE_TOOL AskUserQuestion {json.dumps({'questions': QUESTIONS})}")
        first = await hear_next(trial, QuestionAsked)
        second = await hear_next(trial, QuestionAsked)
        await trial.session.decide(second.permission, "allow", text="mine")
        await trial.session.decide(first.permission, "allow", text="A")
        output = only(await trial.finish_turn(), CallFinished).output
        assert '"Which?"="A"' in output
        assert '"Whose?"="mine"' in output


async def test_a_question_that_is_refused_takes_the_others_with_it(desk: Desk, spawner: ProcessSpawner) -> None:
    async with on_trial("claude", desk, spawner) as trial:
        await trial.open()
        await trial.session.prompt(f"USE_TOOL AskUserQuestion {json.dumps({'questions': QUESTIONS})}")
        first = await hear_next(trial, QuestionAsked)
        second = await hear_next(trial, QuestionAsked)
        await trial.session.decide(first.permission, "deny", text="ask later")
        heard = await trial.finish_turn()
        assert only(heard, PermissionWithdrawn).permission == second.permission
        assert "ask later" in said(heard)


async def test_what_is_said_meanwhile_belongs_to_the_turn(desk: Desk, spawner: ProcessSpawner, bodies: Path) -> None:
    async with on_trial("claude", desk, spawner) as trial:
        await trial.open()
        assert not await trial.session.steer("nobody works")

        async def steer(asked: PermissionAsked) -> None:
            assert await trial.session.steer("do hurry up")
            await trial.session.decide(asked.permission, "allow")

        need_turn_end(await trial.run_turn("USE_TOOL bash touch file\nSAY done", steer), "done")
        assert [path for path in bodies.iterdir() if "do hurry up" in path.read_text()]

        await trial.session.prompt("SLOW 5 0.1")
        await trial.wait_until_said()
        assert await trial.session.steer("SAY after the slow words")
        heard = await trial.finish_turn()
        assert "after the slow words" in said(heard)
        assert last(heard, Usage) == Usage(2000, 100, 0.01, "claude-opus-5-5", is_last=True)
        need_turn_end(await trial.run_turn("SAY next"), "done")


async def test_a_turn_is_cancelled_before_it_has_begun_and_with_all_that_was_said_to_it(
    desk: Desk, spawner: ProcessSpawner
) -> None:
    async with on_trial("claude", desk, spawner) as trial:
        await trial.open()
        await trial.session.prompt("SLOW 100 0.2")
        await trial.session.cancel()
        need_turn_end(await trial.finish_turn(), "cancelled")

        await trial.session.prompt("SLOW 100 0.2")
        await trial.wait_until_said()
        assert await trial.session.steer("SLOW 100 0.2")
        await trial.session.cancel()
        need_turn_end(await trial.finish_turn(), "cancelled")

        # Claude Code shows its model prompts that were never answered as one with the next.
        await trial.session.prompt("SAY next")
        await trial.wait_until_said()
        await trial.session.cancel()
        need_turn_end(await trial.finish_turn(), "cancelled")


async def test_it_has_its_instructions_and_its_model(desk: Desk, spawner: ProcessSpawner) -> None:
    desk = msgspec.structs.replace(desk, instructions="Wear a green hat at work.", model="claude-haiku-4-5")
    async with on_trial("claude", desk, spawner) as trial:
        await trial.open()
        assert not isinstance(trial.session, Attachable)
        heard = await trial.run_turn("SYSTEM Wear a [a-z]+ hat")
        assert "Wear a green hat" in said(heard)
        assert last(heard, Usage).model == "claude-haiku-4-5"


async def test_a_resumed_session_tells_what_the_turn_used(desk: Desk, spawner: ProcessSpawner) -> None:
    async with on_trial("claude", desk, spawner) as trial:
        opened = await trial.open()
        await trial.run_turn("SAY one")
        await trial.run_turn("SAY two")
        await trial.close()
        assert (await trial.open(resume=opened.session)).session == opened.session
        heard = await trial.run_turn("RECALL")
        assert "3 user messages" in said(heard)
        assert last(heard, Usage) == Usage(1000, 50, 0.005, "claude-opus-5-5", is_last=True)


async def test_what_cannot_begin_says_why(desk: Desk, spawner: ProcessSpawner) -> None:
    unknown = make_opening(desk, "00000000-0000-4000-8000-000000000000")
    with pytest.raises(ValueError, match="No conversation found"):
        await load_driver("claude").open(unknown, spawner)
    with pytest.raises(ValueError, match="options: Object contains unknown field"):
        await load_driver("claude").open(make_opening(with_options(desk, gates=1)), spawner)
    missing = msgspec.structs.replace(make_opening(desk), command=[], env={"PATH": "/nowhere"})
    with pytest.raises(ValueError, match="claude is not installed"):
        await load_driver("claude").open(missing, spawner)


async def test_an_older_version_is_driven_with_less(tmp_path: Path, spawner: ProcessSpawner) -> None:
    script = tmp_path / "claude.py"
    script.write_text(OLD)
    desk = Desk(home=tmp_path / "home", hub_url="", token="", command=[sys.executable, str(script)])
    async with on_trial("claude", desk, spawner) as trial:
        await trial.open(resume="earlier")
        await trial.session.prompt("hello")
        assert not await trial.session.steer("it does not tell when it takes this up")
        assert await trial.finish_turn() == [Said("error", "m"), Usage(0, 0, is_last=True), TurnEnded(reason="done")]


async def test_a_model_that_fails_is_a_fact(desk: Desk, spawner: ProcessSpawner) -> None:
    async with on_trial("claude", desk, spawner) as trial:
        await trial.open()
        heard = await trial.run_turn("ERROR 400")
        assert heard[-1] == TurnEnded(reason="failed", error="API Error: 400 fake error")
        assert not said(heard)


async def test_an_account_that_is_used_up_is_a_fact_with_its_time(desk: Desk, spawner: ProcessSpawner) -> None:
    """Limits of this kind are told to who is logged in with a subscription, and not to keys of the API."""
    env = {name: value for name, value in desk.env.items() if name != "ANTHROPIC_API_KEY"}
    desk = msgspec.structs.replace(desk, env={**env, "CLAUDE_CODE_OAUTH_TOKEN": "fake"})
    async with on_trial("claude", desk, spawner) as trial:
        await trial.open()
        before = time.time() * 1000
        end = (await trial.run_turn("QUOTA 3600"))[-1]
        assert isinstance(end, TurnEnded) and end.reason == "quota" and "You've hit your" in str(end.error), end
        assert end.resets_at is not None and before < end.resets_at - 3_500_000 < before + 300_000
        again = (await trial.run_turn("hello"))[-1]
        # Claude Code asks anew with what was not answered, and tells a time only when it is another.
        assert isinstance(again, TurnEnded) and again.reason == "quota" and again.resets_at, again


async def test_an_interrupt_from_outside_ends_turn_and_process(
    desk: Desk, spawner: ProcessSpawner, model: FakeModel
) -> None:
    async with on_trial("claude", desk, spawner) as trial:
        await trial.open()
        await trial.session.prompt("SLOW 100 0.2")
        await hear_next(trial, Said)
        os.kill(trial.witness.last_pid, signal.SIGINT)
        while not isinstance(heard := await trial.read_next(), TurnEnded | Died):
            pass
        if isinstance(heard, TurnEnded):  # it may also go without a word
            need_turn_end([heard], "cancelled")
            heard = await trial.wait_until_died()
            assert not await trial.session.steer("too late")
        assert isinstance(heard, Died), heard
        await trial.session.cancel()
        await trial.session.prompt("nobody hears this")
    wait_until(lambda: any("aborted" in entry for entry in model.log))


async def test_its_last_words_are_told(desk: Desk, spawner: ProcessSpawner, tmp_path: Path) -> None:
    program = tmp_path / "claude"
    program.write_text(f'#!/bin/sh\necho "about to fail" >&2\nexec "{desk.command[0]}" "$@"\n')
    program.chmod(0o755)
    async with on_trial("claude", msgspec.structs.replace(desk, command=[str(program)]), spawner) as trial:
        await trial.open()
        os.kill(trial.witness.last_pid, signal.SIGKILL)
        assert await trial.wait_until_died() == Died(-9, "about to fail\n")


def test_the_credential_is_in_the_environment_only(tmp_path: Path) -> None:
    desk = Desk(home=tmp_path, hub_url="http://127.0.0.1:1", token="gr_secret", command=["claude"], instructions="Hm.")
    launch = plan_launch(desk.opening(), "gr_secret")
    assert launch.env["GREENROOM_TOKEN"] == "gr_secret"
    assert "gr_secret" not in str((launch.command, launch.files))
    assert {path.parent for path in launch.files} == {tmp_path / "scratch"}
    (config,) = [text for path, text in launch.files.items() if path.name == "mcp.json"]
    server = json.loads(config)["mcpServers"]["greenroom"]
    assert server["headers"] == {"Authorization": "Bearer ${GREENROOM_TOKEN}"}
    assert server["alwaysLoad"]


async def test_its_files_are_for_nobody_else(
    desk_at_hub: Desk, spawner: ProcessSpawner, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("s")  # Claude Code goes elsewhere where the path of its socket would be too long
    desk = msgspec.structs.replace(desk_at_hub, home=home, instructions="Hm.")
    async with on_trial("claude", desk, spawner) as trial:
        await trial.open()
        await trial.run_turn("SAY hello")
        scratch = desk.home / "scratch"
        modes = {path.name: path.stat().st_mode & 0o777 for path in scratch.iterdir() if path.name != "token"}
        assert (modes["mcp.json"], modes["instructions.md"], modes["cc-socks"]) == (0o600, 0o600, 0o700)
