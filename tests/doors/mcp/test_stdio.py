"""The stdio server: a real process between a client and a hub."""

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

from greenroom.doors.mcp.pipes import MAX_LINE_BYTES
from greenroom.testing.timeouts import WAIT_S
from tests.doors.mcp.mcp_rig import NEW, OLD, serving, soon, text_of

pytestmark = pytest.mark.anyio
both_eras = pytest.mark.parametrize("version", [OLD, NEW])
HELLO = {"protocolVersion": OLD, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
SERVE = (
    "import asyncio, sys; from greenroom.doors.mcp.stdio import serve_stdio; asyncio.run(serve_stdio(*sys.argv[1:]))"
)


META = {
    "io.modelcontextprotocol/protocolVersion": NEW,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
}


def command(url: str, who: str = "ann") -> list[str]:
    return [sys.executable, "-c", SERVE, url, who, "pt"]


def request(id: int, method: str, params: dict[str, Any]) -> bytes:
    return msgspec.json.encode({"jsonrpc": "2.0", "id": id, "method": method, "params": params}) + b"\n"


def stdio_client(url: str, version: str, who: str = "ann") -> Client:
    program, *args = command(url, who)
    server = StdioServerParameters(command=program, args=args)
    return Client(server, mode="legacy" if version == OLD else NEW, cache=None)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@contextlib.asynccontextmanager
async def process(url: str, who: str = "ann") -> AsyncIterator[asyncio.subprocess.Process]:
    pipe = subprocess.PIPE
    running = await asyncio.create_subprocess_exec(*command(url, who), stdin=pipe, stdout=pipe, stderr=pipe)
    try:
        yield running
    finally:
        if running.returncode is None:
            running.kill()
        await running.communicate()


async def ask(running: asyncio.subprocess.Process, line: bytes) -> Any:
    """Send one line, and have the next that comes back."""
    assert running.stdin is not None
    assert running.stdout is not None
    running.stdin.write(line)
    return msgspec.json.decode(await asyncio.wait_for(running.stdout.readline(), WAIT_S))


@pytest.mark.anywhere
@both_eras
async def test_everything_passes_through(version: str) -> None:
    async with serving() as rig, stdio_client(rig.url, version) as client:
        assert client.protocol_version == version
        assert [tool.name for tool in (await client.list_tools()).tools] == ["say", "wait", "fail", "show"]
        assert text_of(await client.call_tool("say", {"text": "olá"})) == {"by": "ann", "said": "olá", "language": "pt"}
        (content,) = (await client.read_resource("chat://threads/thr_é/state")).contents
        assert content.text == "state of thr_é"  # type: ignore[union-attr]
        with pytest.raises(MCPError, match="Unknown tool: close"):
            await client.call_tool("close", {})


@both_eras
async def test_progress_and_cancellation_pass_through(version: str) -> None:
    heard: list[float] = []

    async with serving() as rig, stdio_client(rig.url, version) as client:

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            heard.append(progress)
            if len(heard) == 2:
                rig.stage.curtain.set()

        cancelled = asyncio.create_task(client.call_tool("wait", {}))
        await soon(rig.stage.started)
        cancelled.cancel()
        await soon(rig.stage.ended)
        result = await asyncio.wait_for(client.call_tool("wait", {}, progress_callback=hear), WAIT_S)
        assert text_of(result) == {"has_progress": True}


@both_eras
async def test_a_restart_of_the_hub_is_not_noticed(version: str) -> None:
    meta = {"_meta": META} if version == NEW else {}

    def say(id: int, text: str) -> bytes:
        return request(id, "tools/call", {"name": "say", "arguments": {"text": text}} | meta)

    port = free_port()
    async with process(f"http://127.0.0.1:{port}") as running:
        async with serving(port=port) as rig:
            if version == OLD:
                assert "result" in await ask(running, request(0, "initialize", HELLO))
            assert "result" in await ask(running, say(1, "before"))
        between = asyncio.create_task(ask(running, say(2, "between")))
        async with serving(port=port) as rig:
            assert "result" in await between
            assert "result" in await ask(running, say(3, "after"))
            assert rig.stage.said == ["between", "after"]


@both_eras
async def test_a_wait_goes_on_when_the_hub_breaks_off(version: str) -> None:
    meta = {"_meta": META} if version == NEW else {}
    port = free_port()
    async with process(f"http://127.0.0.1:{port}") as running:
        async with serving(port=port) as rig:
            if version == OLD:
                assert "result" in await ask(running, request(0, "initialize", HELLO))
            wait = asyncio.create_task(ask(running, request(1, "tools/call", {"name": "wait"} | meta)))
            await soon(rig.stage.started)
            rig.break_off()
        assert not wait.done()
        async with serving(port=port) as rig:
            await soon(rig.stage.started)
            rig.stage.curtain.set()
            assert "result" in await wait


async def test_a_wrong_credential_is_an_error_and_not_the_end() -> None:
    async with serving() as rig, process(rig.url, "nobody") as running:
        for id in (1, 2):
            answer = await ask(running, request(id, "initialize", HELLO))
            assert answer["error"]["message"] == "The hub answered with status 401."


async def test_lines_that_are_no_messages_are_logged_and_the_rest_is_answered() -> None:
    junk = [
        b"hello?",
        b"[1, 2]",
        b'{"jsonrpc": "2.0", "id": {}, "method": "x"}',
        b'{"half": ',
        b"\xff\xfe",
        b"[" * 99_999,
    ]
    too_long = b'{"jsonrpc": "2.0", "id": 9, "method": "' + b"x" * (MAX_LINE_BYTES + 100_000) + b'"}'
    async with serving() as rig, process(rig.url) as running:
        lines = [
            *(line + b"\n" for line in [*junk, too_long]),
            request(1, "initialize", HELLO),
            request(2, "tools/list", {}),
        ]
        call = request(3, "tools/call", {"name": "say", "arguments": {"text": "a\nb"}})
        out, err = await asyncio.wait_for(running.communicate(b"".join([*lines, call, b'{"half'])), WAIT_S)
        answers = {answer["id"]: answer for answer in map(msgspec.json.decode, out.splitlines())}
        assert sorted(answers) == [1, 2, 3]
        assert "result" in answers[3]
        assert err.count(b"is no message") == len(junk) + 1
        assert err.count(b"longer than") == 1
        assert b"Traceback" not in err
        assert running.returncode == 0
        assert len(rig.door.http.sessions) == 0


@pytest.mark.parametrize("is_there", [True, False])
async def test_it_ends_with_the_end_of_its_input(is_there: bool) -> None:
    async with serving() as rig, process(rig.url if is_there else f"http://127.0.0.1:{free_port()}") as running:
        assert running.stdin is not None
        running.stdin.write(request(1, "initialize", HELLO) + request(2, "tools/call", {"name": "wait"}))
        if is_there:
            await soon(rig.stage.started)
        running.stdin.close()
        await asyncio.wait_for(running.wait(), WAIT_S)
        assert running.returncode == 0
        if is_there:
            await soon(rig.stage.ended)


async def test_it_ends_though_nobody_reads_its_output() -> None:
    async with serving() as rig:
        into, output = os.pipe()
        running = await asyncio.create_subprocess_exec(
            *command(rig.url), stdin=subprocess.PIPE, stdout=output, stderr=subprocess.DEVNULL
        )
        os.close(output)
        assert running.stdin is not None
        say = {"name": "say", "arguments": {"text": "x" * 100, "times": 1000}}
        calls = b"".join(request(n, "tools/call", say) for n in range(2, 30))
        last = request(30, "tools/call", {"name": "wait", "arguments": {}})
        running.stdin.write(request(1, "initialize", HELLO) + calls + last)
        await soon(rig.stage.started)
        running.stdin.close()
        await asyncio.wait_for(running.wait(), WAIT_S)
        os.close(into)
