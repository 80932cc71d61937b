"""How to start Codex's ACP adapter and pass values to it."""

from greenroom.runtimes.acp_manifest import TOKEN, AcpManifest, ValueInjection

ADAPTER = AcpManifest(
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
