"""The scripted agent does what its script says, remembers it, and costs next to nothing."""

import asyncio
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import msgspec
import psutil
import pytest

from greenroom.node.processes import ProcessSpawner
from greenroom.runtimes.agents.rehearsal import MANIFEST
from greenroom.runtimes.contract import (
    CallFinished,
    CallStarted,
    Died,
    Heard,
    PermissionAsked,
    QuestionAsked,
    RuntimeSession,
    Said,
    TaskSession,
    Thought,
    TurnEnded,
    Usage,
)
from greenroom.runtimes.driver_list import load_driver
from greenroom.runtimes.drivers.acp.driver import AcpDriver
from greenroom.runtimes.prompt_text import DATA
from greenroom.testing.hub_process import HubProcess, wait_until
from greenroom.testing.timeouts import WAIT_S
from tests.runtimes.acp_rig import Desk, make_token, rehearsal

pytestmark = pytest.mark.anyio


@pytest.fixture
def desk(tmp_path: Path, shared_hub: HubProcess) -> Desk:
    return rehearsal(tmp_path / "home", shared_hub)


class Conversation:
    """One session with the scripted agent; permissions are allowed, questions answered with `answer`."""

    def __init__(self, session: RuntimeSession) -> None:
        self.session = session
        self.answer = "green"
        self._listening = session.listen()

    async def hear(self) -> Heard:
        async with asyncio.timeout(WAIT_S):
            return await anext(self._listening)

    async def play(self, script: str) -> list[Heard]:
        """What is heard of one turn."""
        await self.session.prompt(script)
        return await self.rest()

    async def rest(self) -> list[Heard]:
        found = [await self.hear()]
        while not isinstance(found[-1], TurnEnded | Died):
            if isinstance(found[-1], PermissionAsked):
                await self.session.decide(found[-1].permission, "allow")
            elif isinstance(found[-1], QuestionAsked):
                await self.session.decide(found[-1].permission, "allow", text=self.answer)
            found.append(await self.hear())
        return found


async def begin(desk: Desk, spawner: ProcessSpawner, resume: str | None = None) -> tuple[Conversation, str]:
    conversation = Conversation(await load_driver("rehearsal").open(desk.opening(resume), spawner))
    opened = await conversation.hear()
    return conversation, getattr(opened, "session", "")


async def run(desk: Desk, spawner: ProcessSpawner, script: str) -> list[Heard]:
    """One turn in a session of its own."""
    conversation, _ = await begin(desk, spawner)
    try:
        return await conversation.play(script)
    finally:
        await conversation.session.close()


def said(heard: list[Heard]) -> str:
    return "".join(one.text for one in heard if isinstance(one, Said))


async def test_words_thoughts_output_and_usage_are_told(desk: Desk, spawner: ProcessSpawner) -> None:
    desk = msgspec.structs.replace(desk, model="hamlet")
    script = 'THINK well\nSAY one\\ntwo\nHello, who is there?\nOUTPUT {"a": [1]}\nUSAGE 10 2\nUSAGE 5 1'
    assert await run(desk, spawner, script) == [
        Thought("well"),
        Said("one\ntwo"),
        Said("\nHello, who is there?"),
        Usage(15, 3, None, "hamlet", is_last=True),
        TurnEnded(reason="done", output={"a": [1]}),
    ]


@pytest.mark.parametrize(
    ("prompt", "begins", "offers"),
    [
        (
            "Please fix the tests.\nThen tell me.",
            "Hello! I am the rehearsal agent.",
            "`SHELL mkdir demo` — I ask for permission",
        ),
        ("请修复测试", "你好！我是彩排智能体", "`SHELL mkdir demo` — 先请求许可"),
    ],
)
async def test_plain_words_are_answered_with_what_it_can_do(
    desk: Desk, spawner: ProcessSpawner, prompt: str, begins: str, offers: str
) -> None:
    heard = await run(desk, spawner, prompt)
    words = said(heard)
    assert words.startswith(begins) and offers in words and "`SPAWN`" in words
    assert prompt.splitlines()[0] not in words
    assert heard[-1] == TurnEnded(reason="done")


