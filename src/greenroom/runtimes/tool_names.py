"""What policies call the tools of MCP servers: each by one name, whatever a runtime makes of it."""

import re

from greenroom.nouns.policy.tables import HUB_TOOLS
from greenroom.nouns.servers.model import BETWEEN, HUB_PREFIX

HUB = "greenroom"
"""The name under which agents are given the hub."""
_FLAT = re.compile(rf"(?:mcp__{HUB}__|mcp_{HUB}_|mcp\.{HUB}\.|{HUB}[-_.])(\w+(?:-\w+)*)")


def server_tool(server: str, tool: str) -> str:
    """A tool of a server that the runtime names by itself. No other server passes for the hub."""
    return f"mcp__{server if server == HUB else server.replace(BETWEEN, '_')}__{tool}"


def hub_tool(name: str) -> str | None:
    """The hub's tool behind a name that a runtime has made of the server's and the tool's; None if it is none.

    Another server can be named so that the two cannot be told apart by what they begin with: only what is known to be
    a tool of the hub counts, and for what may be one of a server behind the hub the policy looks whether it is.
    """
    found = _FLAT.fullmatch(name)
    if found is None or (found[1] not in HUB_TOOLS and BETWEEN not in found[1]):
        return None
    return HUB_PREFIX + found[1]
