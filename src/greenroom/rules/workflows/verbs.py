"""The verbs for workflows, their runs and triggers, for every door."""

from greenroom.log.model import Command
from greenroom.rules.verb import CliOption, CliVerb, Verb
from greenroom.rules.workflows import commands as c
from greenroom.rules.workflows.model import WORKFLOW_RUNS
from greenroom.rules.workflows.triggers.model import TRIGGERS, ArmTrigger

_TRIGGER = "/api/triggers/{trigger_id}"


def _build_run_verb(command: type[Command], name: str, says: str, *takes: str, cli: CliVerb | None) -> Verb:
    path = f"/api/workflow-runs/{{run_id}}/{name}"
    return Verb(command, "POST", path, "operate", says, takes=takes, answer=WORKFLOW_RUNS, cli=cli)


def _build_cli_verb(name: str, example: str = "", **options: CliOption) -> CliVerb:
    done = "{id} is {status}"
    return CliVerb(f"dag {name}", done, f"wfr_01m7... {example}".rstrip(), "RUN", "wfr", options=options)


WORKFLOW_VERBS = (
    Verb(
        c.DeleteWorkflow,
        "DELETE",
        "/api/workflows/{name}",
        "operate",
        "Delete a workflow; its runs continue, and its versions can be restored",
        status=204,
    ),
)
WORKFLOW_RUN_VERBS = (
    _build_run_verb(
        c.PauseWorkflow, "pause", "Pause a run: start no new steps", "reason", cli=_build_cli_verb("pause")
    ),
    _build_run_verb(c.ResumeWorkflow, "resume", "Resume a paused run", cli=_build_cli_verb("resume")),
    _build_run_verb(
        c.AbortWorkflow,
        "abort",
        "Abort a run and everything that it started",
        "reason",
        "rollback",
        cli=_build_cli_verb("abort"),
    ),
    _build_run_verb(
        c.RetryWorkflow,
        "retry",
        "Retry a run that is over, keeping finished steps",
        "step",
        cli=_build_cli_verb(
            "retry", "--from review", step=CliOption("from", "STEP", "repeat this step and all after it")
        ),
    ),
    _build_run_verb(
        c.AmendStep, "amend", "Change a step that has not started or will be retried", "step", "changes", cli=None
    ),
    _build_run_verb(
        c.SignalStep,
        "signal",
        "Give a waiting step its value",
        "step",
        "value",
        cli=_build_cli_verb("signal", "callback --value '{}'", value=CliOption("value", says="JSON, otherwise text")),
    ),
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