async def test_a_command_runs_where_the_agent_works(desk: Desk, spawner: ProcessSpawner) -> None:
    heard = await run(desk, spawner, "SHELL pwd\nSAY in {{output}}\nSHELL echo no >&2; exit 3")
    assert said(heard) == f"in {desk.directory}"
    finished = [one for one in heard if isinstance(one, CallFinished)]
    assert [one.ok for one in finished] == [True, False]
    assert finished[1].output == "no\n\nexit code 3"


async def test_a_file_is_written_when_it_is_allowed(desk: Desk, spawner: ProcessSpawner) -> None:
    heard = await run(desk, spawner, "WRITE notes/a.txt one\\ntwo")
    asked = next(one for one in heard if isinstance(one, PermissionAsked))
    assert asked.input == {"path": str(desk.directory / "notes/a.txt"), "content": "one\ntwo"}
    assert (desk.directory / "notes/a.txt").read_text() == "one\ntwo"


async def test_a_question_waits_for_its_answer(desk: Desk, spawner: ProcessSpawner, shared_hub: HubProcess) -> None:
    playing = asyncio.create_task(run(desk, spawner, "ASK Which colour?\nSAY so {{answer}}"))
    assert await asyncio.to_thread(answer_as_a_person, shared_hub, "green") == "Which colour?"
    assert said(await playing) == "so green"


def answer_as_a_person(hub: HubProcess, text: str) -> str:
    """Answer the one question that waits, once it does; what it was."""
    with httpx.Client(base_url=hub.url, headers={"Authorization": f"Bearer {hub.token}"}) as api:
        wait_until(lambda: api.get("/api/asks").json()["asks"])
        (ask,) = api.get("/api/asks").json()["asks"]
        api.post(f"/api/asks/{ask['id']}/answer", json={"verdict": "answer", "text": text}).raise_for_status()
        return str(ask["title"])


async def test_it_posts_in_threads_by_id_and_by_topic(
    desk: Desk, spawner: ProcessSpawner, shared_hub: HubProcess
) -> None:
    script = 'TOOL thread_create {"topic": "curtain"}\nPOST {{thread_id}} by id\nPOST curtain by\\ntopic'
    heard = await run(desk, spawner, script)
    started = [one for one in heard if isinstance(one, CallStarted)]
    assert [one.tool for one in started] == [f"mcp__greenroom__{tool}" for tool in ("thread_create", *["msg_post"] * 2)]
    assert all(one.ok for one in heard if isinstance(one, CallFinished))
    assert read(shared_hub, "curtain") == ["by id", "by\ntopic"]


async def test_agents_that_post_at_once_all_have_their_say(desk: Desk, shared_hub: HubProcess) -> None:
    desks = [
        msgspec.structs.replace(desk, home=desk.home / str(number), token=make_token(shared_hub, f"r{number}"))
        for number in range(3)
    ]
    scripts = [f"POST crowd {number} first\nPOST crowd {number} second" for number in range(3)]
    turns = await asyncio.gather(
        *(run(one, ProcessSpawner(), script) for one, script in zip(desks, scripts, strict=True))
    )
    assert [heard[-1] for heard in turns] == [TurnEnded(reason="done")] * 3
    assert all(one.ok for heard in turns for one in heard if isinstance(one, CallFinished))
    assert sorted(read(shared_hub, "crowd")) == [f"{n} {which}" for n in range(3) for which in ("first", "second")]


def read(hub: HubProcess, topic: str) -> list[str]:
    """What people read in a thread."""
    with httpx.Client(base_url=hub.url, headers={"Authorization": f"Bearer {hub.token}"}) as api:
        threads = api.get("/api/threads").raise_for_status().json()
        found = threads["threads"] if isinstance(threads, dict) else threads
        thread = next(one for one in found if one["topic"] == topic)
        messages = api.get(f"/api/threads/{thread.get('thread_id') or thread['id']}/messages").raise_for_status().json()
    return [message["content"] for message in messages if message["seq"] > 0]


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("TOOL no_such_tool {}", "no_such_tool failed: Unknown tool: no_such_tool"),
        ('TOOL thread_get {"thread_id": "thr_nowhere"}', "thread_get failed: There is no thread"),
    ],
)
async def test_a_tool_that_refuses_is_told_and_the_script_goes_on(
    script: str, words: str, desk: Desk, spawner: ProcessSpawner
) -> None:
    heard = await run(desk, spawner, f"{script}\nSAY next")
    assert not next(one for one in heard if isinstance(one, CallFinished)).ok
    assert said(heard).startswith(words)
    assert said(heard).endswith("next")


