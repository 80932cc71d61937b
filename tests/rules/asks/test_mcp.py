"""Agents that ask over MCP: answered once, whatever happens to their connections."""

import asyncio
import base64
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

from greenroom.testing.timeouts import TEST_LIMIT_S, WAIT_S
from tests.journeys.mcp_clients import NEW, OLD, connected
from tests.rules.asks.desk import Desk, picture

pytestmark = pytest.mark.anyio
both_eras = pytest.mark.parametrize("version", [OLD, NEW])
HERE = "/home/you/here"
RETRIES = int(os.environ.get("ASK_RETRIES", "3"))
PATIENCE_S = float(os.environ.get("ASK_PATIENCE_S", "1"))
"""ASK_RETRIES=10 ASK_PATIENCE_S=60 is ten minutes of a client with a time-out of a minute."""


async def asked(desk: Desk, agent_id: str) -> dict[str, Any]:
    """What an agent waits for."""
    async with asyncio.timeout(WAIT_S):
        while not (found := await asyncio.to_thread(desk.waiting, agent_id=agent_id)):
            pass
    return found[0]


def texts(result: Any) -> list[str]:
    return [block.text for block in result.content]


@both_eras
async def test_a_question_is_answered_in_words_and_pictures(desk: Desk, version: str) -> None:
    agent = desk.agent()
    async with connected(desk.hub.url, agent.token, version) as talker:
        call = asyncio.ensure_future(
            talker.client.call_tool("ask_question", {"project_directory": HERE, "question": "# Which one?\nA or B"})
        )
        ask = await asked(desk, agent.id)
        assert (ask["title"], ask["text"]) == ("Which one?", "# Which one?\nA or B")
        assert ask["labels"]["project_directory"] == HERE
        sound = {"type": "audio", "mime": "audio/wav", "data": base64.b64encode(b"wav").decode()}
        paper = {"type": "resource", "mime": "text/plain", "data": base64.b64encode(b"txt").decode(), "name": "a.txt"}
        desk.answer(ask["id"], text="A", contents=[picture(b"png"), sound, paper])
        result: Any = await call
    kinds = [block.type for block in result.content]
    assert kinds == ["text", "image", "audio", "resource"]
    assert result.content[0].text == "A"
    assert base64.b64decode(result.content[1].data) == b"png"
    assert base64.b64decode(result.content[3].resource.blob) == b"txt"


async def test_choices_reach_the_agent_under_their_questions(desk: Desk) -> None:
    agent = desk.agent()
    questions = [{"question": "Colour?", "header": "colour", "options": [{"label": "red"}, {"label": "blue"}]}]
    async with connected(desk.hub.url, agent.token) as talker:
        given = {"project_directory": HERE, "questions": questions}
        call = asyncio.ensure_future(talker.client.call_tool("ask_question", given))
        ask = await asked(desk, agent.id)
        desk.answer(ask["id"], options=[["blue"]])
        assert texts(await call) == ["colour: blue"]


async def test_silence_is_told_as_silence(desk: Desk) -> None:
    agent = desk.agent()
    async with connected(desk.hub.url, agent.token) as talker:
        given = {"project_directory": HERE, "question": "Anybody?", "timeout": 1}
        result = await talker.client.call_tool("ask_question", given)
    assert result.is_error
    assert "not a no" in texts(result)[0]


