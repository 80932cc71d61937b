"""What every tool of the hub declares, and that the users' guide tells of all of them."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from greenroom.doors.mcp.catalog import OFFER
from greenroom.doors.mcp.tools import TOOLS
from greenroom.doors.mcp.tools.tool_wrapper import WORDS
from greenroom.link.hub_tools import HUB_TOOLS
from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests import ROOT

GUIDE = (ROOT / "docs/users/mcp.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_tool_says_when_to_use_it_and_what_each_argument_means(tool: Any) -> None:
    assert re.fullmatch(r"[a-z]+(_[a-z]+)+", tool.name)
    assert 20 <= len(tool.description) <= 400
    assert tool.schema["additionalProperties"] is False
    assert "$ref" not in str(tool.schema)
    for name, field in tool.schema["properties"].items():
        assert "description" in field or "enum" in field or field["type"] == "boolean", name
    assert "agent_id" not in tool.schema["required"] or tool.name == "mail_send"
    assert "token" not in tool.schema["required"]


def test_the_tools_that_may_take_minutes_are_known() -> None:
    assert {tool.name for tool in TOOLS if tool.waits} >= {"msg_wait", "mail_wait"}


def test_what_a_model_must_read_is_short() -> None:
    shown = [{"name": t.name, "description": t.description, "inputSchema": t.schema} for t in TOOLS]
    assert len(json.dumps(shown)) / len(TOOLS) < 800


def test_the_policy_knows_every_tool_by_its_name_and_no_other() -> None:
    assert {tool.name for tool in TOOLS} == HUB_TOOLS


def test_the_guide_lists_every_tool_once_and_no_other() -> None:
    assert re.findall(r"^\| `([a-z_]+)` \|", GUIDE, re.MULTILINE) == [tool.name for tool in TOOLS]


def test_the_guide_names_every_resource_and_prompt() -> None:
    for resource in OFFER.resources:
        assert f"`{resource.uri}`" in GUIDE
    for template in OFFER.templates:
        assert template.uri_template.rpartition("/")[2] in GUIDE
    for prompt in OFFER.prompts:
        assert f"`{prompt.name}`" in GUIDE


def test_the_guide_tells_what_to_do_about_every_refusal_that_bears_the_bus_own_words() -> None:
    told = {"Template not found", "MESSAGE_NOT_FOUND", "query must not be empty"}  # they say it themselves
    assert all(f"`{words}`" in GUIDE for words in set(WORDS.values()) - told)


def test_the_configurations_in_the_guide_can_be_read_by_their_programs() -> None:
    found = [json.loads(block) for block in blocks("json")]
    assert len(found) == 6
    (codex,) = [tomllib.loads(block) for block in blocks("toml")]
    assert codex["mcp_servers"]["greenroom"]["url"].endswith("/mcp")


def test_the_program_in_the_guide_runs(hub: HubProcess, tmp_path: Path) -> None:
    token = tmp_path / "agent.token"
    made = [sys.executable, "-m", "greenroom", "token", "create", "--name", "guide", "--out", str(token)]
    subprocess.run([*made, "--data", str(hub.data)], check=True, capture_output=True, timeout=WAIT_S)
    (program,) = blocks("python")
    environment = {**os.environ, "GREENROOM_TOKEN": token.read_text().strip()}
    ran = subprocess.run(
        [sys.executable, "-c", program.replace("http://127.0.0.1:39765", hub.url)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=WAIT_S,
    )
    assert ran.returncode == 0, ran.stderr
    assert re.fullmatch(r"posted as my program \(none\) with seq \d+\n", ran.stdout)
