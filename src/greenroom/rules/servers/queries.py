"""Which tools of servers an agent may use."""

import fnmatch

from greenroom.link.hub_tools import HUB_PREFIX, SERVER_SEPARATOR
from greenroom.log.model import Rows
from greenroom.rules.access.model import Principal
from greenroom.rules.agents.model import AGENTS
from greenroom.rules.servers.model import SERVER_TOOLS, SERVERS, McpServer, ServerTool


def find_offered(rows: Rows, by: Principal) -> list[tuple[McpServer, ServerTool]]:
    """The accepted tools that this principal may see, by name."""
    if "chat" not in by.rights or by.kind not in ("agent", "operator"):
        return []
    servers = {server.name: server for server in rows.find(SERVERS) if _is_for(rows, by, server)}
    tools = [tool for tool in rows.find(SERVER_TOOLS, {"state": "accepted"}) if tool.server in servers]
    return [(servers[tool.server], tool) for tool in sorted(tools, key=lambda one: one.offered_as)]


def get_offered(rows: Rows, by: Principal, name: str) -> tuple[McpServer, ServerTool] | None:
    """The accepted tool of this name, unless it does not exist for this principal."""
    server_name, between, tool_name = name.partition(SERVER_SEPARATOR)
    if not between or "chat" not in by.rights or by.kind not in ("agent", "operator"):
        return None
    server, tool = rows.get(SERVERS, server_name), rows.get(SERVER_TOOLS, server_name, tool_name)
    if server is None or tool is None or tool.state != "accepted" or not _is_for(rows, by, server):
        return None
    return server, tool


def is_passed_on(rows: Rows, tool: str) -> bool:
    """Whether agents know a tool by this name that the hub offers for a server behind it."""
    server, between, name = tool.removeprefix(HUB_PREFIX).partition(SERVER_SEPARATOR)
    found = rows.get(SERVER_TOOLS, server, name) if between and tool.startswith(HUB_PREFIX) else None
    return found is not None and found.state == "accepted"


def _is_for(rows: Rows, by: Principal, server: McpServer) -> bool:
    if not server.definition.enabled:
        return False
    wanted = server.definition.profiles
    if not wanted or by.kind == "operator":
        return True
    agent = rows.get(AGENTS, by.agent_id) if by.agent_id else None
    profile = (agent.profile if agent else None) or "external"
    return any(fnmatch.fnmatchcase(profile, pattern) for pattern in wanted)
