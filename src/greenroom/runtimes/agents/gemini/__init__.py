"""Gemini CLI, over ACP."""

import json
from pathlib import Path

from greenroom.json_types import JsonObject
from greenroom.runtimes.acp_manifest import AcpManifest, UsageFiles, ValueInjection
from greenroom.runtimes.agent_cli import (
    AgentCli,
    CallUsage,
    DriverInfo,
    McpConfig,
    build_plain_entry,
    count_tokens,
    make_profile,
)
from greenroom.runtimes.model_script import ModelWiring
from greenroom.runtimes.prompt_text import PromptQuoting

_RULES = """\
[[rule]]
mcpName = "greenroom"
toolName = "*"
decision = "allow"
priority = 500

[[rule]]
toolName = ["run_shell_command", "write_file", "replace", "web_fetch", "google_web_search"]
decision = "ask_user"
priority = 900
"""
"""The hub judges its callers itself; all else is asked, whatever a folder's own settings allow."""
_MANIFEST = AcpManifest(
    name="gemini",
    command=["gemini", "--acp"],
    # Otherwise it starts itself a second time; and without trust in the folder it has no tools.
    always=ValueInjection(
        args=["--approval-mode", "default", "--policy", "{scratch}/policy.toml"],
        env={"GEMINI_CLI_NO_RELAUNCH": "true", "GEMINI_CLI_TRUST_WORKSPACE": "true"},
        files={"policy.toml": _RULES},
    ),
    model=ValueInjection(args=["--model", "{value}"]),
    resume="load",
    resume_waits=".gemini/tmp/*/chats/session-{minute}-{id8}*",
    is_replay_late=True,
    record=UsageFiles(
        form="gemini",
        folder=".gemini",
        files=("tmp/*/chats/session-*-{id8}.jsonl", "tmp/*/chats/{id}/*.jsonl"),
        having='"tokens"',
    ),
    tool_name="call_id",
    allows_hub=True,
)


def _read_usage_entry(line: JsonObject) -> CallUsage | None:
    match line:
        case {"type": "gemini", "id": str(id), "tokens": dict(used)}:
            return CallUsage(
                id=id,
                input_tokens=count_tokens(used, "input", "tool"),
                output_tokens=count_tokens(used, "output", "thoughts"),
                model=str(line.get("model") or "") or None,
            )
    return None


def _wire_model(home: Path, model_url: str) -> ModelWiring:
    settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": False}}
    env = {"GEMINI_API_KEY": "fake", "GOOGLE_GEMINI_BASE_URL": model_url, "GEMINI_TELEMETRY_ENABLED": "false"}
    return ModelWiring(env=env, model="gemini-2.5-flash", files={".gemini/settings.json": json.dumps(settings)})


GEMINI = AgentCli(
    name="gemini",
    display_name="Gemini CLI",
    program="gemini",
    drivers=(DriverInfo(name=_MANIFEST.name, manifest=_MANIFEST, quoting=PromptQuoting(), wire_model=_wire_model),),
    profile=make_profile(_MANIFEST.name, "Gemini CLI", "Google"),
    tools={
        "read": "read_file read_many_files list_directory",
        "search": "glob search_file_content grep_search",
        "write": "write_file replace save_memory",
        "execute": "run_shell_command",
        "network": "web_fetch google_web_search",
        "plan": "write_todos",
    },
    own_paths=(".gemini", "GEMINI.md"),
    mcp_config=McpConfig(file=".gemini/settings.json", key="mcpServers", build_entry=build_plain_entry),
    read_usage_entry=_read_usage_entry,
)
