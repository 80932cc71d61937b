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
