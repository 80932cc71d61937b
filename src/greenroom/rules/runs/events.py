"""The events of runs."""

from typing import Any, ClassVar

from greenroom.link.ask_kinds import AskKind
from greenroom.link.reports import Report
from greenroom.log.model import Event
from greenroom.rules.runs.model import EndStatus, RunFields, TreeLimits
from greenroom.sentences import Words


class RunCreated(RunFields, Event, frozen=True, kw_only=True):
    """An agent is to work; it waits for its node."""

    run_id: str
    path: list[str]
    limits: TreeLimits | None = None
    """The tree's limits, on its root."""


class RunPlaced(Event, frozen=True, kw_only=True):
    """A run that waited for a node has got one."""

    run_id: str
    node_id: str


class RunTainted(Event, frozen=True, kw_only=True):
    """A working agent received words of a stranger."""

    run_id: str
    taint: str


class RunBegan(Event, frozen=True, kw_only=True):
    """The agent has started, in the directory that its node reports."""

    run_id: str
    session: str | None = None
    directory: str = ""
    repository: str = ""
    branch: str = ""
    model: str = ""


class RunHeard(Event, frozen=True, kw_only=True):
    """An item of the agent."""

    version: ClassVar[int] = 2
    run_id: str
    heard: Report
    heard_at: int
    size: int = 0
    """The bytes that it came in; 0 in logs from before they were counted."""


class RunWaits(Event, frozen=True, kw_only=True):
    """Something in a run waits for a person."""

    version: ClassVar[int] = 2
    run_id: str
    kind: AskKind
    ask_id: str = ""
    """Empty in logs from before it was kept."""
    title: Words = ""


class RunWentOn(Event, frozen=True, kw_only=True):
    """Nothing in a run waits for a person any more."""

    run_id: str


class RunPaused(Event, frozen=True, kw_only=True):
    """A run has reached a limit and waits for a person to decide whether it may continue, or for a time."""

    version: ClassVar[int] = 2
    run_id: str
    reason: Words
    """Which limit it is."""
    ask_id: str = ""
    """The ask whether it may continue; empty if it waits for a time."""
    until: int = 0
    """When it continues by itself; 0 if a person has to decide."""


class ApprovalRefused(Event, frozen=True, kw_only=True):
    """A node did not run an approved call, because the call had changed since the approval."""

    privileged: ClassVar[bool] = True
    run_id: str
    permission: str
    reason: Words


class RunExtended(Event, frozen=True, kw_only=True):
    """A person resumed a run beyond its limit."""

    privileged: ClassVar[bool] = True
    run_id: str
    timeout_s: int
    max_tokens: int | None
    limits: TreeLimits
    max_cost_usd: float | None = None


class RunEnded(Event, frozen=True, kw_only=True):
    """A run is over."""

    run_id: str
    status: EndStatus
    output: str | None = None
    result: Any = None
    error: Words | None = None


class TreeCancelled(Event, frozen=True, kw_only=True):
    """A tree of runs is dead: nothing is started in it any more."""

    privileged: ClassVar[bool] = True
    root_id: str
    reason: str = ""
