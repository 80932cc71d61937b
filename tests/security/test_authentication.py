"""Who gets in at all: AU-01, AU-03 to AU-07."""

import asyncio
import contextlib
import hashlib
import inspect
import socket
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import NamedTuple

import psutil
import pytest
from starlette.applications import Starlette
from starlette.routing import BaseRoute, WebSocketRoute

from greenroom.app import open_hub
from greenroom.doors import router
from greenroom.doors.http.routes import PUBLIC, Dispatcher
from greenroom.doors.login import LoginCodes
from greenroom.doors.page import PageDoor
from greenroom.services.connections import Connections
from greenroom.settings import Settings
from greenroom.testing.hub_process import HubProcess, wait_until
from greenroom.testing.raw_http import open_socket, parse_responses, send_raw
from tests.security.conftest import House

ASSIST = "/agentassistproto.SrvAgentAssist"
ASKING = {("POST", f"{ASSIST}/{rpc}") for rpc in ("AskQuestion", "TaskFinish", "WorkReport", "SendMcpClientInfo")}
"""RPCs whose credential is in the body: tests/doors/compat/assist/test_asking.py sees that nothing goes without it."""
TOLD = {("POST", "/api/notify/act"), ("GET", "/n/{ticket}")}
"""What a notification leads to; its ticket is a credential for one answer, or for nothing: tests/services/notify."""
SIGNED = {("POST", "/api/triggers/{trigger_id}"), ("POST", "/api/hooks/{hook}"), ("GET", "/schemas/workflow.json")}
"""What is proven by a signature instead; and the schema, which is no secret."""
BODILESS = ("/login", "/health", "/", "/api/notify/act", "/api/triggers/trigger_id", "/api/hooks/hook")
DECLARED_PUBLIC = {("GET", "/login"), ("POST", "/login"), ("GET", "/health"), ("GET", "/"), *ASKING, *TOLD, *SIGNED}
MCP_PATHS = ("/mcp", "/mcp/sse", "/sse", "/messages")
WRONG = {
    "none": "",
    "garbage": "Authorization: Bearer nonsense\r\n",
    "expired": "Authorization: Bearer {expired}\r\n",
    "revoked": "Authorization: Bearer {revoked}\r\n",
    "cookie": "Cookie: greenroom_00000000=nonsense\r\n",
}


class Place(NamedTuple):
    """Something that a client may call."""

    method: str
    path: str
    needs: str


async def places(data: Path) -> tuple[list[Place], list[str]]:
    """Everything that the application serves over HTTP, and the paths of its WebSockets."""
    async with (
        open_hub(data, Settings(port=1, local_node=False)) as hub,
        router.build_app(hub, LoginCodes(), Connections(hub, "")) as (app, endpoints),
    ):
        found = [Place(e.method, e.path, e.needs) for e in endpoints]
        routes = find_routes(app)
    assert all(isinstance(route, WebSocketRoute) for route in routes), (
        "HTTP is served by endpoints that declare a right"
    )
    found += [Place(method, path, "read") for path in MCP_PATHS for method in ("GET", "POST", "DELETE")]
    return found, [route.path for route in routes if isinstance(route, WebSocketRoute)]


def find_routes(app: object) -> list[BaseRoute]:
    """The routes of the Starlette application somewhere inside this one."""
    if isinstance(app, Starlette):
        return list(app.routes)
    inside = [*inspect.getclosurevars(app).nonlocals.values()] if inspect.isfunction(app) else [*vars(app).values()]
    return [
        route
        for part in inside
        if isinstance(part, (FunctionType, Starlette, PageDoor, Dispatcher))
        for route in find_routes(part)
    ]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Place], list[str]]:
    return asyncio.run(places(tmp_path_factory.mktemp("routes") / "data"))


def test_only_what_is_declared_public_answers_without_a_credential(
    house: House, served: tuple[list[Place], list[str]]
) -> None:
    """AU-01"""
    found, sockets = served
    assert {(p.method, p.path) for p in found if p.needs == PUBLIC} == DECLARED_PUBLIC
    assert len(found) > 40
    assert "/sync" in sockets
    for place in found:
        path = place.path.replace("{", "").replace("}", "")
        for name, proof in WRONG.items():
            with answered_at_once(house, place.method, path, proof) as status:
                if place.needs == PUBLIC:
                    assert status not in (403, 404, 405, 500), (place, name, status)
                else:
                    assert status in (401, 429), (place, name, status)