async def test_without_a_hub_a_tool_fails_and_nobody_hangs(desk: Desk, spawner: ProcessSpawner) -> None:
    away = msgspec.structs.replace(desk, hub_url="http://127.0.0.1:9")
    heard = await run(away, spawner, "TOOL bus_get_config {}")
    assert "the hub cannot be reached" in said(heard)
    assert heard[-1] == TurnEnded(reason="done")


@pytest.mark.parametrize(
    ("script", "error"),
    [
        ("SAY a\nFAIL out of ideas\nSAY b", "out of ideas"),
        ("OUTPUT {oops", "this is not JSON: {oops"),
        ("SLEEP long", "this is not a number: long"),
        ('SHELL rm -r "$PWD"\nSHELL pwd', "[Errno 2] No such file or directory"),
    ],
)
async def test_a_failure_ends_the_turn_with_words(script: str, error: str, desk: Desk, spawner: ProcessSpawner) -> None:
    heard = await run(desk, spawner, script)
    assert isinstance(heard[-1], TurnEnded)
    assert heard[-1].reason == "failed"
    assert str(heard[-1].error).startswith(error)


async def test_a_crash_is_heard_with_last_words(desk: Desk, spawner: ProcessSpawner) -> None:
    heard = await run(desk, spawner, "SAY goodbye\nCRASH")
    assert heard == [Said("goodbye"), Died(70, "rehearsal: crashed as the script says \n")]


@pytest.mark.parametrize(
    "script",
    ["SAY a\nSLEEP 60", "SAY a\nSHELL sleep 60", 'SAY a\nTOOL msg_wait {"thread_id": "x", "timeout_ms": 60000}'],
)
async def test_a_cancel_ends_what_takes_long(script: str, desk: Desk, spawner: ProcessSpawner) -> None:
    conversation, _ = await begin(desk, spawner)
    thread = await conversation.play('TOOL thread_create {"topic": "silence"}')
    thread_id = msgspec.json.decode(next(one.output for one in thread if isinstance(one, CallFinished)))["thread_id"]
    await conversation.session.prompt(script.replace('"x"', f'"{thread_id}"'))
    while not isinstance(await conversation.hear(), Said):
        pass
    await conversation.session.cancel()
    assert (await conversation.rest())[-1] == TurnEnded(reason="cancelled")
    assert said(await conversation.play("SAY again")) == "again"
    await conversation.session.close()


async def test_a_hung_agent_does_not_answer_a_cancel_and_is_ended_by_closing(
    desk: Desk, spawner: ProcessSpawner
) -> None:
    conversation, _ = await begin(desk, spawner)
    await conversation.session.prompt("SAY a\nHANG")
    await conversation.hear()
    await conversation.session.cancel()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await conversation.rest()
    await conversation.session.close()


@pytest.mark.parametrize("way", ["told", "load"])
async def test_another_process_takes_the_session_up(way: str, desk: Desk, spawner: ProcessSpawner) -> None:
    conversation, session = await begin(desk, spawner)
    await conversation.play("SAY the first words")
    await conversation.session.close()
    driver = AcpDriver(msgspec.structs.replace(MANIFEST, resume=way), DATA)
    again = Conversation(await driver.open(desk.opening(session), spawner))
    await again.hear()
    assert said(await again.play("RECALL")) == "prompts: 2, first: SAY the first words"
    await again.session.close()


async def resume(desk: Desk, spawner: ProcessSpawner, session: str, task: str) -> list[Heard]:
    """What is heard of a task that another process finishes."""
    again, _ = await begin(desk, spawner, session)
    assert isinstance(again.session, TaskSession)
    again.session.set_task(task, resumes=True)
    try:
        return await again.play("# Finish it.\n\nSAY it is new to me")
    finally:
        await again.session.close()


