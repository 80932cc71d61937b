"""The commands and events of servers."""

from typing import ClassVar

from greenroom.log.model import Command, Event
from greenroom.rules.servers.model import DescribedTool, ServerDefinition, ServerState
from greenroom.sentences import Words


class PutServer(Command, frozen=True, kw_only=True):
    """Register a server, or change it."""

    name: str
    definition: ServerDefinition
    source: str = "api"


class RemoveServer(Command, frozen=True, kw_only=True):
    """Take a server away, with its tools."""

    name: str


class AcceptTools(Command, frozen=True, kw_only=True):
    """Say that a person has seen these tools as they are: their names, and the digests that were shown."""

    server: str
    tools: dict[str, str | None]


class HoldTools(Command, frozen=True, kw_only=True):
    """Offer these tools no more until they are accepted again."""

    server: str
    tools: list[str]


class NoteTools(Command, frozen=True, kw_only=True):
    """The hub has asked a server for its tools."""

    server: str
    tools: list[DescribedTool]


class NoteServer(Command, frozen=True, kw_only=True):
    """The hub has reached a server, or lost it."""

    name: str
    state: ServerState
    error: Words = ""


class ServerPut(Event, frozen=True, kw_only=True):
    """A server is registered as it is now."""

    privileged: ClassVar[bool] = True
    name: str
    definition: ServerDefinition
    source: str


class ServerRemoved(Event, frozen=True, kw_only=True):
    """A server was taken away."""

    privileged: ClassVar[bool] = True
    name: str


class ServerStateChanged(Event, frozen=True, kw_only=True):
    """A server has come up or gone down."""

    name: str
    state: ServerState
    error: Words = ""


class ToolSeen(Event, frozen=True, kw_only=True):
    """A server has a tool that is new, or other than before: it is held."""

    privileged: ClassVar[bool] = True
    server: str
    tool: DescribedTool


class ToolGone(Event, frozen=True, kw_only=True):
    """A server has a tool no more."""

    server: str
    name: str


class ToolAccepted(Event, frozen=True, kw_only=True):
    """A person has seen a tool as it is, and lets agents see it."""

    privileged: ClassVar[bool] = True
    server: str
    name: str
    digest: str


class ToolHeld(Event, frozen=True, kw_only=True):
    """A person has taken a tool back from agents."""

    privileged: ClassVar[bool] = True
    server: str
    name: str
