"""`greenroom mcp` finds the hub and a credential by itself, and never hands an agent the operator's."""

import json
import stat
import subprocess
import sys
from typing import Any

from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests.cli.shell import agent, done, environment

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
TOOLS = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}


def converse(hub: HubProcess, *args: str) -> dict[int, Any]:
    """Greet the server, ask for its tools, and close; the answers by their ids."""
    started = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    process = subprocess.Popen(
        [sys.executable, "-m", "greenroom", "mcp", *args],
        env=environment(hub.data),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    answers: dict[int, Any] = {}
    with process:
        for message in (HELLO, started, TOOLS):
            process.stdin.write(json.dumps(message) + "\n")
            process.stdin.flush()
            if "id" in message:
                answer = json.loads(process.stdout.readline())
                answers[answer["id"]] = answer
        process.stdin.close()
        assert process.wait(WAIT_S) == 0
    return answers


def test_an_agent_gets_a_credential_for_agents_made_once(hub: HubProcess) -> None:
    for _ in range(2):
        answers = converse(hub)
        names = {tool["name"] for tool in answers[2]["result"]["tools"]}
        assert {"msg_post", "msg_wait", "agent_register"} <= names
    file = hub.data / "mcp.token"
    assert file.read_text().startswith("gr_agent_")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    credentials = done(hub.data, "token", "list", "--json").json
    assert [c["kind"] for c in credentials if c["name"] == "greenroom mcp"] == ["agent"]


def test_a_credential_that_is_given_is_the_one_that_is_used(hub: HubProcess) -> None:
    file = agent(hub, "Ann")
    answers = converse(hub, "--token-file", str(file), "--port", hub.url.rpartition(":")[2], "--lang", "zh-CN")
    assert answers[1]["result"]["serverInfo"]["name"]
    assert not (hub.data / "mcp.token").exists()
