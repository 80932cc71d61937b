"""The ACP agents that Greenroom knows, each as it was seen to behave."""

from greenroom.runtimes.drivers.acp.manifest import Given, Manifest

OPENCODE = Manifest(
    name="opencode",
    command=["opencode", "acp"],
    always=Given(
        env={
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_SHARE": "1",
        },
        json_env={
            "OPENCODE_CONFIG_CONTENT": {
                "permission": {"bash": "ask", "edit": "ask", "webfetch": "ask"},
                # Without it a call of the hub that waits longer than a minute fails.
                "experimental": {"mcp_timeout": 600_000},
            }
        },
    ),
    model=Given(json_env={"OPENCODE_CONFIG_CONTENT": {"model": "{value}"}}),
    instructions=Given(json_env={"OPENCODE_CONFIG_CONTENT": {"instructions": ["{file}"]}}),
    refusal_ends_turn=True,
    second_prompt="queued",
    usage="last_call",
    tool_name="first_title",
    early_calls=True,
)

COPILOT = Manifest(
    name="copilot",
    command=["copilot", "--acp"],
    always=Given(env={"COPILOT_AUTO_UPDATE": "false"}),
    model=Given(args=["--model", "{value}"]),
    refusal_ends_turn=True,
    usage="session",
)

GEMINI = Manifest(
    name="gemini",
    command=["gemini", "--acp"],
    # Otherwise it starts itself a second time; and without trust in the folder it has no tools.
    always=Given(env={"GEMINI_CLI_NO_RELAUNCH": "true", "GEMINI_CLI_TRUST_WORKSPACE": "true"}),
    model=Given(args=["--model", "{value}"]),
    resume="load",
    resume_waits=".gemini/tmp/*/chats/session-{minute}-{id8}*",
    tool_name="call_id",
)

CLAUDE = Manifest(
    name="claude-agent-acp",
    command=["claude-agent-acp"],
    # Some versions take any value of IS_SANDBOX for a yes that Claude Code itself refuses.
    unset=["IS_SANDBOX"],
    always=Given(env={"ENABLE_TOOL_SEARCH": "false"}),
    model=Given(env={"ANTHROPIC_MODEL": "{value}"}),
    instructions=Given(meta={"systemPrompt": {"append": "{value}"}}),
    credential="variable",
    second_prompt="queued",
    early_calls=True,
)

CODEX = Manifest(
    name="codex-acp",
    command=["codex-acp"],
    # Plug-ins are looked up on the network at every start.
    always=Given(json_env={"CODEX_CONFIG": {"features": {"plugins": False}, "check_for_update_on_startup": False}}),
    model=Given(json_env={"CODEX_CONFIG": {"model": "{value}"}}),
    mode=Given(env={"INITIAL_AGENT_MODE": "{value}"}),
    default_mode="read-only",
    instructions=Given(json_env={"CODEX_CONFIG": {"developer_instructions": "{value}"}}),
    refusal_ends_turn=True,
    second_prompt="queued",
    unnamed_said="notice",
)