@contextlib.contextmanager
def answered_at_once(house: House, method: str, path: str, proof: str) -> Iterator[int]:
    """The status of a call that announces a body and never sends it, unless it is public."""
    length = 0 if path in (*BODILESS, "/schemas/workflow.json") or path.startswith(ASSIST) else 1000
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{house.hub.port}\r\n{proof.format(**house.tokens)}"
    with open_socket(house.hub.url) as line:
        line.sendall(f"{head}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n".encode())
        yield parse_status(line)


def parse_status(line: socket.socket) -> int:
    return int(line.recv(4096).split(b" ")[1])


def test_a_websocket_is_refused_before_the_upgrade(house: House, served: tuple[list[Place], list[str]]) -> None:
    """AU-01"""
    for path in [*served[1], "/events", "/nowhere"]:
        for name, proof in WRONG.items():
            if path == "/ws" and name in ("none", "cookie"):
                continue  # who shows nothing may log in by a frame: tests/doors/compat/assist/test_strangers.py
            said = handshake(house.hub, path.replace("{", "").replace("}", ""), proof.format(**house.tokens))
            [answer] = send_raw(house.hub.url, said)
            assert answer.status in (401, 403), (path, name)  # 403 once so many were wrong that none is looked at


def handshake(hub: HubProcess, path: str, headers: str = "") -> bytes:
    """What a WebSocket client says first."""
    return (
        f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{hub.port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n{headers}\r\n"
    ).encode()


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "PUT", "PATCH", "TRACE", "CONNECT", "PROPFIND", "get"])
@pytest.mark.parametrize("path", ["/login", "/health", "/api/threads", "/mcp", "/sync"])
def test_another_method_opens_nothing(house: House, method: str, path: str) -> None:
    """AU-01"""
    answers = send_raw(house.hub.url, f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{house.hub.port}\r\n\r\n".encode())
    assert [a.status for a in answers] in ([400], [401], [404], [405], [429])


CONFUSING = [
    ("GET /api/threads", "Host: a/healthz?x="),
    ("GET /api/threads", "Host: x/login#"),
    ("GET /api/threads", "Host: 127.0.0.1:{port}/login?"),
    ("GET /api/threads", "Host: 127.0.0.1:{port}\r\nHost: 127.0.0.1:{port}"),
    ("GET /api/threads", "X-Host: 127.0.0.1:{port}"),
    ("GET http://127.0.0.1:{port}/api/threads", "Host: 127.0.0.1:{port}"),
    ("GET http://127.0.0.1:{port}/login/../api/threads", "Host: 127.0.0.1:{port}"),
    ("GET http://evil.test/api/threads", "Host: 127.0.0.1:{port}"),
    ("GET @evil", "Host: 127.0.0.1:{port}"),
    ("GET //api/threads", "Host: 127.0.0.1:{port}"),
    ("GET //login/api/threads", "Host: 127.0.0.1:{port}"),
    ("GET /api/%2e%2e/login", "Host: 127.0.0.1:{port}"),
    ("GET /login/..;/api/threads", "Host: 127.0.0.1:{port}"),
    ("GET /login/../api/threads", "Host: 127.0.0.1:{port}"),
    ("GET /login/%2e%2e/api/threads", "Host: 127.0.0.1:{port}"),
    ("GET /login%2f..%2fapi%2fthreads", "Host: 127.0.0.1:{port}"),
    ("GET /API/threads", "Host: 127.0.0.1:{port}"),
    ("GET /api%2fthreads", "Host: 127.0.0.1:{port}"),
    ("GET /%61pi/threads", "Host: 127.0.0.1:{port}"),
    ("GET /api/threads.", "Host: 127.0.0.1:{port}"),
    ("GET /api/threads/", "Host: 127.0.0.1:{port}"),
    ("GET /login/", "Host: 127.0.0.1:{port}"),
    ("GET /login;/api/threads", "Host: 127.0.0.1:{port}"),
    ("GET /login%00/api/threads", "Host: 127.0.0.1:{port}"),
    ("GET /login\\..\\api\\threads", "Host: 127.0.0.1:{port}"),
    ("GET /api/threads?/login", "Host: 127.0.0.1:{port}"),
    ("GET /api/threads#/login", "Host: 127.0.0.1:{port}"),
    ("GET api/threads", "Host: 127.0.0.1:{port}"),
    ("GET *", "Host: 127.0.0.1:{port}"),
    ("GET ", "Host: 127.0.0.1:{port}"),
]


@pytest.mark.parametrize(("line", "host"), CONFUSING)
def test_a_confusing_target_or_host_never_gets_around_the_guard(house: House, line: str, host: str) -> None:
    """AU-03"""
    port = house.hub.port
    for extra in ("", "X-Original-URL: /login\r\n", "X-Rewrite-URL: /login\r\n"):
        said = f"{line} HTTP/1.1\r\n{host}\r\n{extra}Connection: close\r\n\r\n".replace("{port}", str(port))
        answers = send_raw(house.hub.url, said.encode())
        assert [a.status for a in answers] in ([400], [401], [404], [421], [429]), answers


def test_a_token_that_is_present_is_not_a_token_that_is_valid(house: House) -> None:
    """AU-04"""
    good = house.tokens["operator"]
    digest = hashlib.sha256(good.encode()).hexdigest()
    wrong = [
        "Authorization: Bearer",
        "Authorization: Bearer ",
        "Authorization:",
        "Authorization: Bearer null",
        "Authorization: Bearer undefined",
        f"Authorization: {good}",
        f"Authorization: Bearer {good}\r\nAuthorization: Bearer wrong",
        f"Authorization: Bearer wrong\r\nAuthorization: Bearer {good}",
        f"Authorization: Bearer {good}\r\nAuthorization: Bearer {good}",
        f"Authorization: Bearer {good}, Bearer {good}",
        f"Authorization: bearer\t{good}",
        f"Authorization: Bearer  {good}",
        f"Authorization: Basic {good}",
        f"Authorization: Token {good}",
        f"Authorization: Bearer {good[:-1]}",
        f"Authorization: Bearer {good[:40]}",
        f"Authorization: Bearer {good}x",
        f"Authorization: Bearer {good.upper()}",
        f"Authorization: Bearer {good[:-8]}00000000",
        f"Authorization: Bearer {digest}",
        f"Authorization: Bearer {good}\u00e9",
        f"Authorization: Bearer {'x' * 20_000}",
        f"X-Agent-Token: {good}\r\nX-Agent-Token: {good}",
        "X-Agent-Token: wrong",
        "X-Agent-Token:",
        f"Authorization: Bearer {good}\r\nX-Agent-Token: wrong",
        f"Authorization: Bearer wrong\r\nX-Agent-Token: {house.tokens['ada']}",
        f"Authorization: Basic x\r\nX-Agent-Token: {house.tokens['ada']}",
        f"Cookie: token={good}",
        f"Cookie: greenroom_00000000={good}",
        f"X-Api-Key: {good}",
    ]
    for headers in wrong:
        said = f"GET /api/threads HTTP/1.1\r\nHost: 127.0.0.1:{house.hub.port}\r\n{headers}\r\n\r\n"
        [answer] = send_raw(house.hub.url, said.encode("latin-1"), once=True)
        assert answer.status in (401, 429), (headers[:80], answer)
    for token in (good, house.tokens["ada"]):
        assert house.call(None, "GET", f"/api/threads?token={token}&access_token={token}").status_code in (401, 429)
    for headers in (f"Authorization: Bearer {good}\0", f"Authorization: Bearer {'x' * 1_000_000}"):
        said = f"GET /api/threads HTTP/1.1\r\nHost: 127.0.0.1:{house.hub.port}\r\n{headers}\r\n\r\n"
        answers = send_raw(house.hub.url, said.encode("latin-1"))
        assert [a.status for a in answers] in ([], [400], [431]), (headers[:40], answers)
    assert house.call("operator", "GET", "/api/threads").status_code == 200


def test_of_two_good_tokens_the_agents_says_who_acts(house: House) -> None:
    """AU-04"""
    path = f"/api/threads/{house.threads['open']}/messages"
    both = {"Authorization": f"Bearer {house.tokens['operator']}", "X-Agent-Token": house.tokens["ada"]}
    with house.client(None, **both) as client:
        assert client.post(path, json={"content": "by ada"}).json()["author_id"] == house.agents["ada"]
        assert client.get("/api/credentials").status_code == 403


BLANK: list[dict[str, str]] = [
    {"GREENROOM_TLS_CERT": "", "GREENROOM_TLS_KEY": "", "GREENROOM_HOST": "0.0.0.0"},
    {"GREENROOM_TLS_CERT": " ", "GREENROOM_HOST": "0.0.0.0"},
    {"GREENROOM_TLS_CERT": "${CERT}", "GREENROOM_TLS_KEY": "${KEY}"},
    {"GREENROOM_ALLOW_PLAINTEXT": "", "GREENROOM_HOST": "0.0.0.0"},
    {"GREENROOM_ALLOW_ANONYMOUS_LOCAL": "yes please"},
    {"GREENROOM_PORT": ""},
]


@pytest.mark.parametrize("env", BLANK)
def test_a_blank_setting_is_refused_and_not_taken_for_leave(own_data: Path, env: dict[str, str]) -> None:
    """AU-05"""
    hub = HubProcess(own_data, env)
    code, said = hub.start_refused()
    assert code == 1, said
    assert len(said.strip().splitlines()) == 1, said


@pytest.mark.parametrize("content", ["", " \n", "\0", "null", "\x80\xff"])
def test_a_blank_token_file_gives_nobody_a_way_in(own_data: Path, content: str) -> None:
    """AU-05"""
    with HubProcess(own_data) as hub:
        old = hub.token
    (own_data / "operator.token").write_bytes(content.encode("latin-1"))
    with HubProcess(own_data) as hub:
        assert hub.token not in ("", old)
        for proof in ("Authorization: Bearer", "Authorization: Bearer ", f"Authorization: Bearer {content.strip()}"):
            said = f"GET /api/threads HTTP/1.1\r\nHost: 127.0.0.1:{hub.port}\r\n{proof}\r\n\r\n"
            [answer] = send_raw(hub.url, said.encode("latin-1"), once=True)
            assert answer.status in (400, 401)


@pytest.mark.parametrize(
    ("args", "env"),
    [
        (("--host", "0.0.0.0"), {}),
        (("--host", "::"), {}),
        ((), {"GREENROOM_HOST": "0.0.0.0"}),
        (("--host", "0"), {}),
        (("--host", "0.0.0.0", "--allow-anonymous-local"), {"GREENROOM_ALLOW_PLAINTEXT": "true"}),
    ],
)
def test_a_hub_does_not_listen_beyond_this_machine_in_the_open(
    own_data: Path, args: tuple[str, ...], env: dict[str, str]
) -> None:
    """AU-06"""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    code, said = HubProcess(own_data, env, args).start_refused(port)
    assert code == 1
    assert len(said.strip().splitlines()) == 1
    assert "tls_cert" in said or "allow_anonymous_local" in said
    assert not [c for c in psutil.net_connections("inet") if c.laddr.port == port and c.status == "LISTEN"]


def test_a_hub_may_listen_beyond_this_machine_when_told_so(own_data: Path) -> None:
    """AU-06"""
    with HubProcess(own_data, {"GREENROOM_ALLOW_PLAINTEXT": "true"}, ("--host", "0.0.0.0")) as hub:
        wait_until(lambda: send_raw(hub.url, b"GET /login HTTP/1.1\r\n\r\n")[0].status == 421)
        said = f"GET /api/threads HTTP/1.1\r\nHost: 127.0.0.1:{hub.port}\r\n\r\n"
        assert send_raw(hub.url, said.encode())[0].status == 401


FORWARDED = [
    "X-Forwarded-For: 127.0.0.1",
    "X-Forwarded-Host: 127.0.0.1",
    "X-Forwarded-Proto: https",
    "Forwarded: for=localhost",
    "X-Real-IP: 127.0.0.1",
]


@pytest.mark.parametrize("header", [*FORWARDED, "Tailscale-User-Login: operator", "X-Forwarded-User: operator"])
def test_being_local_or_forwarded_is_no_credential(house: House, header: str) -> None:
    """AU-07"""
    said = f"GET /api/threads HTTP/1.1\r\nHost: 127.0.0.1:{house.hub.port}\r\n{header}\r\n"
    [answer] = send_raw(house.hub.url, f"{said}\r\n".encode())
    assert answer.status == (400 if header in FORWARDED else 401)
    [answer] = send_raw(house.hub.url, f"{said}Authorization: Bearer {house.tokens['operator']}\r\n\r\n".encode())
    assert answer.status == (400 if header in FORWARDED else 200)


def test_behind_a_proxy_forwarded_headers_say_nothing(own_data: Path) -> None:
    """AU-07"""
    with HubProcess(own_data, {"GREENROOM_BEHIND_PROXY": "true"}) as hub:
        for header in FORWARDED:
            said = f"GET /api/threads HTTP/1.1\r\nHost: 127.0.0.1:{hub.port}\r\n{header}\r\n"
            assert send_raw(hub.url, f"{said}\r\n".encode())[0].status == 401, header
            assert send_raw(hub.url, f"{said}Authorization: Bearer {hub.token}\r\n\r\n".encode())[0].status == 200, (
                header
            )


def test_behind_a_proxy_nobody_counts_as_local(own_data: Path) -> None:
    """AU-07"""
    env = {"GREENROOM_BEHIND_PROXY": "true", "GREENROOM_ALLOW_ANONYMOUS_LOCAL": "true"}
    code, said = HubProcess(own_data, env).start_refused()
    assert code == 1
    assert "allow_anonymous_local" in said


def test_parse_reads_several_answers() -> None:
    two = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 404 No\r\ncontent-length: 0\r\n\r\n"
    assert [a.status for a in parse_responses(two)] == [200, 404]
