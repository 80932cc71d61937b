"""How to start OpenCode's server and pass values to it."""

from greenroom.json_types import JsonObject
from greenroom.link.hub_tools import HUB, HUB_TOOLS
from greenroom.runtimes.prompt_text import PromptQuoting

NAME = "opencode"
COMMAND = ["opencode"]
VERSION = ["--version"]
ACP = "acp"
SERVE = ["serve", "--hostname", "127.0.0.1", "--port", "0"]
ATTACH = "attach"
MODELS = ["models"]
LISTENS = "listening on "
"""The text that it prints before its address."""
USER = "opencode"
PASSWORD = "OPENCODE_SERVER_PASSWORD"  # noqa: S105 a variable's name
CONFIG = "OPENCODE_CONFIG_CONTENT"
ENV = {
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "OPENCODE_DISABLE_SHARE": "1",
}
MODES = ("build", "plan")
"""Its own agents, one of which a session is with."""
TOKEN = "GREENROOM_TOKEN"  # noqa: S105
"""The variable with the credential, which the configuration names."""
QUOTING = PromptQuoting()


def make_config(hub: str) -> JsonObject:
    """What it is always configured with, where the hub's tools are those of the server `hub`."""
    permission: JsonObject = {
        # Tools of MCP servers are called server_tool, and asked about with the pattern "*", which is one character;
        # what else has such a name is asked about with paths.
        "?*_*": {"?": "ask"},
        # The last rule that fits counts, and a name that a folder's own settings have stays where it was: so none.
        **dict.fromkeys(("bas?", "edi?", "webfetc?", "websearc?", "codesearc?"), "ask"),
        **dict.fromkeys((f"{hub}_{tool}" for tool in sorted(HUB_TOOLS)), "allow"),
    }
    return {
        # By itself it would call all tools of servers that a folder or a person has configured.
        "permission": permission,
        # What a folder's own settings say of an agent would count for more.
        "agent": {mode: {"permission": permission} for mode in MODES},
        "default_agent": MODES[0],
        # A person's own connection to the hub, which has their credential and not the agent's.
        "mcp": {HUB: {"enabled": False}},
        # Without it a call of the hub that waits longer than a minute fails.
        "experimental": {"mcp_timeout": 600_000},
    }
