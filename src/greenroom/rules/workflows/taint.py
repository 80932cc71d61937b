"""Taint of workflow runs: words of strangers that enter a run, and pass to everything that its steps start."""

from typing import Protocol

from greenroom.log.model import Context, Event, Follow, Rows
from greenroom.rules.access.model import Principal
from greenroom.rules.asks.call_text import escape_invisible
from greenroom.rules.runs.lineage import get_caller_taint
from greenroom.rules.runs.model import RUNS
from greenroom.rules.threads.model import MESSAGES
from greenroom.rules.workflows.events import StepEnded, WorkflowTainted
from greenroom.rules.workflows.model import WORKFLOW_RUNS, WorkflowRun, get_step_id
from greenroom.rules.workflows.queries import load_plan

WEBHOOK = "a webhook"
TAINT_CHARS = 200
_EARLIER = 20


class HeardWords(Protocol):
    """What the steps of a plan receive from outside."""

    @property
    def hears_webhooks(self) -> bool: ...

    def find_heard_messages(self) -> list[str]: ...


def get_work_taint(rows: Rows, run: WorkflowRun, heard: HeardWords) -> str:
    """Whose words come into what a step starts now; empty if they are all a person's."""
    if heard.hears_webhooks:
        return WEBHOOK
    messages = (get_message_taint(rows, message_id) for message_id in heard.find_heard_messages())
    return get_run_taint(rows, run) or next((taint for taint in messages if taint), "")


def get_run_taint(rows: Rows, run: WorkflowRun) -> str:
    """The taint of a run: of its start, of the run before it, or of news since."""
    begun: WorkflowRun | None = run
    for _ in range(_EARLIER):
        root = rows.get(WORKFLOW_RUNS, begun.root_id) if begun is not None else None
        if begun is None or root is None:
            return ""
        if begun.taint or root.taint:
            return begun.taint or root.taint
        kind, _, named = root.trigger.partition(" ")
        if kind != "after":
            return WEBHOOK if kind == "webhook" else ""
        begun = rows.get(WORKFLOW_RUNS, named)
    return WEBHOOK  # it is no longer known


def get_message_taint(rows: Rows, message_id: str) -> str:
    """Whose words a message is, unless a person has written it."""
    message = rows.get(MESSAGES, message_id)
    return f"the agent {escape_invisible(message.author_name)}" if message is not None and message.agent else ""


def taint_run(rows: Rows, by: Principal, run: WorkflowRun, taint: str) -> list[Event]:
    """Taint a run that gets news from anybody but a person."""
    taint = taint or get_caller_taint(rows, by)
    return [WorkflowTainted(run_id=run.id, taint=taint[:TAINT_CHARS])] if taint and not run.taint else []


def on_step_ended(rows: Rows, event: StepEnded, context: Context) -> list[Event]:
    """What a step gives on comes into all that follows it."""
    run = rows.get(WORKFLOW_RUNS, event.run_id)
    if run is None or run.taint:
        return []
    taint = _get_output_taint(rows, run, event)
    return [WorkflowTainted(run_id=run.id, taint=taint[:TAINT_CHARS])] if taint else []


def on_workflow_tainted(rows: Rows, event: WorkflowTainted, context: Context) -> list[Event]:
    """What a nested run gives on comes into the one that it is a step of."""
    run = rows.get(WORKFLOW_RUNS, event.run_id)
    above = rows.get(WORKFLOW_RUNS, run.parent_id) if run is not None and run.parent_id else None
    return [WorkflowTainted(run_id=above.id, taint=event.taint)] if above is not None and not above.taint else []


def _get_output_taint(rows: Rows, run: WorkflowRun, event: StepEnded) -> str:
    if event.agent_run is not None:
        agent_run = rows.get(RUNS, event.agent_run)
        return agent_run.taint if agent_run is not None else ""
    node = load_plan(rows, run).nodes.get(get_step_id(event.step))
    wait = node.step.wait if node is not None else None
    if wait is None or event.status != "completed":
        return ""
    if wait.message is not None and isinstance(event.output, dict):
        return get_message_taint(rows, str(event.output.get("id")))
    return WEBHOOK if wait.webhook is not None else ""


FOLLOW: dict[type[Event], Follow] = {StepEnded: on_step_ended, WorkflowTainted: on_workflow_tainted}
