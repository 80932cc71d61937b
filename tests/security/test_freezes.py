"""No request keeps the hub from answering others: what grows with the input is bounded, or done elsewhere.

Each test sends what once froze the hub, and sees that the watchdog has counted no pause in which the loop computed.
That is CPU time of the loop's thread, and does not depend on what else the machine does.
"""

import asyncio
import contextlib
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect

from greenroom.testing.hub_process import HubProcess, eventually
from greenroom.testing.patience import WAIT_S
from greenroom.testing.people import enrol
from tests.security.rig import Mcp

CHARS = 19_000
COMMANDS = {
    "find in find": "find ." + " -exec find ." * (CHARS // 13),
    "env in env": "env -u X " * (CHARS // 9) + "ls",
    "eval in eval": "eval " * (CHARS // 5) + "ls",
    "here-documents": "cat " + "<<A " * (CHARS // 4),
    "pipes to nowhere": "a|" * (CHARS // 2),
    "patterns": "a?" * (CHARS // 2),
    "brackets": ")" * CHARS,
    "a long name of a host": "curl " + "a." * (CHARS // 2),
    "redirections": "ls" + " >a" * (CHARS // 3),
}
CALLS: dict[str, tuple[str, Any]] = {
    **{name: ("Bash", {"command": command}) for name, command in COMMANDS.items()},
    "an empty patch": ("apply_patch", {"patch": "\n" * 300_000}),
    "many headers": ("apply_patch", {"patch": "".join(f"+++ b/{n}\n" for n in range(80_000))}),
    "a path of dots": ("Read", {"x": "a/../" * 200_000}),
    "a long pattern": ("Glob", {"pattern": "{a,b}" * 200_000}),
    "a long path": ("Read", {"path": ".config/" * 100_000}),
    "many empty lists": ("unknown", {"x": [[]] * 50_000}),
}


@contextlib.contextmanager
def no_pause(api: httpx.Client) -> Iterator[None]:
    """The loop computes at no stretch for as long as a pause is."""
    before = api.get("/api/metrics").json()["loop"]["busy"]
    yield
    loop = api.get("/api/metrics").json()["loop"]
    print(f"\nthe loop computed for at most {loop['longest_busy_ms']} ms at a stretch")
    assert loop["busy"] == before


@pytest.mark.parametrize("name", CALLS)
def test_a_permission_that_is_hard_to_read_is_asked_about_and_holds_nobody_up(
    hub: HubProcess, api: httpx.Client, name: str
) -> None:
    tool, arguments = CALLS[name]
    _, token = asyncio.run(enrol(hub.url, hub.token, "attacker"))
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=hub.url, headers=headers, timeout=WAIT_S) as client:
        mcp = Mcp(client)
        mcp.tools()  # what the door loads when it is first used is loaded
        with no_pause(api):
            asyncio.run(ask_until_it_is_there(mcp, api, tool, arguments))


async def ask_until_it_is_there(mcp: Mcp, api: httpx.Client, tool: str, arguments: Any) -> None:
    call = {"name": "permission_request", "arguments": {"tool_name": tool, "input": arguments}}
    message = {"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": call}
    async with httpx.AsyncClient(base_url=mcp.client.base_url, headers=mcp.client.headers, timeout=WAIT_S) as client:
        asking = asyncio.create_task(client.post("/mcp", json=message, headers=mcp.headers()))
        await asyncio.to_thread(
            eventually, lambda: asking.done() or api.get("/api/metrics").json()["work"]["open_asks"]
        )
        asking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            assert "Internal" not in (await asking).text


@pytest.mark.parametrize("unit", ["eyJ-", "@somebody ", "`@a", "-----BEGIN A "])
def test_a_long_message_is_read_without_holding_anybody_up(hub: HubProcess, api: httpx.Client, unit: str) -> None:
    thread = api.post("/api/threads", json={"topic": "long"}).json()["id"]
    with no_pause(api):
        content = (unit * 1_000_000)[:1_000_000]
        posted = api.post(f"/api/threads/{thread}/messages", json={"author": "human", "content": content})
        assert posted.status_code == 201, posted.text


@pytest.mark.parametrize("unit", ["0", "[]", '{"a":1}', '"a"'])
@pytest.mark.parametrize("size", [4_190_000, 500_000])
def test_metadata_of_many_values_is_refused_and_holds_nobody_up(api: httpx.Client, unit: str, size: int) -> None:
    thread = api.post("/api/threads", json={"topic": "many"}).json()["id"]
    values = ",".join([unit] * (size // (len(unit) + 1)))
    with no_pause(api):
        body = f'{{"content": "x", "metadata": {{"a": [{values}]}}}}'
        refused = api.post(f"/api/threads/{thread}/messages", content=body)
        expected = {"too_large", "metadata_too_large"}
        assert (refused.status_code, refused.json()["code"] in expected) == (413, True), refused.text


def workflow_of(steps: int, needs: int) -> str:
    """Steps that each depend on some that stand far above them."""
    lines = ["name: wide", "steps:"]
    for number in range(steps):
        before = sorted({f"s{(number * 31 + n * 97) % number}" for n in range(needs)} if number else ())
        lines += [f"  - id: s{number}", "    profile: a", "    prompt: x", f"    dependencies: {json.dumps(before)}"]
    return "\n".join(lines)


def test_workflows_that_are_checked_at_once_hold_nobody_up(hub: HubProcess, api: httpx.Client) -> None:
    text = workflow_of(1000, 8)
    with no_pause(api):
        answers = asyncio.run(check_at_once(hub, text))
    assert {answer.status_code for answer in answers} == {200}
    assert len(answers[0].json()["picture"]["places"]) == 1000


async def check_at_once(hub: HubProcess, text: str) -> list[httpx.Response]:
    headers = {"Authorization": f"Bearer {hub.token}"}
    async with httpx.AsyncClient(base_url=hub.url, headers=headers, timeout=WAIT_S * 3) as client:
        check = [client.post("/api/workflow-check", json={"text": text}) for _ in range(6)]
        return await asyncio.gather(*check)


def test_a_long_thread_is_exported_without_holding_anybody_up(hub: HubProcess, api: httpx.Client) -> None:
    thread = api.post("/api/threads", json={"topic": "long"}).json()["id"]
    for _ in range(300):
        posted = api.post(f"/api/threads/{thread}/messages", json={"author": "human", "content": "a line\n" * 4000})
        assert posted.status_code == 201, posted.text
    with no_pause(api):
        text = api.get(f"/api/threads/{thread}/export").text
    assert text.count("> a line\n") == 300 * 4000


def test_many_sockets_that_subscribe_at_once_hold_nobody_up(hub: HubProcess, api: httpx.Client) -> None:
    for number in range(200):
        assert api.post("/api/threads", json={"topic": f"thread {number} {'x' * 150}"}).status_code == 201
    with no_pause(api):
        assert asyncio.run(subscribe_at_once(hub, 300)) == [200] * 300


async def subscribe_at_once(hub: HubProcess, sockets: int) -> list[int]:
    """How many rows each socket was given."""
    url, headers = hub.url.replace("http", "ws", 1) + "/sync", {"authorization": f"Bearer {hub.token}"}
    async with contextlib.AsyncExitStack() as stack:
        opened = [
            await stack.enter_async_context(connect(url, additional_headers=headers, max_size=None, proxy=None))
            for _ in range(sockets)
        ]
        wish = json.dumps({"op": "subscribe", "id": 1, "view": "threads"})
        await asyncio.gather(*[one.send(wish) for one in opened])
        return [len(json.loads(await one.recv())["rows"]) for one in opened]
