"""The commands of workflows."""

from typing import Annotated, Any

from msgspec import Meta

from greenroom.log.model import Command
from greenroom.rules.workflows.core.news import News
from greenroom.rules.workflows.definition import WorkflowDefinition
from greenroom.rules.workflows.model import OutsideWork
from greenroom.sentences import Sentence


class PutWorkflow(Command, frozen=True, kw_only=True):
    """Create a workflow, or replace the version that was edited. Runs keep the version that they started with."""

    definition: WorkflowDefinition
    replaces: int | None = None
    """The version that was edited; 0 makes a new workflow. None makes one too, but accepts that the same is there."""
    overwrite: bool = False
    """Replace whatever version there is, as running a file does."""
    source: str = ""
    """The file it comes from, to be shown."""
    text: str = ""
    """The YAML that it was written in, comments and all, if it was."""


class RestoreWorkflow(Command, frozen=True, kw_only=True):
    """Save an earlier version as the newest one, also of a workflow that was deleted."""

    name: str
    version: int | None = None
    """None is the version before the present one, or the last one of a deleted workflow."""
    replaces: int | None = None
    """The version that the caller has seen as the newest (0: none); None is whatever there is."""


class DeleteWorkflow(Command, frozen=True, kw_only=True):
    """Delete a workflow; its runs continue."""

    name: str


class StartWorkflow(Command, frozen=True, kw_only=True):
    """Carry a workflow out."""

    run_id: str
    workflow: str
    digest: str | None = None
    """The very definition that is meant; None is the newest of that name."""
    inputs: dict[str, Any] = {}
    thread_id: str | None = None
    trigger: str = "hand"
    taint: str = ""
    """The taint of its start, such as `the agent Ada`."""
    directory: str | None = None
    parent_id: str | None = None
    """The run of which this is a step; the hub says so."""
    parent_step: str | None = None
    parent_attempt: int = 0


class TellRun(Command, frozen=True, kw_only=True):
    """Deliver news from outside to a run; the engine does this. News that comes too late changes nothing."""

    run_id: str
    news: list[News]


class EndingIsDone(Command, frozen=True, kw_only=True):
    """What a step did not want any more is ended; the engine says so."""

    what: list[OutsideWork]


Reason = Annotated[str, Meta(description="the reason, for the record")]


class PauseWorkflow(Command, frozen=True, kw_only=True):
    """Start no new steps in a run; running steps continue."""

    run_id: str
    reason: Reason = ""


class ResumeWorkflow(Command, frozen=True, kw_only=True):
    """Resume a paused run."""

    run_id: str


class AbortWorkflow(Command, frozen=True, kw_only=True):
    """Abort a run and everything that it started. Nothing new starts, except rollback steps."""

    run_id: str
    reason: Reason = ""
    said: Sentence | None = None
    """What the hub itself gives as the reason, in place of the other."""
    rollback: Annotated[bool, Meta(description="run the rollback steps of completed steps")] = False
    """Aborting a run that does so already ends it."""


class RetryWorkflow(Command, frozen=True, kw_only=True):
    """Retry a run that is over, from a step on or where it failed; finished steps are kept."""

    run_id: str
    step: str | None = None


class AmendStep(Command, frozen=True, kw_only=True):
    """Change a step that has not started, in this run only."""

    run_id: str
    step: str
    changes: dict[str, Any]
    taint: str = ""
    """Whose words they are, if no person's."""


class SignalStep(Command, frozen=True, kw_only=True):
    """Give a waiting step its value, or skip its wait."""

    run_id: str
    step: str
    value: Any = None
    taint: str = ""
    """Whose words they are, if no person's."""
