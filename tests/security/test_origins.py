"""What a page of another site can do: BO-01 to BO-07, BO-11."""

import asyncio
import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from greenroom.app import open_hub
from greenroom.doors.http.credentials import build_cookie_name
from greenroom.doors.http.origins import Origins, find_addresses
from greenroom.settings import Settings
from greenroom.testing.browser_login import parse_page_key
from greenroom.testing.hub_process import HubProcess
from greenroom.testing.raw_http import RawResponse, send_raw
from tests.security.conftest import House, give

PORT = 39765
FOREIGN = [
    "https://evil.test",
    "null",
    "http://localhost",
    "http://localhost:3000",
    "http://localhost.evil.com",
    "http://127.0.0.1.nip.io",
    "http://localhost:{port}.evil.com",
    "http://localhost:{port}@evil.test",
    "https://trusted.example.evil.com",
    "http://127.0.0.1:{port}/",
    "HTTP://127.0.0.1:{port}",
    "http://LOCALHOST:{port}",
    "https://127.0.0.1:{port}",
    "http://127.0.0.1:{port} ",
    "http://127.0.0.1:0{port}",
    "http://127.1:{port}",
    "http://0.0.0.0:{port}",
    "http://2130706433:{port}",
    "http://[::ffff:127.0.0.1]:{port}",
    "http://[0:0:0:0:0:0:0:1]:{port}",
    "http://user@127.0.0.1:{port}",
    "file://",
    "chrome-extension://abcdefgh",
    "moz-extension://127.0.0.1:{port}",
    "http://127.0.0.1:{port}, http://evil.test",
    "",
]
ON_THE_WIRE = [origin for origin in FOREIGN if origin == origin.strip()]
"""HTTP takes spaces around a value away."""
OURS = ["http://127.0.0.1:{port}", "http://localhost:{port}", "http://[::1]:{port}"]


@pytest.mark.parametrize("origin", FOREIGN)
def test_only_the_exact_origin_is_ours(origin: str) -> None:
    """BO-02"""
    origins = Origins(Settings(), PORT)
    assert not origins.knows_origin([origin.format(port=PORT).encode()])


def test_our_own_origins_are_ours_and_two_of_them_are_not() -> None:
    """BO-02"""
    origins = Origins(Settings(allowed_hosts=["hub.example"]), PORT)
    for origin in [*OURS, "https://hub.example", f"http://hub.example:{PORT}"]:
        assert origins.knows_origin([origin.format(port=PORT).encode()])
    assert not origins.knows_origin([b"http://127.0.0.1:39765", b"http://127.0.0.1:39765"])
    assert not origins.knows_origin([])
    assert not origins.knows_origin([b"https://hub.example.evil.test"])
    assert not origins.knows_origin([b"https://evil.hub.example"])


def test_the_public_address_is_ours() -> None:
    """BO-02"""
    origins = Origins(Settings(public_url="https://Hub.example/room/"), PORT)
    assert origins.knows_host([b"hub.example"])
    assert origins.knows_origin([b"https://hub.example"])
    assert not origins.knows_origin([b"https://hub.example.evil.test"])
    assert not origins.knows_host([b"evil.test"])


@pytest.mark.parametrize(
    ("given", "addresses"),
    [
        ({}, []),
        ({"host": "localhost"}, []),
        ({"host": "::1"}, []),
        ({"allowed_hosts": ["localhost:9", "127.0.0.1", "greenroom.localhost"]}, []),
        ({"host": "0.0.0.0"}, []),
        ({"host": "192.0.2.7"}, [f"http://192.0.2.7:{PORT}"]),
        ({"host": "2001:db8::7"}, [f"http://[2001:db8::7]:{PORT}"]),
        ({"host": "0.0.0.0", "allowed_hosts": ["desk.lan", "desk:80"]}, [f"http://desk.lan:{PORT}", "http://desk:80"]),
        ({"host": "::", "tls_cert": "c", "allowed_hosts": ["Desk.lan"]}, [f"https://desk.lan:{PORT}"]),
        ({"allowed_hosts": ["hub.example"]}, ["https://hub.example"]),
        (
            {"public_url": "https://hub.example/", "host": "192.0.2.7"},
            ["https://hub.example", f"http://192.0.2.7:{PORT}"],
        ),
    ],
)
def test_other_devices_are_told_only_of_addresses_that_they_can_reach(given: Any, addresses: list[str]) -> None:
    settings = Settings(**given)
    assert find_addresses(settings, PORT) == addresses
    known = Origins(settings, PORT)
    assert all(known.knows_origin([address.encode()]) for address in addresses)


