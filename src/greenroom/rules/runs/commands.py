"""The commands of runs."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from greenroom.link.reports import Report
from greenroom.log.model import Command
from greenroom.rules.runs.model import AgentContext, Overrides


class StartRun(Command, frozen=True, kw_only=True):
    """Put an agent to work. The agent is new, or named by `agent` (an id, or the name it is kept under)."""

    run_id: str
    agent_id: str
    """The id of the agent if a new one is made."""
    order_id: str
    profile: str
    prompt: str
    agent: str | None = None
    keep: bool = False
    keep_as: str | None = None
    name: str = ""
    """What a new agent is called, if not as its profile is."""
    thread_id: str | None = None
    parent_id: str | None = None
    node: str | None = None
    session: str | None = None
    """A conversation of the runtime, started outside the hub, that the new agent continues."""
    context: AgentContext | None = None
    timeout_s: int | None = None
    max_tokens: int | None = None
    max_cost_usd: float | None = None
    overrides: Overrides = {}
    """What differs from the profile: model, instructions, directory, worktree."""
    continues: str | None = None
    """The run that is over, and whose agent, `agent`, is given more to do in the same conversation."""
    is_step: bool = False
    """Whether it carries out a step of a workflow."""
    taint: str = ""
    """Whose words begin it, if no person's, such as `a webhook` or an agent; taken from who operates only."""


class SteerRun(Command, frozen=True, kw_only=True):
    """Send a message to a working agent."""

    run_id: str
    order_id: str
    text: str
    taint: str = ""
    """Whose words they are, if no person's; taken from who operates only."""


class PauseLoop(Command, frozen=True, kw_only=True):
    """Pause a run whose agent has asked the hub the same too often, and got the same answer; only the hub sees that."""

    run_id: str
    order_id: str
    tool: str
    arguments: Any = None
    times: int


class CancelRun(Command, frozen=True, kw_only=True):
    """End a run; with `cascade` all below it too. On a root with cascade the tree is dead for good."""

    run_id: Annotated[str, Meta(description="The run to end.")]
    cascade: Annotated[bool, Meta(description="Also all that it has started.")] = True
    order_seed: str
    reason: str = ""


class EndAgent(Command, frozen=True, kw_only=True):
    """End a kept agent's process; it can be resumed later."""

    agent_id: str
    order_id: str


class FinishRun(Command, frozen=True, kw_only=True):
    """The agent says that it is done: what lives in a terminal ends its turn no other way."""

    run_id: str
    order_id: str
    output: str = ""


class ExtendRun(Command, frozen=True, kw_only=True):
    """Resume a run that has reached a limit, with a new allowance."""

    run_id: str
    order_id: str
    timeout_s: Annotated[int, Meta(ge=1)] | None = None
    max_tokens: Annotated[int, Meta(ge=1)] | None = None
    max_cost_usd: Annotated[float, Meta(gt=0)] | None = None


class ResumeRun(Command, frozen=True, kw_only=True):
    """Resume an interrupted run in the runtime's own session, as a new run of the same agent.

    Without a prompt the agent gets its task again and finishes it. A prompt replaces the task.
    """

    run_id: str
    new_run_id: str
    order_id: str
    prompt: str = ""
    probe: bool = False
    """Whether the agent first looks what of its task is done."""


class NodeItem(msgspec.Struct, frozen=True):
    """One item from a node: its number there, its run, and its content."""

    number: int
    run_id: str
    at: int
    heard: Report
    size: int = 0
    """Its bytes, as they came."""


class TakeItem(Command, frozen=True, kw_only=True):
    """Take an item of a node. A number that was taken before is ignored."""

    node_id: str
    epoch: int
    item: NodeItem
    order_id: str


class ReconcileNode(Command, frozen=True, kw_only=True):
    """A node has come back with these runs alive; those it lost are interrupted."""

    node_id: str
    epoch: int
    live: list[str]


class RemoveNode(Command, frozen=True, kw_only=True):
    """Remove a node. Its runs are lost, which must be confirmed by `force`."""

    node_id: str
    force: Annotated[bool, Meta(description="remove it although it has agents")] = False


class ExpireRun(Command, frozen=True, kw_only=True):
    """A run's time is over; the hub's timer says so."""

    run_id: str
    order_id: str


class GoOn(Command, frozen=True, kw_only=True):
    """The account of a run that was used up can be used again; the hub's timer says so."""

    run_id: str
    order_id: str


class PlaceRun(Command, frozen=True, kw_only=True):
    """Find a node for a run that waits for one."""

    run_id: str
    order_id: str
