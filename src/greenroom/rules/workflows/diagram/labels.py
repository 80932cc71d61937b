"""The labels of a diagram: the name of a step, its agent, and the condition of an edge."""

import unicodedata
from collections.abc import Mapping
from typing import Literal, NamedTuple

from greenroom.rules.workflows.definition import Step, WorkflowDefinition
from greenroom.rules.workflows.graph import Graph
from greenroom.rules.workflows.model import StepStatus

States = Mapping[str, StepStatus]
"""The status of steps by id, when a run is drawn."""
_MARKS: Mapping[StepStatus | None, str] = {
    "completed": "✓",
    "failed": "✗",
    "running": "▶",
    "waiting": "⏸",
    "skipped": "↷",
    "cancelled": "■",
}


ArrowKind = Literal["after", "when", "error"]


class DiagramArrow(NamedTuple):
    """One arrow of the picture."""

    source: str
    target: str
    label: str
    kind: ArrowKind


def find_arrows(definition: WorkflowDefinition) -> list[DiagramArrow]:
    """All arrows: what comes after what, under which condition, and where failures lead."""
    graph = Graph(definition)
    arrows = [
        DiagramArrow(edge.source, edge.target, edge.when or "", "when" if edge.when else "after")
        for edge in graph.edges
    ]
    return arrows + [DiagramArrow(edge.source, edge.target, "on error", "error") for edge in graph.routes]


def get_title(step: Step) -> str:
    return step.name or step.id


def build_subtitle(step: Step) -> str:
    """The agent of the step, or what it waits for."""
    match step.kind:
        case "agent":
            who = step.profile or (f"again {step.reuse_agent}" if step.reuse_agent else step.agent_runtime) or ""
        case "workflow":
            who = f"workflow {step.workflow}"
        case "wait":
            who = _describe_wait(step)
        case "set":
            who = f"set {', '.join(step.set or ['nothing'])}"
        case "gate":
            who = ""
    return " · ".join(part for part in (who, *_find_extras(step)) if part)


def _describe_wait(step: Step) -> str:
    wait = step.wait
    if wait is None:
        return ""
    if wait.seconds is not None:
        return f"wait {wait.seconds:g} s" if not isinstance(wait.seconds, str) else "wait for a time"
    if wait.until is not None:
        return "wait until a time"
    return "wait for a message" if wait.message is not None else f"wait for webhook {wait.webhook}"


def _find_extras(step: Step) -> list[str]:
    out: list[str] = []
    if step.level.kind != "mechanical":
        out.append(step.level.kind)
    if step.for_each is not None:
        out.append("for each")
    if step.loop is not None:
        out.append("loop")
    if step.retry.max:
        out.append(f"retry {step.retry.max}")
    if step.when is not None:
        out.append(f"if {step.when}")
    return out


def get_state_mark(state: StepStatus | None) -> str:
    """A sign for a status, so that the status is visible without colours."""
    return _MARKS.get(state, "")


def shorten(text: str, width: int) -> str:
    """A text that takes at most so many columns; characters of East Asia take two."""
    taken = 0
    for at, sign in enumerate(text):
        taken += 2 if unicodedata.east_asian_width(sign) in "WF" else 1
        if taken > width:
            return text[: max(0, at - 1)] + "…"
    return text
