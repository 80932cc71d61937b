"""A profile as an operator writes it: how to start one kind of agent."""

import msgspec

from greenroom.json_types import UncheckedOptions
from greenroom.sentences import Words

PLACEHOLDERS = ("{thread_id}", "{thread_topic}", "{bus_address}", "{agent_id}", "{token_file}", "{prompt}")
"""Placeholders in a command for values that are known only when an agent starts."""


class ProfileDefinition(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What an operator writes, in agents/<name>.toml or elsewhere."""

    driver: str
    """The code that speaks to the runtime: acp, claude, codex, opencode, pty, command, builtin, mcp, rehearsal."""
    display_name: str = ""
    description: Words = ""
    command: list[str] = []
    """The program as an argument vector; empty takes the driver's own. Placeholders are whole arguments' parts."""
    type: str = "custom"
    capabilities: list[str] = []
    model: str | None = None
    temperature: float | None = None
    """How freely the model chooses its words, for the drivers that can hand it over: builtin and opencode."""
    instructions: str | None = None
    skills: list[str] = []
    directory: str | None = None
    """Where the agent works; empty is a fresh folder of its own."""
    worktree: bool = False
    """Give each agent a git worktree of `directory`."""
    env: dict[str, str] = {}
    """Fixed variables of the agent's environment."""
    pass_env: list[str] = []
    """Variables that are passed on from the node's environment, such as an API key's name."""
    sandbox: str = "none"
    approvals: str = "on_risk"
    allowed_tools: list[str] = []
    denied_tools: list[str] = []
    may_spawn: bool = True
    """Whether it may start agents: through the hub, and with claude and codex its runtime's own helpers too.

    Other runtimes have no option for theirs.
    """
    may_write: bool = True
    """Whether it may change files by its tools."""
    may_execute: bool = True
    """Whether it may run commands by its tools."""
    may_network: bool = True
    """Whether it may reach the network by its tools."""
    max_depth: int = 3
    max_children: int = 8
    timeout_s: int = 3600
    start_timeout_s: int = 60
    max_tokens: int | None = None
    max_cost_usd: float | None = None
    labels: list[str] = []
    """A node must have all of these to run it."""
    node: str | None = None
    """The name of the one node to run on."""
    wake_for_people: bool = True
    """Whether a sleeping agent of a thread wakes when a person mentions it there or replies to it."""
    wake_on: list[str] = []
    """What else wakes a sleeping agent, whoever it comes from: mention, handoff, mail. Nothing by default."""
    invite_prompt: str | None = None
    idle_s: int = 900
    """How long a kept agent may idle before its process is ended; it can be resumed."""
    enabled: bool = True
    options: UncheckedOptions = {}
