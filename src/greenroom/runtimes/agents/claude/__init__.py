"""Claude Code: over its JSON stream with the control protocol, in its own terminal, or through its ACP adapter."""

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from greenroom.json_types import JsonObject
from greenroom.runtimes.agent_cli import (
    AgentCli,
    ConversationFiles,
    ConversationLine,
    DriverInfo,
    McpConfig,
    build_stdio_entry,
    make_profile,
)
from greenroom.runtimes.agents.claude import manifest
from greenroom.runtimes.agents.claude.adapter import ADAPTER
from greenroom.runtimes.agents.claude.options import ClaudeOptions
from greenroom.runtimes.agents.claude.own_rules import has_own_rules
from greenroom.runtimes.model_script import FAKE_SCRIPT, ModelWiring

if TYPE_CHECKING:
    from greenroom.runtimes.contract import Driver


def _load_driver() -> "Driver":
    from greenroom.runtimes.agents.claude.driver import ClaudeDriver

    return ClaudeDriver()


def _wire_model(home: Path, model_url: str) -> ModelWiring:
    return ModelWiring(env={"ANTHROPIC_BASE_URL": model_url, "ANTHROPIC_API_KEY": "sk-ant-fake"})


def _wire_adapter(home: Path, model_url: str) -> ModelWiring:
    return ModelWiring(env={**_wire_model(home, model_url).env, **manifest.ENV})


def _read_line(line: JsonObject) -> ConversationLine:
    """Each line says where it was; what the program itself adds is marked."""
    directory = line.get("cwd")
    match line:
        case {"isMeta": True}:
            said = None
        case {"type": "user", "message": {"content": found}}:
            said = found
        case _:
            said = None
    return ConversationLine(directory=directory if isinstance(directory, str) else "", said=said)


CLAUDE = AgentCli(
    name="claude",
    display_name="Claude Code",
    program=manifest.COMMAND[0],
    drivers=(
        DriverInfo(
            name=manifest.NAME,
            load_own_driver=_load_driver,
            quoting=manifest.QUOTING,
            attached_quoting=manifest.ATTACHED_QUOTING,
            options=ClaudeOptions,
            script=msgspec.structs.replace(FAKE_SCRIPT, sees_steering=False),
            wire_model=_wire_model,
        ),
        DriverInfo(name=ADAPTER.name, manifest=ADAPTER, quoting=manifest.QUOTING, wire_model=_wire_adapter),
    ),
    profile=make_profile(manifest.NAME, "Claude Code", "Anthropic"),
    tools={
        "read": "Read NotebookRead LS ReadMcpResourceTool ListMcpResourcesTool",
        "search": "Glob Grep ToolSearch",
        "write": "Edit MultiEdit Write NotebookEdit",
        "execute": "Bash PowerShell Monitor",
        "network": "WebFetch WebSearch",
        "plan": "TodoWrite TodoRead Task Agent EnterPlanMode BashOutput TaskOutput TaskCreate TaskGet TaskList"
        " TaskUpdate SendMessage",
    },
    own_paths=(".claude", "CLAUDE.md", "CLAUDE.local.md"),
    skills=(".claude/skills",),
    mcp_config=McpConfig(
        file=".claude.json",
        key="mcpServers",
        build_entry=build_stdio_entry,
        moved_by=("CLAUDE_CONFIG_DIR", ".claude.json"),
    ),
    conversations=ConversationFiles(
        folder=".claude", variable="CLAUDE_CONFIG_DIR", pattern="projects/*/*.jsonl", read_line=_read_line
    ),
    has_own_rules=has_own_rules,
)
