"""OpenCode, on a server of its own to which a person can attach."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from greenroom.json_types import JsonObject
from greenroom.link.profile_definition import ProfileDefinition
from greenroom.runtimes.agent_cli import AgentCli, DriverInfo, McpConfig
from greenroom.runtimes.agents.opencode import manifest
from greenroom.runtimes.agents.opencode.options import OpencodeOptions
from greenroom.runtimes.model_script import ModelWiring
from greenroom.sentences import build_sentence

if TYPE_CHECKING:
    from greenroom.runtimes.contract import Driver


def _load_driver() -> "Driver":
    from greenroom.runtimes.agents.opencode.driver import OpencodeDriver

    return OpencodeDriver()


def _wire_model(home: Path, model_url: str) -> ModelWiring:
    limit = {"context": 100_000, "output": 8_000}
    known = {"fake-model": {"limit": limit, "cost": {"input": 1, "output": 2}, "temperature": True}}
    options = {"baseURL": f"{model_url}/v1", "apiKey": "fake"}
    config = {
        "small_model": "fake/fake-model",
        "enabled_providers": ["fake"],
        "provider": {"fake": {"npm": "@ai-sdk/openai-compatible", "options": options, "models": known}},
    }
    env = {manifest.CONFIG: json.dumps(config), "OPENCODE_DISABLE_MODELS_FETCH": "1"}
    return ModelWiring(env=env, model="fake/fake-model")


def _build_entry(command: list[str]) -> JsonObject:
    return {"type": "local", "command": command, "enabled": True}


OPENCODE = AgentCli(
    name="opencode",
    display_name="OpenCode",
    program=manifest.COMMAND[0],
    drivers=(
        DriverInfo(
            name=manifest.NAME,
            load_own_driver=_load_driver,
            quoting=manifest.QUOTING,
            options=OpencodeOptions,
            untold=frozenset(),
            lists_models=True,
            wire_model=_wire_model,
        ),
    ),
    profile=ProfileDefinition(
        driver=manifest.NAME,
        display_name="OpenCode",
        description=build_sentence("profile_about.opencode"),
        type="builtin",
    ),
    tools={
        "read": "read list ls lsp",
        "search": "glob grep",
        "write": "edit write patch apply_patch multiedit",
        "execute": "bash",
        "network": "webfetch websearch codesearch",
        "plan": "todowrite todoread task",
    },
    own_paths=(".opencode", "opencode.json", "opencode.jsonc"),
    mcp_config=McpConfig(
        file=".config/opencode/opencode.json",
        key="mcp",
        build_entry=_build_entry,
        moved_by=("XDG_CONFIG_HOME", "opencode/opencode.json"),
    ),
)
