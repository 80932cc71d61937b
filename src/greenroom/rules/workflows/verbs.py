"""The verbs for workflows, their runs and triggers, for every door."""

from greenroom.log.model import Command
from greenroom.rules.verb import Verb
from greenroom.rules.workflows import commands as c
from greenroom.rules.workflows.model import WORKFLOW_RUNS
from greenroom.rules.workflows.triggers.model import TRIGGERS, ArmTrigger

_TRIGGER = "/api/triggers/{trigger_id}"


def _build_run_verb(command: type[Command], name: str, says: str, *takes: str) -> Verb:
    return Verb(
        command, "POST", f"/api/workflow-runs/{{run_id}}/{name}", "operate", says, takes=takes, answer=WORKFLOW_RUNS
    )


WORKFLOW_VERBS = (
    Verb(
        c.DeleteWorkflow,
        "DELETE",
        "/api/workflows/{name}",
        "operate",
        "Delete a workflow; its runs continue, and its versions can be restored",
        status=204,
    ),
    _build_run_verb(c.PauseWorkflow, "pause", "Pause a run: start no new steps", "reason"),
    _build_run_verb(c.ResumeWorkflow, "resume", "Resume a paused run"),
    _build_run_verb(c.AbortWorkflow, "abort", "Abort a run and everything that it started", "reason", "rollback"),
    _build_run_verb(c.RetryWorkflow, "retry", "Retry a run that is over, keeping finished steps", "step"),
    _build_run_verb(c.AmendStep, "amend", "Change a step that has not started or will be retried", "step", "changes"),
    _build_run_verb(c.SignalStep, "signal", "Give a waiting step its value", "step", "value"),
)
TRIGGER_VERBS = (
    Verb(
        ArmTrigger,
        "POST",
        f"{_TRIGGER}/arm",
        "operate",
        "Arm a trigger",
        sets={"armed": True},
        answer=TRIGGERS,
    ),
    Verb(
        ArmTrigger,
        "POST",
        f"{_TRIGGER}/disarm",
        "operate",
        "Disarm a trigger",
        sets={"armed": False},
        answer=TRIGGERS,
    ),
)
