"""How OpenCode's server is started and given things."""

from typing import Any

NAME = "opencode"
COMMAND = ["opencode"]
VERSION = ["--version"]
ACP = "acp"
SERVE = ["serve", "--hostname", "127.0.0.1", "--port", "0"]
ATTACH = "attach"
LISTENS = "listening on "
"""What it prints before its address."""
USER = "opencode"
PASSWORD = "OPENCODE_SERVER_PASSWORD"  # noqa: S105 a variable's name
CONFIG = "OPENCODE_CONFIG_CONTENT"
ENV = {
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "OPENCODE_DISABLE_SHARE": "1",
}
ALWAYS: dict[str, Any] = {
    "permission": {"bash": "ask", "edit": "ask", "webfetch": "ask"},
    # Without it a call of the hub that waits longer than a minute fails.
    "experimental": {"mcp_timeout": 600_000},
}
MODES = ("build", "plan")
"""Its own agents, one of which a session is with."""
HUB = "greenroom"
TOKEN = "GREENROOM_TOKEN"  # noqa: S105
"""The variable with the credential, which the configuration names."""
