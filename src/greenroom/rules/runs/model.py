"""Rows of runs, trees, calls and items."""

from typing import Any, Literal, get_args

import msgspec

from greenroom.link.ask_kinds import AskKind
from greenroom.link.reports import ReportKind, Usage
from greenroom.log.model import Row, Table
from greenroom.log.pages import PagedRow
from greenroom.sentences import Words

PLACE_CHARS = 1000
"""The longest text that is kept of where a run works, and with what."""
LiveStatus = Literal["pending", "running", "waiting"]
"""A run with one of these is active: it has not ended. The page, the metrics and the command line count by this."""
EndStatus = Literal["completed", "failed", "cancelled", "interrupted"]
RunStatus = LiveStatus | EndStatus
LIVE: tuple[LiveStatus, ...] = get_args(LiveStatus)
ENDED: tuple[EndStatus, ...] = get_args(EndStatus)


class TreeLimits(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Limits of a tree of runs; None is no limit."""

    max_depth: int = 3
    max_runs: int = 200
    max_tokens: int | None = None
    max_cost_usd: float | None = None


class Constraints(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """Limits that a caller sets for one run; they can only narrow those of the profile."""

    max_tokens: int | None = None
    max_duration: int | None = None
    """Milliseconds."""
    allowed_tools: list[str] | None = None


class AgentContext(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """The context that an agent gets besides its prompt."""

    parent_output: Any = None
    shared_variables: dict[str, Any] = {}
    history_summary: str | None = None
    file_references: list[str] = []
    constraints: Constraints = Constraints()


class RunUsage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Tokens and money."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


_MOST = 10**15


def read_spent(used: Usage, earlier: RunUsage) -> RunUsage:
    """What a run has used, from a runtime's report of its turn. A report that makes no sense counts for nothing."""

    def count(tokens: int) -> int:
        return tokens if 0 <= tokens < _MOST else 0

    cost = used.cost_usd if used.cost_usd is not None and 0 <= used.cost_usd < _MOST else None
    if cost is not None or earlier.cost_usd is not None:
        cost = (cost or 0.0) + (earlier.cost_usd or 0.0)
    return RunUsage(
        earlier.input_tokens + count(used.input_tokens), earlier.output_tokens + count(used.output_tokens), cost
    )


RunWaitKind = AskKind | Literal["limit"]
Overrides = dict[str, str | float | bool]


class RunFields(msgspec.Struct, frozen=True, kw_only=True):
    """What a run is from its beginning on, in its event and its row."""

    profile: str
    agent_id: str
    root_id: str
    depth: int
    prompt: str
    parent_id: str | None = None
    thread_id: str | None = None
    node_id: str | None = None
    pinned: str | None = None
    """The one node it may run on, if the caller named one."""
    keep: bool = False
    context: AgentContext | None = None
    task: str | None = None
    """The run whose task this one finishes, if that run was interrupted."""
    continues: str | None = None
    """The run that was over, and whose agent is given more to do, or resumes it."""
    session: str | None = None
    """The runtime's conversation that it continues, if that was started outside the hub."""
    isolation: str = "none"
    overrides: Overrides = {}
    """What differs from the profile: model, instructions, directory, worktree."""
    is_step: bool = False
    """Whether it carries out a step of a workflow."""
    taint: str = ""
    """Its taint: whose words reached it, such as `a webhook` or an agent. Its calls count as riskier."""
    timeout_s: int = 3600
    max_tokens: int | None = None
    max_cost_usd: float | None = None
    """What the run itself may use, whatever its tree still may."""


class Run(RunFields, PagedRow, frozen=True, kw_only=True):
    """One agent at work from prompt to end."""

    id: str
    seq: int = 0
    status: RunStatus
    created_at: int
    by: str
    path: list[str] = []
    """The profiles from the root down to this run, for the cycle check."""
    continued_in: str | None = None
    """The last run that continues this one."""
    output: str | None = None
    """What the agent said last."""
    result: Any = None
    """Structured output, where there is any."""
    error: Words | None = None
    waiting_for: Words | None = None
    """What it waits for, as text; `waits_kind` and `waits_key` say it for programs."""
    waits_kind: RunWaitKind | None = None
    """The kind of the ask, or that it has reached a limit."""
    waits_key: str = ""
    """The id of the ask; empty if none is open, or an old log does not have it."""
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    is_usage_partial: bool = False
    """Whether a model call was cut off. No runtime reports the usage of such a call, so the real usage is higher."""
    earlier: RunUsage = RunUsage()
    """What turns before the present one used; a runtime reports totals of its turn."""
    calls: int = 0
    items: int = 0
    heard_bytes: int = 0
    """How many bytes it has added to the log."""
    directory: str = ""
    """Its directory, as its node reported it at the start."""
    repository: str = ""
    """The folder of which `directory` is a git worktree; empty if it is none."""
    branch: str = ""
    """The git branch that its directory was on when it began, or the commit; empty if it is under no git."""
    model: str = ""
    """The model that it was started with, or that its runtime reported since; empty for the runtime's own."""
    started_at: int | None = None
    ended_at: int | None = None
    deadline: int = 0
    """When the run's time is over; 0 before its start and after its end."""
    goes_on_at: int = 0
    """When a run that waits for its account continues by itself; 0 if it does not."""
    extended_at: int = 0
    """When a person last resumed it beyond a limit."""

    @property
    def is_paused(self) -> bool:
        """Whether it waits for more than an answer: it has reached a limit."""
        return self.status == "waiting" and self.waits_kind == "limit"


class Tree(Row, frozen=True, kw_only=True):
    """A root run and all below it: their usage, their limits, and whether they were cancelled."""

    root_id: str
    limits: TreeLimits
    runs: int = 0
    live: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    tombstone: str | None = None
    """Who cancelled the tree: from then on nothing is started or resumed in it."""


class ToolCall(Row, frozen=True, kw_only=True):
    """One tool call inside a run."""

    run_id: str
    call_id: str
    tool: str
    started_at: int
    title: str = ""
    input: Any = None
    output: str = ""
    ok: bool | None = None
    ended_at: int | None = None
    digest: str = ""
    """What the same call has again; empty for calls that are made to be repeated."""


class RunItem(Row, frozen=True, kw_only=True):
    """One item of the agent, numbered within its run without gaps."""

    run_id: str
    place: str
    number: int
    kind: ReportKind
    data: dict[str, Any]
    at: int


RUNS = Table(
    "run",
    Run,
    ("id",),
    (
        ("parent_id", "status"),
        ("agent_id", "status"),
        ("agent_id", "created_at"),
        ("node_id", "status"),
        ("status", "deadline"),
        ("status", "goes_on_at"),
        ("created_at",),
        ("seq",),
        ("status", "seq"),
        ("_seq",),
        ("root_id", "_seq"),
        ("thread_id", "seq"),
    ),
)
TREES = Table("tree", Tree, ("root_id",))
CALLS = Table("call", ToolCall, ("run_id", "call_id"), (("run_id", "started_at"), ("run_id", "digest", "started_at")))
ITEMS = Table("item", RunItem, ("run_id", "place"), (("run_id", "number"), ("run_id", "_seq")))
