"""No request keeps the hub from answering others: what grows with the input is bounded, or done elsewhere.

Each test sends what once froze the hub, and sees that the watchdog has counted no pause in which the loop computed.
That is CPU time of the loop's thread, and does not depend on what else the machine does.
"""

import asyncio
import contextlib
import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect

from greenroom.testing.hub_process import HubProcess, wait_until
from greenroom.testing.rest_agents import register_agent
from greenroom.testing.timeouts import WAIT_S
from tests.conftest import checked
from tests.security.conftest import House
from tests.security.crowd import LONG, gather_crowd, workflow_of
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
    """The loop computes at no stretch for as long as a pause is, and no other thread keeps it from going on."""
    before = api.get("/api/metrics").json()["loop"]
    yield
    loop = api.get("/api/metrics").json()["loop"]
    print(f"\nthe loop computed for at most {loop['longest_busy_ms']} ms at a stretch")
    assert (loop["busy"], loop["held"]) == (before["busy"], before["held"])


@pytest.mark.parametrize("name", CALLS)
def test_a_permission_that_is_hard_to_read_is_asked_about_and_holds_nobody_up(
    hub: HubProcess, api: httpx.Client, name: str
) -> None:
    tool, arguments = CALLS[name]
    _, token = asyncio.run(register_agent(hub.url, hub.token, "attacker"))
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
            wait_until, lambda: asking.done() or api.get("/api/metrics").json()["work"]["open_asks"]
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


def test_workflows_that_are_checked_at_once_hold_nobody_up(hub: HubProcess, api: httpx.Client) -> None:
    texts = [workflow_of(steps, 8, "profile: a, prompt: x") for steps in (1000, *[300] * 11)]
    with no_pause(api):
        answers = asyncio.run(check_at_once(hub, texts))
    assert {answer.status_code for answer in answers} == {200}
    assert len(answers[0].json()["picture"]["places"]) == 1000


