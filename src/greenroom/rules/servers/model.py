"""Rows of servers and their tools."""

import fnmatch
from typing import Any, Literal

import msgspec

from greenroom.link.hub_tools import SERVER_SEPARATOR
from greenroom.link.policy_facts.call_request import Risk
from greenroom.log.model import Row, Table
from greenroom.sentences import Words


class ServerDefinition(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What an operator writes of a server: a command or an address."""

    command: list[str] = []
    """The program as an argument vector; no shell ever sees it."""
    url: str | None = None
    """Where a server is that runs already; it speaks Streamable HTTP."""
    directory: str | None = None
    env: dict[str, str] = {}
    """Further variables of its environment; no secrets."""
    secrets: dict[str, str] = {}
    """Variables (or headers, with `url`) whose value is taken from elsewhere: env:NAME or file:/path."""
    risks: dict[str, Risk] = {}
    """Risk by tool; `*` matches anything, and the first match counts."""
    trust_annotations: bool = False
    """Believe what the server says of its tools: readOnlyHint makes low, destructiveHint high."""
    profiles: list[str] = []
    """Profiles whose agents see the tools; none names all."""
    timeout_s: int = 600
    description: str = ""
    enabled: bool = True


ServerState = Literal["starting", "up", "down", "off"]
ServerToolState = Literal["held", "accepted", "gone"]


class McpServer(Row, frozen=True, kw_only=True):
    """A server, and how it is."""

    name: str
    definition: ServerDefinition
    source: str
    changed_at: int
    state: ServerState = "starting"
    error: Words = ""
    state_at: int = 0


class DescribedTool(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A tool as its server describes it; no person has accepted that description yet."""

    name: str
    description: str = ""
    schema: dict[str, Any] = {}
    annotations: dict[str, Any] = {}
    digest: str


class ServerTool(Row, frozen=True, kw_only=True):
    """A tool of a server. What agents are shown is what a person has accepted, and nothing else."""

    server: str
    name: str
    seen: DescribedTool
    """As the server describes it now."""
    seen_at: int
    state: ServerToolState = "held"
    """held until a person has accepted it as it is now, accepted, or gone when the server has it no more."""
    accepted: DescribedTool | None = None
    """As it was when a person last accepted it."""
    accepted_by: str | None = None
    accepted_at: int | None = None

    @property
    def offered_as(self) -> str:
        """The name that agents see."""
        return f"{self.server}{SERVER_SEPARATOR}{self.name}"


SERVERS = Table("server", McpServer, ("name",), (("state",), ("_seq",)))
SERVER_TOOLS = Table("server_tool", ServerTool, ("server", "name"), (("server",), ("state",), ("_seq",)))


def get_tool_risk(definition: ServerDefinition, tool: DescribedTool) -> Risk:
    """The operator's word on a tool's risk, else what a trusted server says, else medium."""
    for pattern, risk in definition.risks.items():
        if fnmatch.fnmatchcase(tool.name, pattern):
            return risk
    if definition.trust_annotations:
        if tool.annotations.get("readOnlyHint") is True:
            return "low"
        if tool.annotations.get("destructiveHint", True) is True:
            return "high"
    return "medium"
