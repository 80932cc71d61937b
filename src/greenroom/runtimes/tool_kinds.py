"""The kind of a tool by its name. The names come from the agents' folders."""

from collections.abc import Mapping

from greenroom.link.hub_tools import HUB_PREFIX, HUB_TOOLS
from greenroom.link.policy_facts.call_request import CallKind
from greenroom.runtimes.agent_cli import ToolKind
from greenroom.runtimes.agents import AGENTS

_OF_ACP: Mapping[ToolKind, str] = {
    "read": "read",
    "search": "search",
    "write": "edit delete move",
    "execute": "execute",
    "network": "fetch",
    "plan": "think",
}
"""The kinds of calls that ACP itself knows, for agents that send no name of a tool."""
_KINDS: dict[str, CallKind] = {
    tool: kind
    for table in (_OF_ACP, *(agent.tools for agent in AGENTS))
    for kind, tools in table.items()
    for tool in tools.split()
}

SOURCES = (__name__, *(f"greenroom.runtimes.agents.{agent.name}" for agent in AGENTS))
"""The modules that hold these names: rows that were made with them are rebuilt when one changes."""


def get_tool_kind(tool: str) -> CallKind:
    """What a tool does, by its name; `other` when it is not known."""
    if tool.startswith(HUB_PREFIX) and tool.removeprefix(HUB_PREFIX) in HUB_TOOLS:
        return "hub"
    return _KINDS.get(tool, "other")
