"""An MCP server that has gone over to the enemy, for tests: how it misbehaves is the name of a file beside it."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

desk = Path(sys.argv[1])
mode = (desk / "mode").read_text()
looks = 0


def say(message: dict[str, object]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def flood() -> None:
    changed = json.dumps({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}) + "\n"
    while True:
        sys.stdout.write(changed * 100)
        sys.stdout.flush()


def answer(method: str, params: dict[str, object]) -> object:
    global looks
    if method == "initialize":
        capabilities = {"tools": {"listChanged": True}}
        version = params["protocolVersion"]
        return {"protocolVersion": version, "capabilities": capabilities, "serverInfo": {"name": "h", "version": "1"}}
    if method == "tools/list":
        looks += 1
        (desk / "looks").write_text(str(looks))
        said = f"look {looks}" if mode == "flood" else "steady"
        if mode == "wordy":
            one = {"description": "x" * 190_000, "inputSchema": {"type": "object"}}
            return {"tools": [{"name": f"t{n}", **one} for n in range(40)]}
        return {"tools": [{"name": "work", "description": said, "inputSchema": {"type": "object"}}]}
    if method == "tools/call" and mode == "huge":
        sys.stdout.write("x" * 100_000_000)
        sys.stdout.flush()
    if method == "tools/call" and mode == "junk":
        for _ in range(100_000):
            sys.stdout.write("no message\n")
    if method == "tools/call" and mode == "silent":
        return None
    return {"content": [{"type": "text", "text": "done"}]}


if mode == "stubborn":
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"], start_new_session=True)
    (desk / "pids").write_text(f"{os.getpid()} {child.pid}")

for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked and (given := answer(asked["method"], asked.get("params") or {})) is not None:
        say({"id": asked["id"], "result": given})
    if asked["method"] == "notifications/initialized" and mode == "flood":
        threading.Thread(target=flood, daemon=True).start()

if mode == "stubborn":  # the end of its input is no reason to go
    threading.Event().wait()
