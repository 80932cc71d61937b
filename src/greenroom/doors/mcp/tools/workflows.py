"""Tools that list, start, show and control workflows."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from greenroom.doors.mcp.tool import McpCall, NoArgs, Tool
from greenroom.doors.mcp.tools.speaker import get_taint
from greenroom.errors import Refused
from greenroom.ids import new_id
from greenroom.json_types import JsonObject
from greenroom.rules.workflows.model import ENDED, WorkflowRun
from greenroom.rules.workflows.queries import find_workflows, need_version, need_workflow_run
from greenroom.rules.workflows.report import build_report
from greenroom.rules.workflows.verbs import WORKFLOW_RUN_VERBS
from greenroom.sentences import Words
from greenroom.services.workflow_service import start_workflow, wait_for_workflow

_PATIENCE_S = 45.0
_SHOWN_STEPS = 200
_CONTROLS = {verb.path.rpartition("/")[2]: verb for verb in WORKFLOW_RUN_VERBS}


async def workflow_list(call: McpCall[NoArgs]) -> Any:
    found = []
    for workflow in find_workflows(call.hub.rows, call.by):
        definition = need_version(call.hub.rows, workflow.digest).definition
        inputs = {
            name: {"type": one.type, "required": one.required, "description": one.description}
            for name, one in definition.inputs.items()
        }
        about = {"description": workflow.description, "version": workflow.version, "steps": workflow.steps}
        found.append({"name": workflow.name, **about, "inputs": inputs})
    return {"workflows": found}


class StartArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    workflow: Annotated[str, Meta(description="The workflow's name, from workflow_list.")]
    inputs: Annotated[JsonObject, Meta(description="Its inputs by name.")] = {}
    thread_id: Annotated[str | None, Meta(description="The thread that it belongs to.")] = None
    wait: Annotated[bool, Meta(description="Wait a while for its end; false returns at once.")] = True


async def workflow_start(call: McpCall[StartArgs]) -> Any:
    args, hub = call.args, call.hub
    run = await start_workflow(
        hub.log,
        call.by,
        args.workflow,
        inputs=args.inputs,
        thread_id=args.thread_id,
        trigger="mcp",
        taint=get_taint(call),
    )
    if args.wait:
        run = await wait_for_workflow(hub.log, run.id, _PATIENCE_S) or need_workflow_run(hub.rows, call.by, run.id)
    return build_workflow_status(call, run)


class StatusArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    run_id: Annotated[str, Meta(description="The run that workflow_start gave.")]
    wait: Annotated[bool, Meta(description="Wait a while for its end.")] = True


async def workflow_status(call: McpCall[StatusArgs]) -> Any:
    run = need_workflow_run(call.hub.rows, call.by, call.args.run_id)
    if call.args.wait and run.status not in ENDED:
        ended = await wait_for_workflow(call.hub.log, run.id, _PATIENCE_S)
        run = ended or need_workflow_run(call.hub.rows, call.by, run.id)
    return build_workflow_status(call, run)


class ControlArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    run_id: Annotated[str, Meta(description="The run of a workflow.")]
    action: Annotated[
        Literal["pause", "resume", "abort", "retry", "amend", "signal"], Meta(description="What to do with it.")
    ]
    step: Annotated[str | None, Meta(description="For retry from a step on, amend and signal: the step.")] = None
    changes: Annotated[JsonObject, Meta(description="For amend: the step's keys that change.")] = {}
    value: Annotated[Any, Meta(description="For signal: what the step waits for.")] = None
    reason: Annotated[str, Meta(description="Why, for those who look at it later.")] = ""
    rollback: Annotated[bool, Meta(description="For abort: take back what was completed first.")] = False


async def workflow_control(call: McpCall[ControlArgs]) -> Any:
    args, by = call.args, call.by
    if args.action in ("amend", "signal") and args.step is None:
        raise Refused("step_missing", action=args.action)
    verb = _CONTROLS[args.action]
    given = {name: getattr(args, name) for name in verb.takes}
    if "taint" in verb.command.__struct_fields__:
        given["taint"] = get_taint(call)
    await call.hub.log.do(verb.build_command(by, None, args.run_id, given, new_id))
    return build_workflow_status(call, need_workflow_run(call.hub.rows, by, args.run_id))


def _word(words: Words | None) -> str | None:
    return None if words is None else str(words)


def build_workflow_status(call: McpCall[Any], run: WorkflowRun) -> dict[str, Any]:
    """A run as a caller sees it; for a run that is not over, it says what to do next."""
    steps = build_report(call.hub.rows, run, call.hub.log.clock.now()).steps
    out: dict[str, Any] = {
        "run_id": run.id,
        "workflow": run.workflow,
        "status": run.status,
        "waiting": run.waiting,
        "waits_for": run.waits_for,
        "output": run.output,
        "error": _word(run.error),
        "note": _word(run.note),
        "usage": run.spent,
        "steps": [
            {
                "id": step.id,
                "status": step.status,
                "attempts": len(step.attempts),
                "error": _word(step.error or step.reason),
            }
            for step in steps[:_SHOWN_STEPS]
        ],
    }
    if run.status not in ENDED:
        out["next"] = "It is not over yet: call workflow_status with this run_id."
    return out


WORKFLOW_TOOLS: tuple[Tool[Any], ...] = (
    Tool("workflow_list", "Which workflows there are, and what they take.", NoArgs, "read", workflow_list),
    Tool(
        "workflow_start",
        "Carry a workflow out, and wait for what comes of it. What takes longer than 45 seconds comes back as a run"
        " for workflow_status.",
        StartArgs,
        "operate",
        workflow_start,
        waits=True,
    ),
    Tool(
        "workflow_status",
        "How a run of a workflow and its steps stand.",
        StatusArgs,
        "read",
        workflow_status,
        waits=True,
    ),
    Tool(
        "workflow_control",
        "Pause, resume or abort a run of a workflow, take it up again, change a step or give it what it waits for.",
        ControlArgs,
        "operate",
        workflow_control,
    ),
)
