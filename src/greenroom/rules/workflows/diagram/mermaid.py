"""A workflow as a Mermaid flowchart, for Markdown pages."""

from greenroom.rules.workflows.definition import Step, WorkflowDefinition
from greenroom.rules.workflows.diagram.labels import (
    States,
    build_subtitle,
    find_arrows,
    get_state_mark,
    get_title,
    shorten,
)
from greenroom.rules.workflows.model import StepStatus

_SHAPES = {"agent": ("(", ")"), "workflow": ("[[", "]]"), "wait": ("([", "])"), "set": ("[", "]"), "gate": ("{{", "}}")}
_COLOURS = {
    "completed": "#2e7d4f",
    "failed": "#c0392b",
    "running": "#1f6feb",
    "waiting": "#b7791f",
    "skipped": "#8a8f98",
}


def to_mermaid(definition: WorkflowDefinition, states: States | None = None) -> str:
    """The text of a flowchart. Ids are our own, so that no name can be read as Mermaid's words."""
    states = states or {}
    ids = {step.id: f"s{at}" for at, step in enumerate(definition.steps)}
    lines = ["flowchart TB"]
    for step in definition.steps:
        lines.append(f"    {ids[step.id]}{_write_box(step, states.get(step.id))}")
    for arrow in find_arrows(definition):
        sign = {"after": "-->", "when": "-.->", "error": "==>"}[arrow.kind]
        label = f'|"{_clean(shorten(arrow.label, 40))}"|' if arrow.label else ""
        lines.append(f"    {ids[arrow.source]} {sign}{label} {ids[arrow.target]}")
    for state, colour in _COLOURS.items():
        members = [ids[step] for step, found in states.items() if found == state and step in ids]
        if members:
            lines.append(f"    classDef {state} stroke:{colour},stroke-width:2px")
            lines.append(f"    class {','.join(members)} {state}")
    return "\n".join(lines) + "\n"


def _write_box(step: Step, state: StepStatus | None) -> str:
    begin, end = _SHAPES[step.kind]
    words = " ".join(part for part in (get_state_mark(state), _clean(shorten(get_title(step), 60))) if part)
    below = _clean(shorten(build_subtitle(step), 60))
    return f'{begin}"{words}{"<br/>" + below if below else ""}"{end}'


def _clean(text: str) -> str:
    """Text that cannot end its quotes or be read as markup."""
    return "".join(sign if sign.isalnum() or sign in " .,:;-_/+·…()[]'=!?|*" else f"#{ord(sign)};" for sign in text)
