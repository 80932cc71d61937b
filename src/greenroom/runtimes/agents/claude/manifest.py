"""How to start Claude Code and pass values to it."""

import msgspec

from greenroom.runtimes.prompt_text import PromptQuoting

NAME = "claude"
COMMAND = ["claude"]
VERSION = ["--version"]
STREAM = [
    "-p",
    "--input-format",
    "stream-json",
    "--output-format",
    "stream-json",
    "--verbose",
    "--include-partial-messages",
    "--permission-prompt-tool",
    "stdio",
]
"""One process is one conversation, until its stdin is closed."""
# Otherwise the folder's and the person's own servers are started, each with tools that nobody asked for.
OWN_SERVERS = "--strict-mcp-config"
SETTINGS = "--settings"
ASKING_MODE = "manual"
"""What the terminal program calls the mode in which it asks; its own default lets a model decide."""
ENV = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
OWN_FOLDER = "CLAUDE_CODE_TMPDIR"
"""Where it listens for a person's other sessions, which are not to be talked with behind the hub's back."""
NEW_SESSION = "--session-id"
RESUME = "--resume"
MODEL = "--model"
PERMISSION_MODE = "--permission-mode"
DEFAULT_PERMISSION_MODE = "default"
"""Said in any case: a person's settings can have another, in which nothing is asked."""
INSTRUCTIONS = "--append-system-prompt-file"
MCP_CONFIG = "--mcp-config"
ALLOWED_TOOLS = "--allowedTools"
NO_HELPERS = ["--disallowedTools", "Agent,Task"]
"""Without the tool that starts agents of its own, by its names of now and before."""

HUB = "greenroom"
HUB_TOOLS = f"mcp__{HUB}"
"""All tools of the hub, which judges its callers itself."""
TOKEN = "GREENROOM_TOKEN"  # noqa: S105
"""The variable with the credential: the file of servers names it, and arguments can be read by everybody."""

NO_FILE_MENTIONS = {"CLAUDE_CODE_DISABLE_FILE_MENTIONS": "1"}
QUOTING = PromptQuoting(env=NO_FILE_MENTIONS, mentions=True, keywords=True)
ATTACHED_QUOTING = msgspec.structs.replace(QUOTING, commands=True, pastes=True)
