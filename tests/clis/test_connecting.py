"""What the real CLIs make of the hub when they connect."""

import json

import pytest

from tests.clis.conftest import OPENERS, Stage


@pytest.mark.parametrize("name", OPENERS)
def test_a_cli_sees_the_tools_of_the_hub(stage: Stage, name: str) -> None:
    cli = stage.start(name, "TOOLS", stage.token())
    assert cli.wait() == 0
    answer = cli.get_answer() or ""
    for tool in ("bus_connect", "msg_post", "msg_wait", "agent_register"):
        assert f"hub__{tool}" in answer or f"hub::{tool}" in answer


def test_claude_finds_tools_that_it_was_shown_by_name_only(stage: Stage) -> None:
    cli = stage.open("claude", stage.token())
    config = cli.home / "mcp.json"
    servers = json.loads(config.read_text())
    del servers["mcpServers"]["hub"]["alwaysLoad"]
    config.write_text(json.dumps(servers))
    cli.start("""
        USE_TOOL ToolSearch {"query": "select:mcp__hub__bus_connect", "max_results": 1}
        USE_TOOL bus_connect {"thread_name": "found"}
        SAY in {{topic}}
    """)
    assert cli.wait() == 0
    assert cli.get_answer() == "in found"


def test_claude_says_that_a_wrong_token_is_refused(stage: Stage) -> None:
    cli = stage.start("claude", "TOOLS", "gr_agent_wrong")
    assert cli.wait() == 0
    shown = next(event["mcp_servers"] for event in cli.read_events() if "mcp_servers" in event)
    assert [server["status"] for server in shown] == ["failed"]


def test_codex_says_that_a_wrong_token_is_refused(stage: Stage) -> None:
    cli = stage.start("codex", "TOOLS", "gr_agent_wrong")
    assert cli.wait() == 1
    assert "required MCP servers failed to initialize: hub" in cli.tail()
    assert "Auth required" in cli.tail()
