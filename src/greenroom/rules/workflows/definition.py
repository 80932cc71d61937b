"""A workflow: inputs, variables, steps and edges. All other forms are converted into this one.

Texts called expressions are CEL (greenroom.expressions); texts called templates hold `{{ expression }}` parts. In a
mapping of values (`inputs`, `set`, `output`, `save`) a text is an expression, and anything else is the value itself.
"""

from collections.abc import Iterator
from typing import Any, Literal

import msgspec

InputType = Literal["string", "integer", "number", "boolean", "list", "object", "any"]
StepKind = Literal["agent", "workflow", "wait", "set", "gate"]
TriggerKind = Literal["cron", "webhook", "message", "after"]
Failure = Literal["failed", "timeout", "interrupted", "output", "expression"]
"""failed: the agent's run failed · timeout: it took too long · interrupted: a crash · output: it breaks its schema."""
Policy = Literal["all_success", "first_success", "allow_debt"]
CatchUp = Literal["skip", "once", "all"]


class DefinitionPart(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A part of a definition."""


class Input(DefinitionPart, frozen=True, kw_only=True):
    """One value that the caller provides when it starts the workflow."""

    type: InputType = "string"
    description: str = ""
    required: bool = True
    """Whether the caller must provide it. An input with a default is optional."""
    default: Any = None
    choices: list[Any] = []
    """The only allowed values; empty allows all of the type."""


class AgentConfig(DefinitionPart, frozen=True, kw_only=True):
    """Settings of one step's agent, in place of those of its profile or runtime."""

    name: str = ""
    """The name that the agent is kept under, for `reuse_agent` of later steps."""
    model: str | None = None
    system_prompt: str | None = None
    """Template."""
    work_dir: str | None = None
    """Template."""
    timeout_s: int | None = None
    max_tokens: int | None = None
    temperature: float | None = None


class RetryPolicy(DefinitionPart, frozen=True, kw_only=True):
    """How often and when a failed attempt is retried: after backoff_s, then after factor times as long, and so on."""

    max: int = 0
    """Attempts after the first one."""
    backoff_s: float = 1.0
    factor: float = 2.0
    max_backoff_s: float = 3600.0
    jitter: float = 0.1
    """The fraction by which a pause may be longer, so that steps do not retry all at once."""
    on: list[Failure] = []
    """The failures to retry; empty retries all except failing expressions."""


class ForEach(DefinitionPart, frozen=True, kw_only=True):
    """Runs the step once for each item of a list. Its output is the list of their outputs, in order."""

    items: str | list[Any]
    """Expression that gives a list, or the list itself."""
    name: str = msgspec.field(name="as", default="item")
    """The name of the item in the step's own expressions; its index from 0 is `index`."""
    parallel: int = 10
    """How many items run at a time."""
    join: Literal["all", "any", "settled"] = "all"
    """all: every item must succeed · any: one is enough · settled: items may fail, with null as their output."""


class LoopConfig(DefinitionPart, frozen=True, kw_only=True):
    """Repeats the step. `round.index` counts from 0, `round.last` is the output of the previous round."""

    while_: str | None = msgspec.field(name="while", default=None)
    """Expression, evaluated before every round except the first: continue while true. `output` is the last round's."""
    until: str | None = None
    """Expression, evaluated after every round: stop when it is true."""
    max: int = 10
    """The maximum number of rounds. The step fails if the condition still asks for another one."""


class MessageFilter(DefinitionPart, frozen=True, kw_only=True):
    """A message: its thread, its author, and words in it."""

    thread: str = ""
    """Template: id or topic of the thread; empty matches any."""
    sender: str = msgspec.field(name="from", default="")
    """Name or id of the author, for a person that of their credential. Empty: anybody, or for a trigger any person."""
    contains: str = ""
    """Text that it contains, in upper or lower case; empty matches any message."""


class WaitConfig(DefinitionPart, frozen=True, kw_only=True):
    """What the step waits for; exactly one of these."""

    seconds: float | str | None = None
    """A number, or an expression that gives one."""
    until: str | None = None
    """Expression that gives a time: an RFC 3339 text, or milliseconds since 1970."""
    message: MessageFilter | None = None
    """The output is {id, thread_id, author, content, seq}."""
    webhook: str | None = None
    """The name under which the hub accepts a signed call; the output is its body."""


class Level(DefinitionPart, frozen=True, kw_only=True):
    """How people decide before the step runs."""

    kind: Literal["mechanical", "recommended", "confirmed", "arbitrated"] = "mechanical"
    """mechanical: nobody decides · recommended: after a time · confirmed: one approval · arbitrated: several."""
    question: str = ""
    """Template: the question to people; empty uses the hub's own."""
    timeout_s: int | None = None
    """recommended: when `default` applies (default: 300); otherwise when the ask expires (default: never)."""
    default: Literal["run", "skip", "abort"] = "run"
    """recommended: what happens when nobody objects in time."""
    stakeholders: list[str] = []
    """Who may answer: people by the names of their credentials, rooms as room:NAME. Required for arbitrated."""
    quorum: int | None = None
    """arbitrated: how many of them must approve; default: all. It is denied once too few are left to agree."""


class Step(DefinitionPart, frozen=True, kw_only=True):
    """One step of the graph: an agent's work, a nested workflow, a wait, computed values, or only a gate."""

    id: str
    name: str = ""
    description: str = ""
    profile: str | None = None
    """The name of a profile of the hub."""
    agent_runtime: str | None = None
    """The driver of an agent without a profile: claude, opencode, codex, rehearsal, ..."""
    agent_config: AgentConfig = AgentConfig()
    prompt: str | None = None
    """Template."""
    skill: str | None = None
    """The name of a skill. Its text is in `skills` of the workflow or in a folder `skills`."""
    dependencies: list[str] = []
    """Steps that come before; the same as edges without a condition."""
    join: Literal["all", "any"] = "all"
    """all: it is skipped when any incoming edge was not taken · any: it runs when at least one was."""
    when: str | None = None
    """Expression: the step is skipped unless it is true."""
    inputs: dict[str, Any] = {}
    """Values by name, `input.<name>` in the step's own texts; for a nested workflow its inputs."""
    output: str | dict[str, Any] | None = None
    """Computes the step's output from the agent's answer (`output`): one expression, or one for each field."""
    save: dict[str, Any] = {}
    """Variables for later steps, computed from the answer (`output`)."""
    output_schema: dict[str, Any] | None = None
    """JSON Schema; the agent must answer with JSON that matches it. Without it, the output is the agent's text."""
    reuse_agent: str | None = None
    """The name of an agent that an earlier step keeps, or `pool:NAME` of one that another run keeps."""
    keep_agent: bool = False
    """Keep the agent after the step, so that a later step can continue in its session."""
    keep_as: str | None = None
    """`pool:NAME` keeps the agent beyond the run; otherwise it is kept until the run's end."""
    retry: RetryPolicy = RetryPolicy()
    timeout_s: int | None = None
    on_error: str = "abort"
    """abort: the run fails · skip: this step and what depends on it · ignore: as if it had succeeded, output null ·
    route:STEP: that step runs instead of those that depend on this one."""
    on_crash: Literal["rerun", "resume", "probe", "ask"] = "resume"
    """After a crash: start again, resume the agent's session, let the agent check what it did, or ask a person."""
    for_each: ForEach | None = None
    loop: LoopConfig | None = None
    workflow: str | None = None
    """The name of a workflow: in `workflows`, or stored in the hub."""
    wait: WaitConfig | None = None
    set: dict[str, Any] | None = None
    """Values that the engine computes; the output is an object with them."""
    level: Level = Level()
    rollback: "list[Step]" = []
    """Steps to run if the run fails, or is aborted with --rollback, after this step completed; the last ones first."""
    files: list[str] = []
    """Templates: paths that the agent should look at."""
    context: list[Literal["outputs", "variables", "summary"]] = msgspec.field(default_factory=lambda: ["outputs"])
    """What the agent gets besides its prompt: outputs of the steps before it, variables, a summary of the run."""

    @property
    def kind(self) -> StepKind:
        if self.workflow is not None:
            return "workflow"
        if self.wait is not None:
            return "wait"
        if self.set is not None:
            return "set"
        if self.prompt is None and self.skill is None:
            return "gate"
        return "agent"

    @property
    def route(self) -> str | None:
        """The step that is taken when this one fails, if on_error says so."""
        return self.on_error.removeprefix("route:") if self.on_error.startswith("route:") else None

    @property
    def kept_name(self) -> str | None:
        """The name that this step's agent is kept under, if it is kept."""
        if not self.keep_agent:
            return None
        return self.keep_as or self.agent_config.name or self.id


class Edge(DefinitionPart, frozen=True, kw_only=True):
    """One step comes before another. With a condition, the second step is reached only if it is true then."""

    source: str = msgspec.field(name="from")
    target: str = msgspec.field(name="to")
    when: str | None = None


class AfterWorkflow(DefinitionPart, frozen=True, kw_only=True):
    """The end of a run of another workflow."""

    workflow: str
    status: Literal["completed", "failed", "any"] = "completed"


class Trigger(DefinitionPart, frozen=True, kw_only=True):
    """Starts the workflow automatically; exactly one of cron, webhook, message and after."""

    id: str = ""
    """Unique in the definition; missing ones become trigger1, trigger2, ..."""
    cron: str | None = None
    """minute hour day month weekday, such as `0 3 * * mon-fri`; or @daily, @hourly, ..."""
    timezone: str = "UTC"
    catch_up: CatchUp = "once"
    """What happens about times that passed while the hub was away: skip them, start once, or start for all of them."""
    webhook: bool = False
    """Started by a signed call."""
    message: MessageFilter | None = None
    after: AfterWorkflow | None = None
    inputs: dict[str, Any] = {}
    """The workflow's inputs, by expressions over `trigger`."""
    enabled: bool = True


class WorkflowLimits(DefinitionPart, frozen=True, kw_only=True):
    """Limits of one run of the workflow; null is no limit."""

    timeout_s: int | None = None
    max_tokens: int | None = None
    max_cost_usd: float | None = None
    max_parallel: int = 50
    """How many attempts run at a time."""


class SkillText(DefinitionPart, frozen=True, kw_only=True):
    """The text of a skill as it was when the definition was loaded."""

    name: str = ""
    description: str = ""
    text: str


class WorkflowDefinition(DefinitionPart, frozen=True, kw_only=True):
    """One workflow. A run keeps the version that it started with."""

    name: str
    id: str = ""
    """An id for other programs; empty if the name is enough."""
    project: str = ""
    description: str = ""
    inputs: dict[str, Input] = {}
    variables: dict[str, Any] = {}
    """Initial values; a text with `{{ }}` in it is a template over the inputs."""
    steps: list[Step]
    edges: list[Edge] = []
    output: str | dict[str, Any] | None = None
    """The run's output: one expression, or one for each field. Without it, the last steps' outputs by their ids."""
    policy: Policy = "all_success"
    """all_success: one failed step fails the run · first_success: the first of the last steps that succeeds ends it ·
    allow_debt: it continues as far as it can, and completes with its failures noted."""
    triggers: list[Trigger] = []
    limits: WorkflowLimits = WorkflowLimits()
    skills: dict[str, SkillText] = {}
    workflows: "dict[str, WorkflowDefinition]" = {}
    """Nested workflows that came with this one."""

    def all_edges(self) -> Iterator[Edge]:
        """What is written under edges, and the steps' dependencies that are not written there."""
        seen = {(edge.source, edge.target) for edge in self.edges}
        yield from self.edges
        for step in self.steps:
            for source in dict.fromkeys(step.dependencies):
                if (source, step.id) not in seen:
                    yield Edge(source=source, target=step.id)
