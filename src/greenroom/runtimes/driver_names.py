"""The names of the drivers, for who has to know which there are and drives none: loading them all takes long."""

DRIVER_NAMES = (
    "rehearsal",
    "builtin",
    "claude",
    "codex",
    "opencode",
    "copilot",
    "gemini",
    "claude-agent-acp",
    "codex-acp",
    "acp",
    "pty",
    "command",
    "mcp",
)

UNTOLD: dict[str, frozenset[str]] = {
    **dict.fromkeys(
        ("claude", "codex", "copilot", "gemini", "claude-agent-acp", "codex-acp", "acp"), frozenset({"temperature"})
    ),
    **dict.fromkeys(("pty", "command", "mcp"), frozenset({"model", "system_prompt", "temperature"})),
}
"""What a step can say of its agent and a driver has no way to hand to its runtime. All else is handed over."""

LISTS_MODELS = frozenset({"opencode"})
"""The drivers whose runtime tells which models it knows. Others hand any name on to their provider, who refuses it."""
