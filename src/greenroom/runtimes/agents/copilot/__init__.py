"""GitHub Copilot CLI, over ACP."""

from pathlib import Path

from greenroom.json_types import JsonObject
from greenroom.runtimes.acp_manifest import TOKEN, AcpManifest, UsageFiles, ValueInjection
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

_HUB_FILE = f"""\
{{"mcpServers": {{"greenroom": {{
  "type": "http", "url": "{{value}}", "headers": {{"Authorization": "Bearer ${{{TOKEN}}}"}}, "tools": ["*"]
}}}}}}
"""
_MANIFEST = AcpManifest(
    name="copilot",
    command=["copilot", "--acp"],
    always=ValueInjection(env={"COPILOT_AUTO_UPDATE": "false"}),
    model=ValueInjection(args=["--model", "{value}"]),
    instructions=ValueInjection(
        env={"COPILOT_CUSTOM_INSTRUCTIONS_DIRS": "{scratch}/copilot"},
        files={"copilot/.github/instructions/greenroom.instructions.md": '---\napplyTo: "**"\n---\n{value}\n'},
    ),
    # By a file, for of two servers of one name it takes a person's own before one that comes with the session.
    hub=ValueInjection(
        args=["--allow-tool=greenroom", "--additional-mcp-config", "@{scratch}/hub.json"], files={"hub.json": _HUB_FILE}
    ),
    is_hub_in_session=False,
    credential="variable",
    allows_hub=True,
    refusal_ends_turn=True,
    usage="session",
    record=UsageFiles(
        form="copilot",
        folder=".copilot",
        variable="COPILOT_HOME",
        files=("session-state/{id}/events.jsonl",),
        having='"session.',
        error_begins="Error: ",
    ),
)


def _read_usage_entry(line: JsonObject) -> CallUsage | str | None:
    match line:
        case {"type": "session.usage_record", "id": str(id), "data": {"usage": dict(used)}}:
            return CallUsage(
                id=id,
                input_tokens=count_tokens(used, "inputTokens"),
                output_tokens=count_tokens(used, "outputTokens"),
                model=str(used.get("model") or "") or None,
            )
        case {"type": "session.error", "data": {"message": str(words)}}:
            return words
    return None


def _wire_model(home: Path, model_url: str) -> ModelWiring:
    env = {
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_BASE_URL": f"{model_url}/v1",
        "COPILOT_PROVIDER_API_KEY": "fake",
    }
    return ModelWiring(env=env, model="fake-model")


def _build_entry(command: list[str]) -> JsonObject:
    return {"type": "local", **build_plain_entry(command), "tools": ["*"]}


COPILOT = AgentCli(
    name="copilot",
    display_name="Copilot CLI",
    program="copilot",
    drivers=(DriverInfo(name=_MANIFEST.name, manifest=_MANIFEST, quoting=PromptQuoting(), wire_model=_wire_model),),
    profile=make_profile(_MANIFEST.name, "GitHub Copilot CLI", "GitHub"),
    tools={
        "read": "view",
        "search": "glob grep rg",
        "write": "edit create str_replace_editor apply_patch",
        "execute": "bash write_bash powershell",
        "network": "web_fetch",
        "plan": "task report_intent",
    },
    own_paths=(".copilot", ".github/copilot-instructions.md"),
    mcp_config=McpConfig(file=".copilot/mcp-config.json", key="mcpServers", build_entry=_build_entry),
    read_usage_entry=_read_usage_entry,
)