@pytest.fixture(scope="module")
def login(house: House) -> tuple[str, str]:
    """The cookie of a browser that has logged in, and the key of its page."""
    code = house.call("operator", "POST", "/api/login-codes").json()["code"]
    entered = house.call(None, "POST", "/login", data={"code": code})
    return entered.headers["set-cookie"].partition(";")[0], parse_page_key(entered.headers["location"])


@pytest.fixture
def cookie(login: tuple[str, str]) -> str:
    return login[0]


@pytest.fixture
def key(login: tuple[str, str]) -> dict[str, str]:
    """The key as a header."""
    return {"X-Greenroom-Key": login[1]}


def send(house: House, method: str, path: str, headers: dict[str, str], body: str = "") -> RawResponse:
    """One raw request; a header named twice is written as a list would be."""
    fields = {"Host": f"127.0.0.1:{house.hub.port}", **headers}
    head = "".join(f"{name.rstrip('*')}: {value}\r\n" for name, value in fields.items())
    said = f"{method} {path} HTTP/1.1\r\n{head}Content-Length: {len(body)}\r\n\r\n{body}"
    [answer] = send_raw(house.hub.url, said.encode("latin-1"), once=True)
    return answer


SOCKET = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version": "13",
}


@pytest.mark.parametrize("path", ["/sync", "/node", "/api/agents/agt_1/attach"])
def test_a_websocket_of_a_foreign_page_is_refused_before_the_upgrade(house: House, cookie: str, path: str) -> None:
    """BO-01"""
    for origin in ON_THE_WIRE:
        headers = {**SOCKET, "Cookie": cookie, "Origin": origin.format(port=house.hub.port)}
        assert send(house, "GET", path, headers).status == 403, origin
    assert send(house, "GET", path, {**SOCKET, "Cookie": cookie}).status == 403, "a cookie without an origin"
    twice = {"Origin": house.hub.url, "Origin*": house.hub.url}
    assert send(house, "GET", path, {**SOCKET, "Cookie": cookie, **twice}).status in (400, 403)
    bearer = {"Authorization": f"Bearer {house.tokens['operator']}"}
    assert send(house, "GET", path, {**SOCKET, **bearer, "Origin": "https://evil.test"}).status == 403


def test_a_websocket_of_our_page_or_of_a_program_is_taken(house: House, login: tuple[str, str]) -> None:
    """BO-01"""
    page = {**SOCKET, "Cookie": login[0], "Origin": house.hub.url}
    taken = send(house, "GET", "/sync", {**page, "Sec-WebSocket-Protocol": f"greenroom, greenroom.key.{login[1]}"})
    assert (taken.status, taken.headers["sec-websocket-protocol"]) == (101, "greenroom")
    for offered in ({}, {"Sec-WebSocket-Protocol": f"greenroom, greenroom.key.{login[1][:-1]}"}):
        assert send(house, "GET", "/sync", {**page, **offered}).status in (401, 403)
    bearer = {"Authorization": f"Bearer {house.tokens['operator']}"}
    assert send(house, "GET", "/sync", {**SOCKET, **bearer}).status == 101


def test_a_login_is_no_token_even_with_its_key(house: House, login: tuple[str, str], key: dict[str, str]) -> None:
    cookie = login[0].partition("=")[2]
    assert send(house, "GET", "/api/threads", {"Cookie": login[0], **key}).status == 200
    for token in (cookie, login[1], f"{cookie} {login[1]}", f"{cookie}{login[1]}"):
        for name, shown in (("Authorization", f"Bearer {token}"), ("X-Agent-Token", token)):
            assert send(house, "GET", "/api/threads", {name: shown}).status in (401, 429), name


@pytest.mark.parametrize("path", ["/api/threads", "/mcp", "/events", "/sse", "/login", "/health", "/"])
def test_a_call_of_a_foreign_page_is_refused_on_every_door(house: House, cookie: str, path: str) -> None:
    """BO-02"""
    for origin in ON_THE_WIRE:
        for proof in ({}, {"Cookie": cookie}, {"Authorization": f"Bearer {house.tokens['operator']}"}):
            answer = send(house, "GET", path, {**proof, "Origin": origin.format(port=house.hub.port)})
            assert answer.status == 403, (origin, proof)
            assert answer.json["code"] == "foreign_origin"


