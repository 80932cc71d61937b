"""Codex: over its app server, or through its ACP adapter."""

import json
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
    build_plain_entry,
    make_profile,
)
from greenroom.runtimes.agents.codex import manifest
from greenroom.runtimes.agents.codex.adapter import ADAPTER
from greenroom.runtimes.agents.codex.options import CodexOptions
from greenroom.runtimes.model_script import FAKE_SCRIPT, ModelWiring
from greenroom.runtimes.prompt_text import PromptQuoting

if TYPE_CHECKING:
    from greenroom.runtimes.contract import Driver

_CONFIG = """\
model_provider = "fake"

[model_providers.fake]
name = "Fake"
base_url = "{model_url}/v1"
env_key = "FAKE_API_KEY"
wire_api = "responses"
"""


def _load_driver() -> "Driver":
    from greenroom.runtimes.agents.codex.driver import CodexDriver

    return CodexDriver()


def _wire_model(home: Path, model_url: str) -> ModelWiring:
    files = {".codex/config.toml": _CONFIG.format(model_url=model_url)}
    return ModelWiring(env=_build_env(home), model="fake-model", files=files)


def _wire_adapter(home: Path, model_url: str) -> ModelWiring:
    provider = {"name": "Fake", "base_url": f"{model_url}/v1", "env_key": "FAKE_API_KEY", "wire_api": "responses"}
    config = {"model_provider": "fake", "model_providers": {"fake": provider}, "analytics": {"enabled": False}}
    (home / ".codex").mkdir(parents=True, exist_ok=True)
    return ModelWiring(env={"CODEX_CONFIG": json.dumps(config), **_build_env(home)}, model="fake-model")


def _build_env(home: Path) -> dict[str, str]:
    """Codex keeps its sandbox program in CODEX_HOME, unless that is below TMPDIR."""
    folder = home / "tmp"
    folder.mkdir(parents=True, exist_ok=True)
    return {"FAKE_API_KEY": "fake", "CODEX_HOME": str(home / ".codex"), "TMPDIR": str(folder)}


def _build_entry(command: list[str]) -> JsonObject:
    return {**build_plain_entry(command), "tool_timeout_sec": 600}  # it does not take progress for life


def _read_line(line: JsonObject) -> ConversationLine:
    """Read the working directory from the first line, and the person's words from their messages."""
    match line:
        case {"type": "session_meta", "payload": {"cwd": str(directory)}}:
            return ConversationLine(directory=directory)
        case {"type": "response_item", "payload": {"type": "message", "role": "user", "content": found}}:
            return ConversationLine(said=found)
    return ConversationLine()


CODEX = AgentCli(
    name="codex",
    display_name="Codex",
    program=manifest.COMMAND[0],
    drivers=(
        DriverInfo(
            name=manifest.NAME,
            load_own_driver=_load_driver,
            quoting=manifest.QUOTING,
            options=CodexOptions,
            wire_model=_wire_model,
        ),
        DriverInfo(
            name=ADAPTER.name,
            manifest=ADAPTER,
            quoting=PromptQuoting(skills=True),
            # It asks only for what leaves its sandbox.
            script=msgspec.structs.replace(FAKE_SCRIPT, command="USE_TOOL bash! COMMAND\nSAY TEXT"),
            wire_model=_wire_adapter,
        ),
    ),
    profile=make_profile(manifest.NAME, "Codex", "OpenAI"),
    tools={
        "read": "view_image",
        "write": "apply_patch fileChange",
        "execute": "shell local_shell exec_command write_stdin commandExecution",
        "network": "webSearch web_search",
        "plan": "update_plan plan collabAgentToolCall sleep",
    },
    own_paths=(".codex", "AGENTS.override.md"),
    mcp_config=McpConfig(
        file=".codex/config.toml",
        key="mcp_servers",
        build_entry=_build_entry,
        moved_by=("CODEX_HOME", "config.toml"),
    ),
    conversations=ConversationFiles(
        folder=".codex", variable="CODEX_HOME", pattern="sessions/*/*/*/rollout-*.jsonl", read_line=_read_line
    ),
)
