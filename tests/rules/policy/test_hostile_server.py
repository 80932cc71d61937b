"""An MCP server behind the hub that has gone over to the enemy: it harms nobody but itself."""

import contextlib
import gzip
import json
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import psutil
import pytest

from greenroom.testing.hub_process import HubProcess, wait_until
from tests.rules.policy.test_gateway import Notebook, text, told

SERVER = str(Path(__file__).with_name("hostile_server.py"))


@pytest.fixture
def book(hub: HubProcess, api: httpx.Client, tmp_path: Path) -> Notebook:
    return Notebook(hub, api, tmp_path / "desk")


def turn(book: Notebook, mode: str, **fields: object) -> None:
    """Register the server in this mode; its tool needs no person."""
    (book.desk / "mode").write_text(mode)
    book.register(command=[sys.executable, SERVER, str(book.desk)], risks={"*": "low"}, **fields)


def memory_kb(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])


def test_a_flood_of_changed_tools_is_looked_at_now_and_then(book: Notebook) -> None:
    turn(book, "flood")
    wait_until(lambda: book.states() == {"work": "held"} or book.states() == {"work": "new"})
    began = time.monotonic()
    for _ in range(100):
        assert book.api.get("/api/servers").status_code == 200, "the hub has time for others"
    took_s = time.monotonic() - began
    looks = int((book.desk / "looks").read_text())
    assert looks <= 3 + took_s, f"{looks} looks in {took_s:.1f} s"


def living(pids: set[int]) -> set[int]:
    found = {process.pid: process.info["status"] for process in psutil.process_iter(["status"])}
    return {pid for pid in pids if found.get(pid, psutil.STATUS_ZOMBIE) != psutil.STATUS_ZOMBIE}


@pytest.mark.parametrize("ends", ["killed", "stopped"])
def test_no_server_that_ignores_its_end_is_left_behind_by_a_hub_that_ends(book: Notebook, ends: str) -> None:
    turn(book, "stubborn")
    book.until_up("work")
    server, child = (int(pid) for pid in (book.desk / "pids").read_text().split())
    assert living({server, child}) == {server, child}
    book.hub.kill() if ends == "killed" else book.hub.stop()
    wait_until(lambda: not living({server}))
    if ends == "stopped":
        assert not living({child})
    book.restart()
    book.until_up("work")
    assert not living({server, child}), "what it has started is ended by the next hub"


@pytest.mark.parametrize("mode", ["huge", "junk"])
def test_what_is_too_much_ends_the_connection_and_costs_no_memory(book: Notebook, hub: HubProcess, mode: str) -> None:
    turn(book, mode)
    book.until_up("work")
    before = memory_kb(hub.pid)
    is_error, said = book.play(book.agent(), lambda client: text(client, "book__work"))
    assert (is_error, said.startswith(told("server_failed", server="book", error=""))) == (True, True), said
    assert memory_kb(hub.pid) - before < 80_000
    assert book.api.get("/api/servers").status_code == 200


def test_tools_in_too_many_words_are_not_taken(book: Notebook) -> None:
    turn(book, "wordy")
    wait_until(lambda: "described in more than" in (book.shown()["server"].get("error") or ""))
    assert book.states() == {}


def test_a_server_that_never_answers_is_waited_for_as_long_as_was_said(book: Notebook) -> None:
    turn(book, "silent", timeout_s=1)
    book.until_up("work")
    is_error, said = book.play(book.agent(), lambda client: text(client, "book__work"))
    assert (is_error, said.startswith(told("server_failed", server="book", error=""))) == (True, True), said


class Remote(BaseHTTPRequestHandler):
    """The same over HTTP: what it answers to a call is packed, or has no end."""

    protocol_version = "HTTP/1.1"
    packed = False

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "id" not in asked:
            self._send(202, b"")
            return
        result: dict[str, object] = {"tools": [{"name": "work", "inputSchema": {"type": "object"}}]}
        if asked["method"] == "initialize":
            version = asked["params"]["protocolVersion"]
            told = {"serverInfo": {"name": "h", "version": "1"}, "capabilities": {"tools": {}}}
            result = {"protocolVersion": version, **told}
        if asked["method"] != "tools/call":
            self._send(200, json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}).encode())
        elif self.packed:
            self._send(200, gzip.compress(b" " * 100_000_000), "gzip")
        else:
            self._send(200, b"", length=10**12)
            with contextlib.suppress(OSError):
                while True:
                    self.wfile.write(b" " * 1_000_000)

    def do_GET(self) -> None:
        self._send(405, b"")

    def _send(self, status: int, body: bytes, encoding: str = "identity", length: int | None = None) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-encoding", encoding)
        self.send_header("content-length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(params=["packed", "endless"])
def remote(request: pytest.FixtureRequest) -> Iterator[str]:
    kind = type("Kind", (Remote,), {"packed": request.param == "packed"})
    server = ThreadingHTTPServer(("127.0.0.1", 0), kind)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/mcp"
    finally:
        server.shutdown()
        server.server_close()


def test_an_answer_over_http_that_is_packed_or_has_no_end_is_not_taken(
    book: Notebook, hub: HubProcess, remote: str
) -> None:
    book.register(command=[], url=remote, risks={"*": "low"}, timeout_s=60)
    book.until_up("work")
    before = memory_kb(hub.pid)
    is_error, _ = book.play(book.agent(), lambda client: text(client, "book__work"))
    assert is_error
    assert memory_kb(hub.pid) - before < 80_000