@pytest.mark.parametrize("path", ["/api/threads", "/mcp", "/events", "/sync", "/login", "/health", "/"])
def test_a_name_that_is_not_ours_is_not_answered(house: House, path: str) -> None:
    """BO-03"""
    port = house.hub.port
    names = [
        f"rebind.test:{port}",
        "rebind.test",
        f"127.0.0.1.nip.io:{port}",
        f"localhost.evil.test:{port}",
        f"127.0.0.1:{port}.evil.test",
        f"127.0.0.1:{port + 1}",
        "127.0.0.1",
        "",
        f"user@127.0.0.1:{port}",
        f"localhost.:{port}",
        f"0.0.0.0:{port}",
        f"[::ffff:127.0.0.1]:{port}",
        f"printer.local:{port}",
    ]
    bearer = {"Authorization": f"Bearer {house.tokens['operator']}"}
    for name in names:
        assert send(house, "GET", path, {"Host": name, **bearer}).status in (400, 421), name
        assert send(house, "GET", path, {"Host": name, **bearer, **SOCKET}).status in (400, 403), name


def state_of(house: House) -> str:
    """All that can be seen of the hub's data, but for its clock, and for the record of what was refused."""
    paths = ("/api/threads", "/api/agents", "/api/credentials", "/api/runs", "/api/asks", "/api/policy", "/api/servers")
    with house.client("operator") as client:
        seen = [client.get(path).json() for path in paths]
        for credential in seen[2]:
            credential.pop("last_used_at", None)
        done = client.get("/api/audit", params={"limit": 1000}).json()["events"]
        seen.append([event for event in done if event["type"] != "CallRefused"])
    return hashlib.sha256(json.dumps(seen, sort_keys=True).encode()).hexdigest()


SIMPLE: list[tuple[str, dict[str, str], str]] = [
    ("POST", {"Content-Type": "text/plain"}, '{"topic": "forged"}'),
    ("POST", {"Content-Type": "application/x-www-form-urlencoded"}, "topic=forged"),
    ("POST", {"Content-Type": "multipart/form-data; boundary=x"}, "--x--"),
    ("POST", {}, '{"topic": "forged"}'),
    ("GET", {"X-HTTP-Method-Override": "POST"}, ""),
    ("POST", {"X-HTTP-Method-Override": "DELETE", "Content-Type": "text/plain"}, "{}"),
]