async def cut_off(desk: Desk, spawner: ProcessSpawner, task: str, script: str, until: Callable[[Heard], bool]) -> str:
    """Kill the agent's process at its script, as soon as this is heard; the session."""
    conversation, session = await begin(desk, spawner)
    assert isinstance(conversation.session, TaskSession)
    conversation.session.set_task(task, resumes=False)
    await conversation.session.prompt(script)
    while not until(heard := await conversation.hear()):
        if isinstance(heard, PermissionAsked):
            await conversation.session.decide(heard.permission, "allow")
    await conversation.session.close()
    return session


async def test_another_process_goes_on_with_the_line_that_was_under_way(desk: Desk, spawner: ProcessSpawner) -> None:
    script = """SAY first
        SHELL echo once >> effects; echo seen
        SAY {{output}}
        USAGE 10 2 0.5
        THINK now
        SLEEP 60
        SAY last"""
    session = await cut_off(desk, spawner, "t", script, lambda heard: isinstance(heard, Thought))
    quick = script.replace("SLEEP 60", "SLEEP 0")
    memory = next(desk.home.rglob(f"{session}.jsonl"))
    memory.write_text(memory.read_text().replace("SLEEP 60", "SLEEP 0"))
    whole = await run(desk, spawner, quick)
    heard = await resume(desk, spawner, session, "t")
    assert said(heard) == "\nseen\nlast"
    assert said(whole).endswith(said(heard))
    assert [one for one in heard if isinstance(one, Usage)] == [Usage(10, 2, 0.5, "script", is_last=True)]
    assert (desk.directory / "effects").read_text() == "once\nonce\n"


async def test_a_command_that_has_ended_is_not_run_again_though_its_end_was_not_heard(
    desk: Desk, spawner: ProcessSpawner
) -> None:
    script = (
        "SHELL echo x >> effects; echo out; kill -9 $(ps -o ppid= -p $(ps -o ppid= -p $$)); exit 3\nSAY so: {{output}}"
    )
    session = await cut_off(desk, spawner, "t", script, lambda heard: isinstance(heard, Died))
    heard = await resume(desk, spawner, session, "t")
    assert said(heard) == "so: out"
    assert [one.output for one in heard if isinstance(one, CallFinished)] == ["out\n\nexit code 3"]
    assert (desk.directory / "effects").read_text() == "x\n"


async def test_a_task_that_was_finished_is_answered_again_and_not_done_again(
    desk: Desk, spawner: ProcessSpawner
) -> None:
    script = 'SHELL echo x >> effects\nSAY done\nOUTPUT {"a": 1}'
    session = await cut_off(desk, spawner, "t", script, lambda heard: isinstance(heard, TurnEnded))
    failed = "SHELL echo y >> effects\nFAIL out of ideas"
    other = await cut_off(desk, spawner, "t", failed, lambda heard: isinstance(heard, TurnEnded))
    assert await resume(desk, spawner, session, "t") == [Said("done"), TurnEnded(reason="done", output={"a": 1})]
    assert await resume(desk, spawner, other, "t") == [TurnEnded(reason="failed", error="out of ideas")]
    assert (desk.directory / "effects").read_text() == "x\ny\n"


async def test_a_task_that_never_reached_it_is_done_from_its_beginning(desk: Desk, spawner: ProcessSpawner) -> None:
    session = await cut_off(desk, spawner, "earlier", "SAY before", lambda heard: isinstance(heard, TurnEnded))
    assert said(await resume(desk, spawner, session, "later")) == "it is new to me"


async def test_a_session_that_never_was_is_refused(desk: Desk, spawner: ProcessSpawner) -> None:
    for session in ("0123", "../../etc/passwd"):
        with pytest.raises(ValueError, match="rehearsal says: There is no session"):
            await begin(desk, spawner, session)


def test_it_takes_little_memory() -> None:
    hello = b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}}\n'
    with subprocess.Popen(MANIFEST.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(hello)
        process.stdin.flush()
        assert b'"protocolVersion": 1' in process.stdout.readline()
        memory = psutil.Process(process.pid).memory_info().rss
        process.stdin.close()
    assert memory < 40 * 1024 * 1024


def test_it_imports_nothing_heavy_and_nothing_else_of_greenroom() -> None:
    code = "import sys, greenroom.rehearsal.agent; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"asyncio", "http.client", "ssl", "pydantic", "msgspec", "email"} & set(loaded)
    assert {name.split(".")[1] for name in loaded if name.startswith("greenroom.")} == {"rehearsal"}