@pytest.mark.timeout(TEST_LIMIT_S + int(RETRIES * PATIENCE_S * 2))
@both_eras
async def test_an_impatient_client_asks_again_and_gets_the_one_answer(desk: Desk, version: str) -> None:
    """A client with a short time-out of its own retries the same call until a person has answered."""
    agent = desk.agent()
    given = {"project_directory": HERE, "question": f"Still there, {version}?"}
    told: list[float] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append(progress)

    async with connected(desk.hub.url, agent.token, version) as talker:
        ask_again = partial(talker.client.call_tool, "ask_question", given, progress_callback=hear)
        for _ in range(RETRIES):
            with pytest.raises(MCPError):
                await ask_again(read_timeout_seconds=PATIENCE_S)
        assert len(told) >= RETRIES * (int(PATIENCE_S) // 15 - 1)
        last = asyncio.ensure_future(ask_again())
        ask = await asked(desk, agent.id)
        assert len(desk.waiting(agent_id=agent.id, state="all")) == 1
        desk.answer(ask["id"], text="yes")
        assert texts(await last) == ["yes"]
        assert texts(await talker.client.call_tool("ask_question", given)) == ["yes"]
    assert len(desk.waiting(agent_id=agent.id, state="all")) == 1


async def test_an_answer_that_came_while_nobody_waited_is_kept_for_the_next_call(desk: Desk) -> None:
    agent = desk.agent()
    given = {"project_directory": HERE, "question": "Are you back?", "key": "q1"}
    async with connected(desk.hub.url, agent.token) as talker:
        call = asyncio.ensure_future(talker.client.call_tool("ask_question", given, read_timeout_seconds=3))
        ask = await asked(desk, agent.id)
        with pytest.raises(MCPError):
            await call
        await talker.client.list_tools()  # by then what the hub says to the call that was given up has come
    desk.answer(ask["id"], text="I am")
    async with connected(desk.hub.url, agent.token) as talker:
        assert texts(await talker.client.call_tool("ask_question", given)) == ["I am"]


async def test_a_key_beside_the_arguments_counts_too(desk: Desk) -> None:
    agent = desk.agent()
    meta: Any = {"greenroom/key": "the same"}
    async with connected(desk.hub.url, agent.token) as talker:
        calls = []
        for words in ("One way?", "Another way?"):
            given = {"project_directory": HERE, "question": words}
            calls.append(asyncio.ensure_future(talker.client.call_tool("ask_question", given, meta=meta)))
            ask = await asked(desk, agent.id)
        assert ask["title"] == "One way?"
        desk.answer(ask["id"], text="this one")
        assert [texts(result) for result in await asyncio.gather(*calls)] == [["this one"]] * 2


async def test_a_report_is_confirmed_or_answered_with_more_work(desk: Desk) -> None:
    agent = desk.agent()
    async with connected(desk.hub.url, agent.token) as talker:
        for tool, answer, said in (("task_finish", "", "Confirmed"), ("work_report", "now the tests", "now the tests")):
            given = {"project_directory": HERE, "summary": f"Done with {tool}"}
            call = asyncio.ensure_future(talker.client.call_tool(tool, given))
            ask = await asked(desk, agent.id)
            assert (ask["kind"], ask["labels"]["family"]) == ("report", tool)
            desk.answer(ask["id"], text=answer)
            assert said in texts(await call)[0]


async def test_leave_is_asked_in_the_words_of_a_permission_prompt_tool(desk: Desk) -> None:
    agent = desk.agent()
    async with connected(desk.hub.url, agent.token) as talker:
        given = {"tool_name": "Bash", "input": {"command": "rm -r build"}, "tool_use_id": "toolu_1"}
        call = asyncio.ensure_future(talker.call("permission_request", **given))
        ask = await asked(desk, agent.id)
        assert (ask["kind"], ask["subject"]["arguments"]) == ("permission", {"command": "rm -r build"})
        changed = {"command": "rm -r build/tmp"}
        desk.answer(ask["id"], verdict="approve", arguments=changed, digest=ask["digest"])
        assert await call == {"behavior": "allow", "updatedInput": changed}
        again = asyncio.ensure_future(talker.call("permission_request", **{**given, "tool_use_id": "toolu_2"}))
        other = await asked(desk, agent.id)
        assert other["id"] != ask["id"]
        desk.answer(other["id"], verdict="deny", text="keep it")
        assert await again == {"behavior": "deny", "message": "keep it"}


async def test_an_agent_over_stdio_asks_with_the_settings_of_agent_assistant(desk: Desk, tmp_path: Path) -> None:
    made = desk.operator.post("/api/credentials", json={"kind": "room", "name": "shop", "room": "shop"}).json()
    port = desk.hub.url.rpartition(":")[2]
    (tmp_path / "agentassistant-mcp.toml").write_text(
        f'agentassistant_server_host = "127.0.0.1"\nagentassistant_server_port = {port}\n'
        f'agentassistant_server_token = "{made["token"]}"\n'
    )
    person = desk.room("shop")
    stranger = desk.room("attic")
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "greenroom", "mcp"], cwd=tmp_path, env={**os.environ}
    )
    async with Client(server, cache=None) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert tools == {"ask_question", "task_finish", "work_report"}
        given = {"project_directory": HERE, "question": "Open?", "agent_name": "Clerk"}
        call = asyncio.ensure_future(client.call_tool("ask_question", given))
        async with asyncio.timeout(WAIT_S):
            while not (waiting := await asyncio.to_thread(desk.waiting, person)):
                pass
        assert not desk.waiting(stranger)
        assert desk.answer(waiting[0]["id"], stranger, text="no").status_code == 404
        desk.answer(waiting[0]["id"], person, text="till eight")
        assert texts(await call) == ["till eight"]


def test_a_file_in_a_strangers_project_sends_nothing_to_another_machine(tmp_path: Path) -> None:
    (tmp_path / "agentassistant-mcp.toml").write_text('agentassistant_server_host = "evil.example"\n')
    command = [sys.executable, "-m", "greenroom", "mcp", "--data", str(tmp_path / "none")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=WAIT_S, check=False)
    assert "names another machine" in done.stderr
    assert "evil" not in done.stdout
