"""Text that somebody else wrote, in logs, terminals, queries and paths: IN-16 to IN-18."""

import json
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from greenroom.testing.raw_http import send_raw
from greenroom.testing.timeouts import WAIT_S
from tests.security.conftest import House

FORGED = "\x1b[2J\x1b]0;owned\x07\r\n2026-01-01 CRITICAL greenroom: hacked\u2028\u0085\u202e\x9b31m\0 end"


def greenroom(house: House, *args: str) -> str:
    """What a command prints."""
    argv = [sys.executable, "-m", "greenroom", *args, "--data", str(house.hub.data)]
    done = subprocess.run(argv, capture_output=True, timeout=WAIT_S)
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    return (done.stdout + done.stderr).decode()


def assert_harmless(printed: str, where: str) -> None:
    """No character in it moves the cursor, changes colours, or reorders text."""
    bad = {
        c
        for c in printed
        if (ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160 or c in "\u2028\u2029\u202e\u200b"
    }
    assert not bad, (where, bad, printed[-500:])


def test_the_command_line_prints_foreign_text_without_its_powers(house: House) -> None:
    """IN-16"""
    made = house.call("operator", "POST", "/api/threads", json={"topic": f"topic {FORGED}"})
    thread = made.json().get("id", house.threads["open"]) if made.status_code == 201 else house.threads["open"]
    posted = house.call("ada", "POST", f"/api/threads/{thread}/messages", json={"content": FORGED + "x" * 100_000})
    assert posted.status_code in (201, 400)
    house.call("ada", "PUT", f"/api/agents/{house.agents['ada']}", json={"description": FORGED})
    house.call("operator", "POST", "/api/credentials", json={"kind": "viewer", "name": f"guest {FORGED}"})
    for args in (
        ("thread", "list"),
        ("thread", "show", thread),
        ("agent", "list"),
        ("token", "list"),
        ("audit", "list"),
        ("check",),
    ):
        printed = greenroom(house, *args)
        assert_harmless(printed, " ".join(args))
        assert not [line for line in printed.splitlines() if line.startswith("2026-01-01 CRITICAL")], args
    for args in (("thread", "list", "--json"), ("thread", "show", thread, "--json"), ("agent", "list", "--json")):
        printed = greenroom(house, *args)
        assert_harmless(printed, " ".join(args))
        json.loads(printed)


def test_nothing_that_is_sent_forges_a_line_of_the_log(house: House) -> None:
    """IN-16"""
    line = "2026-01-01 00:00:00,000 CRITICAL greenroom: forged"
    with house.client("operator") as client:
        for path in (f"/api/%0d%0a{line}".replace(" ", "%20"), f"/api/search?q=%0a{line}".replace(" ", "%20")):
            client.get(path)
        client.post("/mcp", content=f"\n{line}\n".encode(), headers={"content-type": "application/json"})
        client.post("/api/threads", json={"topic": f"x\n{line}"})
        client.post("/api/agents/register", json={"ide": f"x\n{line}", "model": "y"})
        client.post("/login", content=f"code=\n{line}")
    for header in ("X", "User-Agent", "Origin", "Cookie", "Authorization", "Idempotency-Key"):
        said = f"GET /api/threads HTTP/1.1\r\nHost: 127.0.0.1:{house.hub.port}\r\n{header}: a\x0b{line}\r\n\r\n"
        send_raw(house.hub.url, said.encode(), once=True)
    assert "forged" not in house.hub.stderr


QUERIES = [
    "'",
    '"',
    '"unbalanced',
    "a OR b",
    "NEAR(a b)",
    "NEAR(",
    "body:said",
    "said*",
    "^said",
    "-said",
    "said AND",
    "{a b}: c",
    "%",
    "_",
    "'; DROP TABLE events; --",
    "said\0",
    "\ufeff",
    "(((((((((",
    "x" * 5000,
    " ".join(["word"] * 1000),
    "\u4f60\u597d",
    "",
    " ",
]


@pytest.mark.parametrize("query", QUERIES)
def test_a_search_takes_whatever_is_typed(house: House, query: str) -> None:
    """IN-17"""
    process = psutil.Process(house.hub.pid)
    before_s = sum(process.cpu_times()[:2])
    answer = house.call("confined", "GET", "/api/search", params={"q": query})
    assert answer.status_code in (200, 400), answer.text
    assert sum(process.cpu_times()[:2]) - before_s < 5
    assert house.messages["closed_room"] not in answer.text
    assert house.messages["mailbox"] not in answer.text


@pytest.mark.parametrize(
    "query",
    [
        "limit=-1",
        "limit=10000000000000000000",
        "limit=1.5",
        "limit=x",
        "limit=",
        "after_seq=-1",
        "after_seq=99999999999999999999999",
        "after_seq=x",
        "before_seq=-1",
        "offset=1000000000000000000",
        "order=seq;--",
        "before=garbage",
        "before=9999-99-99",
        "before=%00",
        "cursor=%ff%fe",
        "status=%27",
        "status=nonsense",
        "include_archived=maybe",
        "priority=%22",
        "after_seq=%ed%a0%80",
        "limit=1&limit=2",
        "%00=%00",
        "=&=&=",
    ],
)
def test_a_page_cannot_be_asked_for_in_a_way_that_fails(house: House, query: str) -> None:
    """IN-17"""
    thread = house.threads["open"]
    for path in (
        "/api/threads",
        f"/api/threads/{thread}/messages",
        f"/api/threads/{thread}/wait",
        "/api/search",
        "/api/audit",
        "/api/agents",
        "/api/runs",
    ):
        extra = "&timeout_ms=0" if path.endswith("wait") else "&q=said" if path.endswith("search") else ""
        answer = house.call("operator", "GET", f"{path}?{query}{extra}")
        assert answer.status_code in (200, 400, 404), (path, answer.text)
        assert len(answer.content) < 200_000


PATHS = [
    "..%2f..%2foperator.token",
    "%2e%2e/%2e%2e/operator.token",
    "..%5c..%5coperator.token",
    "....//....//operator.token",
    "%2e%2e%2foperator.token",
    "..%252f..%252foperator.token",
    "..%c0%af..%c0%afoperator.token",
    "%00",
    "operator.token%00.png",
    "%2fetc%2fpasswd",
    "/etc/passwd",
    "file:///etc/passwd",
    "~root",
    "upl_01nothing",
    "a" * 3000,
]


@pytest.mark.parametrize("path", PATHS)
def test_a_path_leads_nowhere_but_to_what_the_hub_keeps(house: House, path: str) -> None:
    """IN-18"""
    token = house.tokens["operator"]
    for prefix in (
        "/api/uploads/",
        "/api/threads/",
        "/api/messages/",
        "/api/agents/",
        "/api/templates/",
        "/",
        "/static/",
    ):
        for suffix in ("", "/export", "/messages"):
            said = (
                f"GET {prefix}{path}{suffix} HTTP/1.1\r\nHost: 127.0.0.1:{house.hub.port}\r\n"
                f"Authorization: Bearer {token}\r\nConnection: close\r\n\r\n"
            )
            [answer] = send_raw(house.hub.url, said.encode(), once=True)
            assert answer.status in (400, 404, 405), (prefix, path, suffix, answer)
            assert token.encode() not in answer.body
            assert b"root:" not in answer.body


def test_a_link_among_the_files_is_not_served(house: House, tmp_path: Path) -> None:
    """IN-18"""
    secret = tmp_path / "secret"
    secret.write_text("the hub's own")
    long = house.call(
        "operator", "POST", f"/api/threads/{house.threads['open']}/messages", json={"content": "l" * 50_000}
    )
    [kept] = [p for p in (house.hub.data / "files").rglob("*") if p.is_file() and p.read_bytes() == b"l" * 50_000]
    kept.rename(tmp_path / "moved")
    kept.symlink_to(secret)
    try:
        shown = house.call("operator", "GET", f"/api/messages/{long.json()['id']}")
        assert "the hub's own" not in shown.text
    finally:
        kept.unlink()
        (tmp_path / "moved").rename(kept)


def test_a_body_that_poses_as_an_upload_is_none(house: House) -> None:
    """IN-18"""
    bodies = [
        {"file": "/etc/passwd"},
        {"filepath": str(house.hub.data / "operator.token"), "filename": "x.png", "mimetype": "image/png"},
    ]
    for body in bodies:
        answer = house.call("operator", "POST", "/api/upload/image", json=body)
        assert answer.status_code in (400, 415, 422), answer.text
    form = b'--x\r\nContent-Disposition: form-data; name="file"; filename="/etc/passwd"\r\n\r\n/etc/passwd\r\n--x--\r\n'
    headers = {"content-type": "multipart/form-data; boundary=x"}
    answer = house.call("operator", "POST", "/api/upload/image", content=form, headers=headers)
    assert answer.status_code in (400, 415), answer.text