@pytest.mark.parametrize(
    "path", ["/api/threads", "/api/login-codes", "/logout", "/mcp", "/messages", "/api/credentials"]
)
def test_a_forged_call_with_the_cookie_changes_nothing(house: House, cookie: str, path: str) -> None:
    """BO-04"""
    before = state_of(house)
    sites: list[dict[str, str]] = [
        {"Origin": "https://evil.test", "Sec-Fetch-Site": "cross-site"},
        {"Origin": "null", "Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "cross-site", "Referer": "https://evil.test/"},
        {"Sec-Fetch-Site": "same-site"},
        {},
    ]
    for method, headers, body in SIMPLE:
        for site in sites:
            answer = send(house, method, path, {"Cookie": cookie, **headers, **site}, body)
            if method != "GET":
                assert answer.status == 403, (method, headers, site, answer)
    assert state_of(house) == before


def test_our_own_page_may_use_the_cookie(house: House, cookie: str, key: dict[str, str]) -> None:
    """BO-04"""
    ours = {"Cookie": cookie, "Origin": house.hub.url, "Sec-Fetch-Site": "same-origin", **key}
    assert send(house, "GET", "/api/threads", ours).status == 200
    typed = {"Cookie": cookie, "Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}
    assert send(house, "GET", "/", typed).status == 200
    body = {**ours, "Content-Type": "application/json"}
    assert send(house, "POST", "/api/threads", body, '{"topic": "by our page"}').status == 201
    linked = {"Cookie": cookie, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert send(house, "GET", "/api/threads", linked).status == 403


@pytest.mark.parametrize("path", ["/api/threads", "/api/credentials", "/mcp", "/events", "/openapi.json", "/logout"])
def test_a_cookie_that_another_server_has_heard_is_good_for_nothing(
    house: House, login: tuple[str, str], path: str
) -> None:
    """BO-04: browsers send a cookie to every port of its host."""
    cookie, key = login
    value = cookie.partition("=")[2]
    page = {"Cookie": cookie, "Origin": house.hub.url, "Sec-Fetch-Site": "same-origin"}
    stolen: list[dict[str, str]] = [
        page,
        {**page, "X-Greenroom-Key": value},
        {**page, "X-Greenroom-Key": ""},
        {"Authorization": f"Bearer {value}"},
        {"X-Agent-Token": value},
        {"Authorization": f"Bearer {value}", "X-Greenroom-Key": key},
        {"Authorization": f"Bearer {value}", **page},
    ]
    before = state_of(house)
    for headers in stolen:
        for method in ("GET", "POST"):
            answer = send(house, method, path, {**headers, "Content-Type": "application/json"}, "{}")
            assert answer.status in (401, 404, 405, 429), (headers, answer)
    assert state_of(house) == before


def test_two_cookies_of_our_name_mean_to_log_in_again(house: House, cookie: str, key: dict[str, str]) -> None:
    """BO-04: a page on another port can set a second one."""
    name = cookie.partition("=")[0]
    for doubled in (f"{cookie}; {name}=x", f"{name}=x; {cookie}", f"{cookie}; {cookie}"):
        sent = {"Cookie": doubled, "Origin": house.hub.url, **key}
        assert json.loads(send(house, "GET", "/api/threads", sent).body)["code"] == "login_doubled"
        assert send(house, "GET", "/", {"Cookie": doubled}).status == 303


async def _old_login(data: Path) -> tuple[str, str]:
    """The name and the value of the cookie of a login that has no key."""
    async with open_hub(data, Settings(local_node=False)) as hub:
        return build_cookie_name(hub), await give(hub, "operator", browser=True)


def test_a_login_from_before_there_were_keys_leads_to_the_login(own_data: Path) -> None:
    name, old = asyncio.run(_old_login(own_data))
    with HubProcess(own_data) as running, httpx.Client(base_url=running.url) as browser:
        sent = {"Cookie": f"{name}={old}"}
        assert browser.get("/threads", headers=sent).headers["location"].startswith("/login")
        refused = browser.get("/api/me", headers=sent)
        assert (refused.status_code, refused.json()["code"]) == (401, "login_incomplete")
        assert browser.get("/api/me", headers={"Authorization": f"Bearer {old}"}).status_code == 401


def test_looking_twice_changes_nothing(house: House) -> None:
    """BO-04"""
    described = house.call("operator", "GET", "/openapi.json").json()["paths"]
    handles = {
        "thread_id": house.threads["open"],
        "message_id": house.messages["open"],
        "agent_id": house.agents["ada"],
    }
    before = state_of(house)
    looked = 0
    with house.client("operator") as client:
        for path, methods in described.items():
            if "get" in methods and path not in ("/events", "/sse", "/mcp", "/mcp/sse"):
                for name, value in handles.items():
                    path = path.replace(f"{{{name}}}", value)
                for method in ("GET", "GET", "HEAD"):
                    client.request(method, path, params={"timeout_ms": 0, "q": "x"})
                looked += 1
    assert looked > 20
    assert state_of(house) == before


@pytest.mark.parametrize("origin", ["https://evil.test", "null", "http://sub.localhost", "http://localhost:1"])
def test_no_other_origin_is_let_in_by_cors(house: House, cookie: str, origin: str) -> None:
    """BO-05"""
    preflight = {
        "Origin": origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization",
        "Access-Control-Request-Private-Network": "true",
    }
    for path in ("/api/threads", "/mcp", "/login", "/events", "/health", "/nowhere"):
        for method, headers in (("OPTIONS", preflight), ("GET", {"Origin": origin}), ("GET", {})):
            answer = send(house, method, path, {"Cookie": cookie, "Accept": "application/json", **headers})
            assert not [name for name in answer.headers if name.startswith("access-control-")], (path, method)
            assert answer.status >= 400 or not headers or path in ("/health", "/login")


def test_every_answer_bears_the_headers_that_keep_other_pages_out(house: House) -> None:
    """BO-06, BO-07"""
    bearer = {"Authorization": f"Bearer {house.tokens['operator']}"}
    big = {**bearer, "Content-Type": "application/json"}
    answers = {
        "json": send(house, "GET", "/api/threads", bearer),
        "login": send(house, "GET", "/login", {}),
        "front": send(house, "GET", "/", {}),
        "health": send(house, "GET", "/health", {}),
        "no credential": send(house, "GET", "/api/threads", {}),
        "wrong host": send(house, "GET", "/api/threads", {"Host": "evil.test"}),
        "foreign origin": send(house, "GET", "/api/threads", {"Origin": "https://evil.test"}),
        "not found": send(house, "GET", "/nowhere", bearer),
        "not allowed": send(house, "PATCH", "/api/threads", bearer),
        "bad request": send(house, "POST", "/api/threads", big, "{"),
        "forbidden": send(house, "GET", "/api/credentials", {"Authorization": f"Bearer {house.tokens['viewer']}"}),
        "too large": send(house, "POST", "/login", {}, "x" * 5000),
        "mcp": send(house, "GET", "/mcp", bearer),
        "head": send(house, "HEAD", "/api/agents", {**bearer, "Connection": "close"}),
    }
    for name, answer in answers.items():
        headers = answer.headers
        assert headers["x-content-type-options"] == "nosniff", name
        assert headers["cross-origin-resource-policy"] == "same-origin", name
        assert headers["cross-origin-opener-policy"] == "same-origin", name
        assert headers["x-frame-options"] == "DENY", name
        told = "same-origin" if name == "login" else "no-referrer"  # without any, the form would have no origin
        assert headers["referrer-policy"] == told, name
        policy = headers["content-security-policy"]
        assert "frame-ancestors 'none'" in policy, name
        assert "default-src 'none'" in policy, name
        assert "unsafe" not in policy, name
        assert "server" not in headers, name
        if answer.body:
            assert headers["content-type"].startswith(("application/json", "text/html", "text/plain")), name


PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
HOSTILE: list[tuple[str, bytes, str]] = [
    ("page.html", b"<script>alert(1)</script>", "text/html"),
    ("image.svg", b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>", "image/svg+xml"),
    ("doc.pdf", b"%PDF-1.4", "application/pdf"),
    ("doc.xml", b"<?xml version='1.0'?><x/>", "text/xml"),
    ("page.png", b"<html><script>alert(1)</script></html>", "image/png"),
    ("half.png", PNG[:12], "image/png"),
    ("polyglot.gif", b"GIF89a/*<script>*/=1;alert(1)//", "image/gif"),
    ("../../etc/passwd.png", b"root:x:0:0", "image/png"),
    ("empty.png", b"", "image/png"),
    ("photo.png.html", PNG, "text/html"),
]


@pytest.mark.parametrize(("name", "content", "mime"), HOSTILE)
def test_what_is_no_image_is_not_taken_in(house: House, name: str, content: bytes, mime: str) -> None:
    """BO-11"""
    answer = house.call("ada", "POST", "/api/upload/image", files={"file": (name, content, mime)})
    assert answer.status_code in (400, 413, 415), answer.text
    assert "Traceback" not in answer.text


def test_an_upload_is_served_without_power(house: House) -> None:
    """BO-11"""
    polyglot = PNG + b"<html><script>alert(document.domain)</script>"
    names = ["dot.png", "a\r\nSet-Cookie: x=1.png", 'q".png', "..%2f..%2fx.png", "\u202egnp.png"]
    for name in names:
        for content in (PNG, polyglot):
            made = house.call("ada", "POST", "/api/upload/image", files={"file": (name, content, "image/png")})
            if made.status_code >= 400:
                continue
            url = made.json()["url"]
            shown = house.call("bob", "GET", url)
            assert shown.status_code == 200
            assert shown.headers["content-type"] == "image/png"
            assert shown.headers["x-content-type-options"] == "nosniff"
            assert "sandbox" in shown.headers["content-security-policy"]
            assert "default-src 'none'" in shown.headers["content-security-policy"]
            assert "content-disposition" in shown.headers
            assert "set-cookie" not in shown.headers
            assert house.call(None, "GET", url).status_code in (401, 429)
    plain = house.call("ada", "POST", "/api/upload/image", files={"file": ("dot.png", PNG, "image/png")})
    assert plain.status_code == 200, plain.text


def test_a_configured_name_is_answered_and_no_other(own_data: Path) -> None:
    """BO-03"""
    with HubProcess(own_data, {"GREENROOM_ALLOWED_HOSTS": "hub.example,[fd00::1]:8443"}) as hub:

        def status(host: str, **headers: str) -> int:
            with httpx.Client(base_url=hub.url) as client:
                return client.get("/login", headers={"Host": host, **headers}).status_code

        assert status("hub.example") == 200
        assert status(f"HUB.example:{hub.port}") == 200
        assert status("[fd00::1]:8443") == 200
        assert status("hub.example", Origin="https://hub.example") == 200
        for host in ("hub.example.evil.test", "evil.hub.example", "[fd00::1]", "hub.example:1"):
            assert status(host) == 421


def test_a_page_cannot_be_anonymous(own_data: Path) -> None:
    """BO-04"""
    with HubProcess(own_data, args=("--allow-anonymous-local",)) as hub:

        def threads(method: str = "GET", **headers: Any) -> int:
            with httpx.Client(base_url=hub.url) as client:
                return client.request(method, "/api/threads", headers=headers).status_code

        assert threads() == 200
        for headers in (
            {"Origin": hub.url},
            {"Origin": "null"},
            {"Cookie": "a=b"},
            {"Referer": "https://evil.test/"},
            {"Sec-Fetch-Site": "cross-site"},
        ):
            assert threads(**headers) in (401, 403), headers
        assert threads("POST", **{"Content-Type": "text/plain"}) == 401
        assert threads("DELETE") in (401, 405)
