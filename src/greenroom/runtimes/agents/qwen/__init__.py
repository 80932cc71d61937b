"""Qwen Code, over ACP."""

import json
from pathlib import Path

from greenroom.runtimes.acp_manifest import AcpManifest, ValueInjection
from greenroom.runtimes.agent_cli import AgentCli, DriverInfo, McpConfig, build_plain_entry, make_profile
from greenroom.runtimes.model_script import ModelWiring
from greenroom.runtimes.prompt_text import PromptQuoting

_SETTINGS = {
    "permissions": {
        "allow": ["mcp__greenroom__*"],
        "ask": ["run_shell_command", "monitor", "edit", "write_file", "notebook_edit", "web_fetch", "web_search"],
    },
    "tools": {"toolSearch": {"enabled": False}},
}
"""The hub judges its callers itself; all else is asked, whatever a folder's own settings allow. A tool that has to be
searched for first is called through another one, whose name is all that one would be asked about."""
_MANIFEST = AcpManifest(
    name="qwen",
    command=["qwen", "--acp"],
    # Otherwise it starts itself a second time, and sends the model its first prompt before it knows the hub's tools.
    always=ValueInjection(
        args=["--approval-mode", "default"],
        env={
            "QWEN_CODE_NO_RELAUNCH": "true",
            "QWEN_CODE_LEGACY_MCP_BLOCKING": "1",
            "QWEN_CODE_SYSTEM_SETTINGS_PATH": "{scratch}/settings.json",
        },
        files={"settings.json": json.dumps(_SETTINGS)},
    ),
    model=ValueInjection(args=["--model", "{value}"]),
    instructions=ValueInjection(args=["--append-system-prompt={value}"]),
    early_calls=True,
    refusal_ends_turn=True,
    usage="each_call",
    allows_hub=True,
)


def _wire_model(home: Path, model_url: str) -> ModelWiring:
    settings = {
        "security": {"auth": {"selectedType": "openai"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
    }
    env = {"OPENAI_API_KEY": "fake", "OPENAI_BASE_URL": f"{model_url}/v1"}
    return ModelWiring(env=env, model="fake-model", files={".qwen/settings.json": json.dumps(settings)})


QWEN = AgentCli(
    name="qwen",
    display_name="Qwen Code",
    program="qwen",
    drivers=(DriverInfo(name=_MANIFEST.name, manifest=_MANIFEST, quoting=PromptQuoting(), wire_model=_wire_model),),
    profile=make_profile(_MANIFEST.name, "Qwen Code", "Alibaba"),
    tools={
        "read": "read_file zoom_image list_directory",
        "search": "glob grep_search",
        "write": "edit write_file notebook_edit save_memory",
        "execute": "run_shell_command monitor",
        "network": "web_fetch web_search",
        "plan": "todo_write",
    },
    own_paths=(".qwen", "QWEN.md"),
    skills=(".qwen/skills",),
    mcp_config=McpConfig(file=".qwen/settings.json", key="mcpServers", build_entry=build_plain_entry),
)
