"""The kinds of news that `advance` takes."""

from typing import Any, Literal

import msgspec

from greenroom.rules.workflows.model import RunVerdict, WorkflowUsage
from greenroom.sentences import Words


class News(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened outside and that a run must process."""


class Begin(News, frozen=True, kw_only=True):
    """The run begins."""


class Ended(News, frozen=True, kw_only=True):
    """An attempt is over."""

    step: str
    attempt: int
    ok: bool
    output: Any = None
    error: Words | None = None
    failure: str = "failed"
    """What kind of failure it was, as retry.on names them."""
    spent: WorkflowUsage = WorkflowUsage()
    agent_id: str | None = None
    agent_run: str | None = None
    final: bool = False
    """Another try would not help."""


class Work(News, frozen=True, kw_only=True):
    """An attempt that needs no agent and no person: it computes values."""

    step: str
    attempt: int


class Interrupted(News, frozen=True, kw_only=True):
    """The machine of an agent went down while it was at an attempt."""

    step: str
    attempt: int
    error: Words
    agent_run: str
    spent: WorkflowUsage = WorkflowUsage()
    can_resume: bool = True
    is_unbegun: bool = False
    """Whether the agent had received nothing yet, so that starting again does nothing twice."""


class Mend(News, frozen=True, kw_only=True):
    """An agent's output does not fit, and it is asked once to mend it."""

    step: str
    attempt: int
    reason: Words
    spent: WorkflowUsage = WorkflowUsage()
    agent_id: str | None = None


class Due(News, frozen=True, kw_only=True):
    """The time that a step had or waited for is over."""

    step: str
    due: int


class RunDue(News, frozen=True, kw_only=True):
    """The time that the whole run had is over."""

    due: int


StepAnswer = Literal["go", "skip", "stop", "rerun", "resume"]


class Answered(News, frozen=True, kw_only=True):
    """A person has answered what a step asked: go, skip or stop; or what to do after a crash, rerun or resume."""

    step: str
    ask_id: str
    verdict: StepAnswer
    words: Words = ""
    output: Any = None
    """What the step gives on when it is nothing but a gate."""


class AskAgain(News, frozen=True, kw_only=True):
    """What people were asked to approve has changed."""

    step: str


class PauseRequested(News, frozen=True, kw_only=True):
    """Begin nothing new."""

    reason: str = ""


class ResumeRequested(News, frozen=True, kw_only=True):
    """Resume."""


class StopRequested(News, frozen=True, kw_only=True):
    """End the run."""

    verdict: RunVerdict = "cancelled"
    error: Words | None = None
    cascade: bool = False
    """Whether the runs below it get the news too; otherwise each is ended by itself."""
    rollback: bool = False
    """Whether completed steps are rolled back first."""


class RetryRequested(News, frozen=True, kw_only=True):
    """Do a step and all after it again; without a step, all that failed or was cancelled."""

    step: str | None = None
