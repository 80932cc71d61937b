"""A tool call that the policy judges."""

from typing import Any, Literal

import msgspec

from greenroom.sentences import Words

CallKind = Literal["read", "search", "write", "execute", "network", "plan", "hub", "other"]
"""What a call does, as far as its tool's name tells: `hub` is a tool of the hub itself."""
Risk = Literal["low", "medium", "high"]


class LineageEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One run of the line from a call up to the root."""

    profile: str | None
    """None for an agent that came from outside."""
    depth: int = 0
    thread: str | None = None
    run: str | None = None
    allowed_tools: list[str] | None = None
    """What whoever started the run has narrowed it to."""
    taint: str = ""
    """Where words of strangers come into the run, such as `a webhook`."""


class CallRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A call that somebody wants to make. Paths, hosts and commands are read from the arguments by the judge."""

    tool: str
    arguments: Any = None
    directory: str | None = None
    """Where it would run."""
    resolved: dict[str, str] = {}
    """What paths really are, as the node has seen them; it can only narrow what the texts say."""
    lineage: list[LineageEntry] = []
    """The run that wants it, then its parent, up to the root."""
    own: bool = False
    """Whether the node has seen that it is about the hub's own files; it can only narrow, too."""
    agent_id: str | None = None
    contested: Words = ""
    """Which other run is at a file that the call would write, in words; empty when none is known to be."""
    server: str | None = None
    """The MCP server behind the hub that the tool belongs to."""
    is_passed_on: bool = False
    """Whether the hub itself offers the tool for a server behind it, and so judges the call once it comes there."""
    risk: Risk | None = None
    """The operator's own word on the risk of a server's tool; never the requester's."""
