"""The ACP agents that Greenroom knows, each as it was seen to behave."""

from greenroom.nouns.agents.acp_manifest import TOKEN, AcpManifest, UsageFiles, ValueInjection
from greenroom.runtimes.drivers.claude.own_rules import ASKING
from greenroom.runtimes.prompt_text import NO_FILE_MENTIONS

_GEMINIS_RULES = """\
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
_HUB_FILE = f"""\
{{"mcpServers": {{"greenroom": {{
  "type": "http", "url": "{{value}}", "headers": {{"Authorization": "Bearer ${{{TOKEN}}}"}}, "tools": ["*"]
}}}}}}
"""

COPILOT = AcpManifest(
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

GEMINI = AcpManifest(
    name="gemini",
    command=["gemini", "--acp"],
    # Otherwise it starts itself a second time; and without trust in the folder it has no tools.
    always=ValueInjection(
        args=["--approval-mode", "default", "--policy", "{scratch}/policy.toml"],
        env={"GEMINI_CLI_NO_RELAUNCH": "true", "GEMINI_CLI_TRUST_WORKSPACE": "true"},
        files={"policy.toml": _GEMINIS_RULES},
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

CLAUDE = AcpManifest(
    name="claude-agent-acp",
    command=["claude-agent-acp"],
    # Some versions take any value of IS_SANDBOX for a yes that Claude Code itself refuses.
    unset=["IS_SANDBOX"],
    # All of the hub's tools at once, and no calls of the model to guess what the user could say next.
    always=ValueInjection(
        env={"ENABLE_TOOL_SEARCH": "false", "CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION": "false"},
        # Otherwise the folder's and the person's own servers are started, each with tools that nobody asked for. And a
        # folder's settings have an environment, which goes before that of the process.
        meta={"claudeCode": {"options": {"strictMcpConfig": True, "settings": {"env": NO_FILE_MENTIONS}}}},
    ),
    own_rules="claude",
    asking=ValueInjection(meta={"claudeCode": {"options": {"settings": ASKING}}}),
    model=ValueInjection(env={"ANTHROPIC_MODEL": "{value}"}),
    instructions=ValueInjection(meta={"systemPrompt": {"append": "{value}"}}),
    hub=ValueInjection(meta={"claudeCode": {"options": {"allowedTools": ["mcp__greenroom"]}}}),
    credential="variable",
    second_prompt="queued",
    early_calls=True,
)

CODEX = AcpManifest(
    name="codex-acp",
    command=["codex-acp"],
    # Plug-ins are looked up on the network at every start.
    always=ValueInjection(
        json_env={"CODEX_CONFIG": {"features": {"plugins": False}, "check_for_update_on_startup": False}}
    ),
    model=ValueInjection(json_env={"CODEX_CONFIG": {"model": "{value}"}}),
    mode=ValueInjection(env={"INITIAL_AGENT_MODE": "{value}"}),
    default_mode="read-only",
    instructions=ValueInjection(json_env={"CODEX_CONFIG": {"developer_instructions": "{value}"}}),
    hub=ValueInjection(
        json_env={
            "CODEX_CONFIG": {
                "mcp_servers": {
                    "greenroom": {
                        "url": "{value}",
                        "bearer_token_env_var": TOKEN,
                        "default_tools_approval_mode": "approve",
                        # It does not take progress for life.
                        "tool_timeout_sec": 600,
                        # Otherwise it begins after a second, with whatever tools it has seen by then.
                        "required": True,
                        "startup_timeout_sec": 60,
                    }
                }
            }
        }
    ),
    is_hub_in_session=False,
    credential="variable",
    refusal_ends_turn=True,
    second_prompt="queued",
    unnamed_said="notice",
)
