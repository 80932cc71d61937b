"""The events of workflows."""

from typing import Any, ClassVar, Literal

from greenroom.log.model import Event
from greenroom.rules.workflows.definition import WorkflowDefinition
from greenroom.rules.workflows.model import (
    OutsideWork,
    PersonWait,
    RunVerdict,
    StepVerdict,
    StepWait,
    WorkflowRunFields,
    WorkflowUsage,
)
from greenroom.sentences import Words


class WorkflowPut(Event, frozen=True, kw_only=True):
    """A workflow is as it is now, under a new version."""

    privileged: ClassVar[bool] = True
    name: str
    digest: str
    number: int
    definition: WorkflowDefinition
    source: str = ""
    text: str = ""
    restored_from: int = 0
    """The earlier version that was restored; 0 if it was written."""


class WorkflowDeleted(Event, frozen=True, kw_only=True):
    """A workflow was deleted; its runs continue."""

    privileged: ClassVar[bool] = True
    name: str


class WorkflowBegan(WorkflowRunFields, Event, frozen=True, kw_only=True):
    """A workflow is being carried out."""

    run_id: str
    inputs: dict[str, Any] = {}
    variables: dict[str, Any] = {}
    pinned: dict[str, str] = {}


class StepBegan(Event, frozen=True, kw_only=True):
    """An attempt starts. This is in the log before anything is done for it."""

    version: ClassVar[int] = 2
    run_id: str
    step: str
    attempt: int
    status: Literal["running", "waiting"]
    waits_for: StepWait
    due: int = 0
    dated: bool = False
    tries: int = 0
    round: int = 0
    resumed: str | None = None
    """The interrupted agent run that it resumes."""
    spent: WorkflowUsage = WorkflowUsage()
    """What the attempt before it has used, if that was interrupted."""
    rollback: bool = False
    """Whether it takes another step back; it is none of those that its run counts."""


class StepAsked(Event, frozen=True, kw_only=True):
    """A step waits for a person before it starts or continues."""

    run_id: str
    step: str
    ask_id: str
    about: str = "leave"
    """leave: may it begin? crash: what now?"""
    due: int = 0
    reason: Words = ""
    spent: WorkflowUsage = WorkflowUsage()


class WorkflowWaits(Event, frozen=True, kw_only=True):
    """A person is asked on behalf of a run: by a step, by the agent of a step, or in a nested workflow."""

    run_id: str
    wait: PersonWait


class WorkflowWaitEnded(Event, frozen=True, kw_only=True):
    """An ask that a run waited for is closed."""

    run_id: str
    ask_id: str


class StepFanned(Event, frozen=True, kw_only=True):
    """A step is to be done for each of these."""

    run_id: str
    step: str
    items: list[Any]
    kept: list[int] = []
    """Which of them are completed already."""


class StepDelayed(Event, frozen=True, kw_only=True):
    """An attempt has failed, and another follows after a while."""

    run_id: str
    step: str
    error: Words
    due: int
    spent: WorkflowUsage = WorkflowUsage()
    agent_id: str | None = None
    agent_run: str | None = None


class StepQueued(Event, frozen=True, kw_only=True):
    """A step could begin, and has to wait until one that is at work is over."""

    run_id: str
    step: str


class StepHeld(Event, frozen=True, kw_only=True):
    """A step could begin, and is held back because its run is paused."""

    run_id: str
    step: str
    leave: bool = False


class StepRepeats(Event, frozen=True, kw_only=True):
    """A turn of a loop is over, and another follows."""

    run_id: str
    step: str
    output: Any = None
    saved: dict[str, Any] = {}
    spent: WorkflowUsage = WorkflowUsage()
    agent_id: str | None = None
    agent_run: str | None = None


class StepMoved(Event, frozen=True, kw_only=True):
    """The attempt continues in another run: the agent was asked to correct its output."""

    version: ClassVar[int] = 2
    run_id: str
    step: str
    waits_for: StepWait
    reason: Words
    spent: WorkflowUsage = WorkflowUsage()
    agent_id: str | None = None


class StepEnded(Event, frozen=True, kw_only=True):
    """A step is over."""

    run_id: str
    step: str
    status: StepVerdict
    output: Any = None
    error: Words | None = None
    reason: Words | None = None
    debt: bool = False
    reached: list[str] = []
    """The steps after it that wait for others still."""
    saved: dict[str, Any] = {}
    """Variables that it sets."""
    spent: WorkflowUsage = WorkflowUsage()
    agent_id: str | None = None
    agent_run: str | None = None
    kept_as: str | None = None


class StepReset(Event, frozen=True, kw_only=True):
    """A step is to be done again."""

    run_id: str
    step: str
    seen: int
    keeps: bool = False
    """Whether those of its items that are completed stay so."""


class EndingWanted(Event, frozen=True, kw_only=True):
    """Something outside is to be ended, because its step does not want it any more."""

    version: ClassVar[int] = 2
    run_id: str
    step: str
    what: OutsideWork
    reason: Words = ""


class EndingDone(Event, frozen=True, kw_only=True):
    """It is ended."""

    version: ClassVar[int] = 2
    what: OutsideWork


class WorkflowPaused(Event, frozen=True, kw_only=True):
    """No step starts until the run is resumed; running steps continue."""

    privileged: ClassVar[bool] = True
    run_id: str
    reason: Words = ""


class WorkflowResumed(Event, frozen=True, kw_only=True):
    """A run was resumed."""

    privileged: ClassVar[bool] = True
    run_id: str


class WorkflowAmended(Event, frozen=True, kw_only=True):
    """A step that had not started was changed, for this run only."""

    privileged: ClassVar[bool] = True
    run_id: str
    step: str
    digest: str
    definition: WorkflowDefinition


class WorkflowTainted(Event, frozen=True, kw_only=True):
    """Words that are no person's came into a run."""

    run_id: str
    taint: str


class WorkflowRetried(Event, frozen=True, kw_only=True):
    """A run is retried from a step on; steps that finished before it are kept."""

    privileged: ClassVar[bool] = True
    run_id: str
    steps: list[str]
    due: int = 0


class WorkflowTimesMoved(Event, frozen=True, kw_only=True):
    """The clock was set: what waits for a span of time waits for as long as it would have."""

    ms: int


class WorkflowStopping(Event, frozen=True, kw_only=True):
    """A run will end with this status, once running steps have ended and rollbacks are done."""

    run_id: str
    verdict: RunVerdict
    error: Words | None = None
    takes_back: bool | None = None
    """Whether rollback steps are carried out; None, in older logs, is whether it has failed."""


class WorkflowEnded(Event, frozen=True, kw_only=True):
    """A run is over."""

    run_id: str
    status: RunVerdict
    output: Any = None
    error: Words | None = None