async def check_at_once(hub: HubProcess, texts: list[str]) -> list[httpx.Response]:
    headers = {"Authorization": f"Bearer {hub.token}"}
    async with httpx.AsyncClient(base_url=hub.url, headers=headers, timeout=WAIT_S * 3) as client:
        check = [client.post("/api/workflow-check", json={"text": text}) for text in texts]
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
        assert asyncio.run(subscribe_at_once(hub, 1000)) == [200] * 1000


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


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A hub that holds much of everything, for all the tests below."""
    house = House(HubProcess(tmp_path_factory.mktemp("crowd") / "data"))
    asyncio.run(gather_crowd(house))
    for _ in checked(house.hub):
        house.tokens["operator"] = house.hub.token
        yield house


Work = Callable[[House], object]


def get(path: str, who: str = "operator", **query: Any) -> Work:
    """Read something; the names of threads in the path stand for their ids."""
    return lambda house: accept(house.call(who, "GET", path.format(**house.threads), params=query))


def send(method: str, path: str, who: str = "operator", status: int | None = None, **body: Any) -> Work:
    return lambda house: accept(house.call(who, method, path.format(**house.threads), **body), status)


def accept(answer: httpx.Response, status: int | None = None) -> None:
    is_as_expected = answer.is_success if status is None else answer.status_code == status
    assert is_as_expected, (answer.status_code, answer.text[:500])


def subscribe(view: str, who: str = "operator", key: str | None = None) -> Work:
    async def wait_for_rows(house: House) -> None:
        url = house.hub.url.replace("http", "ws", 1) + "/sync"
        headers = {"authorization": f"Bearer {house.tokens[who]}"}
        wish = {"op": "subscribe", "id": 1, "view": view, "key": key and house.threads[key], "limit": 1000}
        async with connect(url, additional_headers=headers, max_size=None, proxy=None) as socket:
            await socket.send(json.dumps(wish))
            assert json.loads(await socket.recv())["op"] == "snapshot"

    return lambda house: asyncio.run(wait_for_rows(house))


def call_tool(tool: str, who: str, **arguments: Any) -> Work:
    def call(house: House) -> None:
        with house.client(who) as client:
            named = {name: value.format(**house.threads) for name, value in arguments.items()}
            assert "error" not in Mcp(client).call(tool, **named)

    return call


NAMES = " ".join(f"@agent {number} (test)" for number in range(100))
NOBODY = " ".join(f"@nobody{number}" for number in range(100))
MARKS = "a" + "\u0301\u0323" * 30_000
"""Marks in a row are sorted by where they stand."""
ALIKE = "name: w\nsteps:\n" + "".join(
    f"- {{id: step_long_name_{n}, set: {{x: '1'}}, dependencies: [step_long_nam_{n}]}}\n" for n in range(2200)
)
FORM = {"type": "object", "properties": {f"field{number}": {"type": "string"} for number in range(120)}}
LONG_FORM = {"type": "object", "properties": {f"f{number}": {} for number in range(5000)}}
MANY = {"decision": "deny", "commands": [f"program{number}" for number in range(140_000)]}
BUNDLE = {f"bundled{number}": {"drivr": "command"} for number in range(30_000)}
STEPS = [{"id": f"s{n}", "set": {"a": "1 + 2"}, "dependencies": [f"s{n // 2}"] if n else []} for n in range(5000)]
LONG_WORKFLOW = (
    send("PUT", "/api/workflows/wide", json={"definition": {"name": "wide", "steps": STEPS}}),
    get("/api/workflows/wide"),
    get("/api/workflows/wide/versions"),
)
CHAT = "/api/threads/{crowd}/messages"
DOORS: dict[str, Work] = {
    "agents": get("/api/agents"),
    "all agents": get("/api/agents", all=True),
    "agents of a guest": get("/api/agents", "guest", all=True),
    "threads": get("/api/threads"),
    "threads of an agent": get("/api/threads", "agent 0"),
    "members": get("/api/threads/{crowd}/agents"),
    "long messages": get("/api/threads/{long}/messages", limit=1000),
    "a transcript": get("/api/threads/{long}/transcript", limit=1000),
    "a search for one word again and again": get("/api/search", q="some " * 200, limit=200),
    "a search for nearly one word": get(
        "/api/search", q=" ".join(f"some{'-' * n}words" for n in range(1, 25)), limit=200
    ),
    "a search for many words": get("/api/search", q=("some words of a long text, " * 40)[:1000], limit=200),
    "profiles": get("/api/profiles"),
    "rules": get("/api/policy"),
    "credentials": get("/api/credentials"),
    "the audit": get("/api/audit", limit=1000),
    "the audit of nobody": get("/api/audit", limit=1000, by="nobody"),
    "an export of a thread with many members": get("/api/threads/{crowd}/export"),
    **{f"the view {view}": subscribe(view) for view in ("threads", "agents", "profiles", "policy", "credentials")},
    **{f"the view {view} of a guest": subscribe(view, "guest") for view in ("threads", "agents", "templates")},
    "the view threads of an agent": subscribe("threads", "agent 0"),
    **{f"the view of the thread {key}": subscribe("thread", key=key) for key in ("crowd", "long", "short")},
    "the tool agent_list": call_tool("agent_list", "enroller"),
    "the tool thread_list": call_tool("thread_list", "agent 0"),
    "the tool msg_list": call_tool("msg_list", "operator", thread_id="{long}", return_format="json"),
    "many names": send("POST", CHAT, json={"author": "human", "content": NAMES}),
    "many names that nobody bears": send("POST", CHAT, json={"author": "human", "content": NOBODY}),
    "a mention of many marks": send("POST", CHAT, json={"author": "human", "content": "x", "mentions": [MARKS]}),
    "a handoff to many marks": send(
        "POST", CHAT, json={"author": "human", "content": "x", "metadata": {"handoff_target": MARKS}}
    ),
    "a long name": send("POST", CHAT, json={"author": "human", "content": "@" + "\ufdfa" * 300_000}),
    "steps with names that are nearly alike": send("POST", "/api/workflow-check", json={"text": ALIKE}),
    "whom messages do not reach": get("/api/threads/{crowd}/unreached"),
    "a long workflow": lambda house: [work(house) for work in LONG_WORKFLOW],
    "a wrong bundle": send("POST", "/api/profiles", status=400, json={"profiles": BUNDLE}),
    "a long form": send("POST", "/api/asks", json={"title": "form", "form": FORM}),
    "a form that is too long": send("POST", "/api/asks", status=400, json={"title": "form", "form": LONG_FORM}),
    "a rule of many patterns": send("PUT", "/api/policy/rules/many", status=400, json={"rule": MANY}),
    "commas in a text": send("POST", CHAT, json={"author": "human", "content": "1," * 400_000}),
    "a long thread that is deleted": send("DELETE", "/api/threads/{doomed}"),
}


@pytest.mark.parametrize("name", DOORS)
def test_a_door_that_is_given_much_holds_nobody_up(crowded: House, name: str) -> None:
    with crowded.client("operator") as api, no_pause(api):
        DOORS[name](crowded)


def test_long_posts_that_come_at_once_hold_nobody_up(crowded: House) -> None:
    async def post_all() -> None:
        headers = {"Authorization": f"Bearer {crowded.tokens['operator']}"}
        limits = httpx.Limits(max_connections=300)
        path, body = f"/api/threads/{crowded.threads['short']}/messages", {"author": "human", "content": LONG}
        async with httpx.AsyncClient(
            base_url=crowded.hub.url, headers=headers, timeout=WAIT_S, limits=limits
        ) as client:
            answers = await asyncio.gather(*[client.post(path, json=body) for _ in range(300)])
        assert {answer.status_code for answer in answers} == {201}

    with crowded.client("operator") as api, no_pause(api):
        asyncio.run(post_all())
