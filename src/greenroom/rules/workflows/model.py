"""Rows of workflows, their runs, and the steps of these."""

from typing import Any, Literal

import msgspec

from greenroom.link.ask_kinds import AskKind
from greenroom.log.model import Row, Table
from greenroom.log.pages import PagedRow
from greenroom.rules.workflows.definition import WorkflowDefinition
from greenroom.sentences import Words

RunVerdict = Literal["completed", "failed", "cancelled"]
WorkflowStatus = Literal["running", "paused", "stopping"] | RunVerdict
"""stopping: the rest is cancelled or taken back."""
StepVerdict = RunVerdict | Literal["skipped"]
StepStatus = Literal["pending", "running", "waiting", "delayed", "held", "queued"] | StepVerdict
AttemptStatus = StepStatus | Literal["interrupted"]
LIVE = ("running", "paused", "stopping")
ENDED = ("completed", "failed", "cancelled")
STEP_ENDED = ("completed", "failed", "skipped", "cancelled")
ACTIVE = ("running", "waiting", "delayed", "held", "queued")
"""The statuses of a step between ready and over: running, waiting, delayed between two attempts, held by a pause, or
queued because of `max_parallel`.
"""


WaitKind = Literal["run", "workflow", "ask", "message", "webhook", "time", "engine"]
"""What a step can wait for: an agent's run, a nested workflow, an answer, a message in a thread, a call to a webhook,
a moment, or the engine itself."""
OutsideKind = Literal["run", "workflow", "ask", "agent"]
"""What a workflow begins outside itself, and has ended when it does not want it any more."""


class StepWait(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a step waits for."""

    kind: WaitKind
    key: str = ""
    """The id of the run, workflow run or ask, the thread of the message (empty is any), or the name of the webhook;
    empty for the others."""

    def __str__(self) -> str:
        """As doors show it in one field: `run ID`, `time`."""
        return self.kind if self.kind in ("time", "engine") else f"{self.kind} {self.key}"


class OutsideWork(msgspec.Struct, frozen=True):
    """Something outside a workflow that one of its steps started."""

    kind: OutsideKind
    key: str

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"


class WorkflowUsage(msgspec.Struct, frozen=True, omit_defaults=True):
    """What attempts have used."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def __add__(self, other: "WorkflowUsage") -> "WorkflowUsage":
        return WorkflowUsage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cost_usd + other.cost_usd,
        )

    def __sub__(self, other: "WorkflowUsage") -> "WorkflowUsage":
        return WorkflowUsage(
            self.input_tokens - other.input_tokens,
            self.output_tokens - other.output_tokens,
            self.cost_usd - other.cost_usd,
        )


NOTHING = WorkflowUsage()
"""One value for all, which is left out of rows where it is the default."""


