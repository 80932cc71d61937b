"""Agents: one participant each, with an identity and a credential."""

from typing import ClassVar, Literal

import msgspec

from greenroom.log.model import Command, Event, Row, Table
from greenroom.sentences import Words

AgentState = Literal["registered", "unregistered", "kicked"]


class AgentSkill(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something an agent says it can do."""

    id: str
    name: str
    description: str = ""
    tags: list[str] = []
    examples: list[str] = []


class AgentFields(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent says of itself, in its event and its row."""

    name: str
    ide: str
    model: str
    enrolled_by: str
    description: Words = ""
    capabilities: list[str] = []
    skills: list[AgentSkill] = []
    display_name: str | None = None
    emoji: str | None = None


class Agent(AgentFields, Row, frozen=True, kw_only=True):
    """A participant. `enrolled_by` is the credential that registered it and may act for it."""

    id: str
    registered_at: int
    looks: str = ""
    """What the name that is shown looks like: no two registered agents look the same."""
    state: AgentState = "registered"
    profile: str | None = None
    """The profile it was started from; None for an agent that came from outside."""
    kept_as: str | None = None
    """The name under which it is kept for further runs."""
    node_id: str | None = None
    process: str = ""
    """For an agent that Greenroom starts: starting, busy, idle, or asleep when it has no process."""
    session: str | None = None
    """The runtime's own id of its conversation, by which it is resumed."""
    run_id: str | None = None
    """The run it is at."""
    thread_id: str | None = None
    """The thread that it was last called into."""


AGENTS = Table(
    "agent",
    Agent,
    ("id",),
    (
        ("name", "state"),
        ("looks", "state"),
        ("state",),
        ("state", "process", "kept_as"),
        ("state", "process", "thread_id"),
        ("enrolled_by",),
        ("kept_as",),
        ("node_id", "process", "_seq"),
        ("node_id", "process"),
        ("_seq",),
    ),
)


class RegisterAgent(Command, frozen=True, kw_only=True):
    """Register a new agent with a credential of its own, or update the agent whose credential this is."""

    agent_id: str
    credential_id: str
    digest: str
    ide: str
    model: str
    description: str = ""
    capabilities: list[str] = []
    skills: list[AgentSkill] = []
    display_name: str | None = None
    emoji: str | None = None


class UpdateAgent(Command, frozen=True, kw_only=True):
    """Change what an agent says of itself; None leaves a field as it is."""

    agent_id: str
    description: str | None = None
    capabilities: list[str] | None = None
    skills: list[AgentSkill] | None = None
    display_name: str | None = None
    emoji: str | None = None


class ResumeAgent(Command, frozen=True, kw_only=True):
    """Resume an agent that had unregistered."""

    agent_id: str


class UnregisterAgent(Command, frozen=True, kw_only=True):
    """Leave the bus; the agent's messages stay."""

    agent_id: str


class KickAgent(Command, frozen=True, kw_only=True):
    """Put an agent out and end its credentials."""

    agent_id: str
    reason: str = ""


class AgentRegistered(AgentFields, Event, frozen=True, kw_only=True):
    """An agent joined the bus."""

    agent_id: str


class AgentStarted(Event, frozen=True, kw_only=True):
    """An agent was made from a profile."""

    agent_id: str
    name: str
    profile: str
    driver: str
    model: str
    description: Words = ""
    capabilities: list[str] = []
    kept_as: str | None = None


class AgentProcessChanged(Event, frozen=True, kw_only=True):
    """An agent's process has started, become idle, or ended."""

    agent_id: str
    process: str
    node_id: str | None = None
    session: str | None = None
    run_id: str | None = None


class AgentUpdated(Event, frozen=True, kw_only=True):
    """An agent describes itself differently; None leaves a field as it was."""

    agent_id: str
    ide: str | None = None
    model: str | None = None
    name: str | None = None
    description: str | None = None
    capabilities: list[str] | None = None
    skills: list[AgentSkill] | None = None
    display_name: str | None = None
    emoji: str | None = None


class AgentResumed(Event, frozen=True, kw_only=True):
    """An agent that had left is back."""

    agent_id: str


class AgentUnregistered(Event, frozen=True, kw_only=True):
    """An agent left the bus."""

    agent_id: str


class AgentKicked(Event, frozen=True, kw_only=True):
    """An operator removed an agent."""

    privileged: ClassVar[bool] = True
    agent_id: str
    reason: str = ""
