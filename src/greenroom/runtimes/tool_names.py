"""The names that policies use for the tools of MCP servers: one each, whatever a runtime calls it."""

import re
import secrets

from greenroom.link.hub_tools import HUB, HUB_PREFIX, HUB_TOOLS, SERVER_SEPARATOR
from greenroom.runtimes.tool_kinds import get_tool_kind

_FLAT = r"(?:mcp__{0}__|mcp_{0}_|mcp\.{0}\.|{0}[-_.])(\w+(?:-\w+)*)"


def make_hub_name() -> str:
    """A name for the hub that nobody can foresee, for a runtime that knows a tool only as `server_tool`: there a server
    `greenroom_msg` with a tool `post` would be taken for the hub."""
    return f"{HUB}-{secrets.token_hex(4)}"


def name_unknown_tool(name: str) -> str:
    """A tool of a server other than the hub: it does not pass for a tool that is known by that name."""
    return name if get_tool_kind(name) == "other" else f"other:{name}"


def name_server_tool(server: str, tool: str) -> str:
    """A tool of a server that the runtime names by itself. No other server passes for the hub."""
    return f"mcp__{server if server == HUB else server.replace(SERVER_SEPARATOR, '_')}__{tool}"


def get_hub_tool(name: str, hub: str = HUB) -> str | None:
    """The hub's tool behind a runtime's name for a server and a tool; None if it is none.

    Another server's name can begin in the same way, so only known tools of the hub count. For a name that may belong to
    a server behind the hub, the policy checks whether it does.
    """
    found = re.fullmatch(_FLAT.format(re.escape(hub)), name)
    if found is None or (found[1] not in HUB_TOOLS and SERVER_SEPARATOR not in found[1]):
        return None
    return HUB_PREFIX + found[1]