class PersonWait(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An ask that a run waits for, without its words: whoever sees the run may know this much."""

    ask_id: str
    kind: AskKind
    step: str
    """The step of this run that waits; a nested workflow's asks are its step's."""
    since: int
    name: str = ""
    """The asker: an agent, or a workflow."""
    asked_of: list[str] = []
    """Who alone may answer; empty is whoever may."""


class Workflow(Row, frozen=True, kw_only=True):
    """A workflow under its name, as it is now."""

    name: str
    digest: str
    version: int
    changed_at: int
    changed_by: str
    alias: str = ""
    """What other programs call it by."""
    description: str = ""
    source: str = ""
    """The file it came from, if known."""
    steps: int = 0


class WorkflowVersion(Row, frozen=True, kw_only=True):
    """A definition, found by its digest: a run keeps the one that it began with."""

    digest: str
    name: str
    version: int
    """0 is a definition that belongs to a run only: one that was amended."""
    definition: WorkflowDefinition
    made_at: int
    text: str = ""
    """The YAML that it was written in; empty if it came as values."""


class SavedVersion(Row, frozen=True, kw_only=True):
    """One save of a workflow under its name. It stays when the workflow is replaced or deleted."""

    name: str
    place: str
    """The version as a text that sorts, see `format_version`."""
    version: int
    digest: str
    saved_at: int
    saved_by: str
    source: str = ""
    text: str = ""
    """The YAML that it was written in; empty if it came as values."""
    restored_from: int = 0
    """The earlier version that this one restored; 0 if it was written."""


class WorkflowRunFields(msgspec.Struct, frozen=True, kw_only=True):
    """What a run of a workflow is from its beginning on, in its event and its row."""

    workflow: str
    digest: str
    root_id: str
    steps: int
    """How many steps it has, not counting those of its fan-outs."""
    due: int = 0
    """When the time of the whole run is over; 0 is never."""
    depth: int = 0
    parent_id: str | None = None
    parent_step: str | None = None
    parent_attempt: int = 0
    thread_id: str | None = None
    trigger: str = "hand"
    taint: str = ""
    """The taint of its start, such as `the agent Ada`."""
    directory: str | None = None
    """Where the caller's file is; agents without a directory of their own work there when the definition says so."""


class WorkflowRun(WorkflowRunFields, PagedRow, frozen=True, kw_only=True):
    """One workflow being carried out. It is small, for it changes with every step."""

    id: str
    seq: int = 0
    status: WorkflowStatus
    created_at: int
    by: str
    completed: int = 0
    failed: int = 0
    skipped: int = 0
    cancelled: int = 0
    active: int = 0
    """How many steps are between being ready and being over."""
    working: int = 0
    """How many attempts run, those of items included."""
    first_queued: str | None = None
    last_queued: str | None = None
    debts: int = 0
    """How many failures were let pass."""
    note: Words | None = None
    """Why it is paused."""
    verdict: RunVerdict | None = None
    """How it will end, while it is stopping."""
    takes_back: bool = False
    """Whether rollback steps are carried out before that."""
    error: Words | None = None
    output: Any = None
    ended_at: int | None = None
    spent: WorkflowUsage = WorkflowUsage()
    waiting: bool = False
    """Whether a running run waits: for the people in `waits_for`, or because no step is at work until something else
    happens outside."""
    waits_for: list[PersonWait] = []
    """The open asks of its steps, of their agents and of nested workflows, oldest first."""

    @property
    def over(self) -> int:
        """How many of its steps are over."""
        return self.completed + self.failed + self.skipped + self.cancelled


class WorkflowFacts(Row, frozen=True, kw_only=True):
    """What the expressions of a run see besides its steps; apart from the run, for it is large and seldom changes."""

    run_id: str
    inputs: dict[str, Any] = {}
    variables: dict[str, Any] = {}
    pinned: dict[str, str] = {}
    """The digests of the workflows that it may start, by name."""
    agents: dict[str, str] = {}
    """The agents that its steps have kept, by the names they are kept under."""


class WorkflowStep(Row, frozen=True, kw_only=True):
    """A step of a run, from the first time that something happens to it; of a fan-out each item has a row too."""

    run_id: str
    id: str
    """The step's id; an item of a fan-out is `step[0]`, `step[1]`, ..."""
    status: StepStatus = "pending"
    seen: int = 0
    """How many of the steps before it are over."""
    attempt: int = 0
    """The number of the present or last attempt; it only grows."""
    tries: int = 0
    """How many attempts were made since it was last ready; the limit of retries is about these."""
    round: int = 0
    """Which turn of its loop it is at."""
    waits_kind: WaitKind | None = None
    """What kind of thing it waits for; None while it waits for nothing."""
    waits_key: str = ""
    """Which of that kind, see `StepWait.key`."""
    due: int = 0
    """When its time is over, or its next try or its waiting ends; 0 is never."""
    dated: bool = False
    """Whether `due` is a date by the clock, and not a span of time."""
    leave: bool = False
    """Whether a person has let it begin, where its level asks for that."""
    asking: str = ""
    """What people are asked: to approve the step, or what to do after a crash."""
    repairs: int = 0
    """How often the agent was asked to mend its output in this attempt."""
    resumed: str | None = None
    """The interrupted agent run that this attempt resumes."""
    next_queued: str | None = None
    """The next step in the queue."""
    began_at: int | None = None
    ended_at: int | None = None
    agent_id: str | None = None
    agent_run: str | None = None
    output: Any = None
    error: Words | None = None
    reason: Words | None = None
    """Why it waits, was skipped or cancelled."""
    rollback: bool = False
    """Whether it takes another step back; its run does not count it."""
    debt: bool = False
    """Whether its failure was let pass."""
    spent: WorkflowUsage = NOTHING
    spent_before: WorkflowUsage = NOTHING
    """What of this the attempts before the present one have used."""
    index: int | None = None
    item: Any = None
    total: int = 0
    """For a fan-out: how many items there are, how many are over, and how many have failed."""
    done: int = 0
    lost: int = 0
    kept: list[int] = []
    """For a fan-out that is done again: the items that were completed before, and are not done again."""

    @property
    def waits_for(self) -> StepWait | None:
        return None if self.waits_kind is None else StepWait(self.waits_kind, self.waits_key)

    @property
    def waits_for_leave(self) -> bool:
        """Whether people are asked before it begins."""
        return self.status == "waiting" and self.asking == "leave" and self.waits_kind == "ask"

    def is_waiting_for(self, kind: WaitKind, key: str = "") -> bool:
        """Whether it waits for this very thing."""
        return self.waits_kind == kind and self.waits_key == key


class WorkflowAttempt(Row, frozen=True, kw_only=True):
    """An attempt that is over while its step continued; the last attempt is in the step itself."""

    run_id: str
    place: str
    """The step and the number of the attempt, so that keys sort in order."""
    step: str
    number: int
    status: AttemptStatus
    began_at: int | None = None
    ended_at: int | None = None
    agent_id: str | None = None
    agent_run: str | None = None
    error: Words | None = None
    round: int = 0
    spent: WorkflowUsage = WorkflowUsage()


class WorkflowEnding(Row, frozen=True, kw_only=True):
    """Something outside that a step does not want any more: it is ended as soon as the engine comes to it."""

    kind: OutsideKind
    key: str
    run_id: str
    step: str
    reason: Words = ""

    @property
    def work(self) -> OutsideWork:
        return OutsideWork(self.kind, self.key)


class RunWait(Row, frozen=True, kw_only=True):
    """A run that an open ask holds up, so that it is found when the ask is closed."""

    ask_id: str
    run_id: str


WORKFLOWS = Table("workflow", Workflow, ("name",), (("alias",), ("_seq",)))
VERSIONS = Table("workflow_version", WorkflowVersion, ("digest",), (("name", "version"),))
SAVED_VERSIONS = Table("workflow_saved_version", SavedVersion, ("name", "place"), (("name", "version"),))
WORKFLOW_RUNS = Table(
    "workflow_run",
    WorkflowRun,
    ("id",),
    (
        ("status", "seq"),
        ("workflow", "seq"),
        ("parent_id",),
        ("root_id",),
        ("thread_id", "seq"),
        ("created_at",),
        ("seq",),
        ("due",),
        ("_seq",),
    ),
)
FACTS = Table("workflow_facts", WorkflowFacts, ("run_id",))
STEPS = Table("workflow_step", WorkflowStep, ("run_id", "id"), (("run_id",), ("waits_kind", "waits_key"), ("due",)))
ATTEMPTS = Table("workflow_attempt", WorkflowAttempt, ("run_id", "place"), (("run_id",),))
WAITS = Table("workflow_wait", RunWait, ("ask_id", "run_id"), (("ask_id",),))
ENDINGS = Table("workflow_ending", WorkflowEnding, ("kind", "key"), (("run_id",),))


def format_version(version: int) -> str:
    """A version as a part of a key."""
    return f"{version:09d}"


def build_item_id(step: str, index: int) -> str:
    """The id of one item of a fan-out."""
    return f"{step}[{index}]"


def get_step_id(step_id: str) -> str:
    """The step that an item belongs to, or the step itself."""
    return step_id.partition("[")[0]
