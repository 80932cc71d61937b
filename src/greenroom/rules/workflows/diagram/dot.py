"""A workflow in DOT, the language of Graphviz."""

import json

from greenroom.rules.workflows.definition import WorkflowDefinition
from greenroom.rules.workflows.diagram.labels import (
    States,
    build_subtitle,
    find_arrows,
    get_state_mark,
    get_title,
    shorten,
)

_SHAPES = {"agent": "box", "workflow": "box3d", "wait": "ellipse", "set": "note", "gate": "hexagon"}


def to_dot(definition: WorkflowDefinition, states: States | None = None) -> str:
    """The text of a digraph."""
    states = states or {}
    lines = [f"digraph {_quote(definition.name)} {{", '    node [fontname="sans-serif" style="rounded"]']
    for step in definition.steps:
        words = f"{get_state_mark(states.get(step.id))} {shorten(get_title(step), 60)}".strip()
        below = shorten(build_subtitle(step), 60)
        label = _quote(words + ("\n" + below if below else ""))
        lines.append(f"    {_quote(step.id)} [label={label} shape={_SHAPES[step.kind]}]")
    for arrow in find_arrows(definition):
        style = {"after": "solid", "when": "dashed", "error": "dotted"}[arrow.kind]
        label = f" label={_quote(shorten(arrow.label, 40))}" if arrow.label else ""
        lines.append(f"    {_quote(arrow.source)} -> {_quote(arrow.target)} [style={style}{label}]")
    return "\n".join([*lines, "}"]) + "\n"


def _quote(text: str) -> str:
    """A DOT string: like JSON's for what matters, quotes, backslashes and ends of lines."""
    return json.dumps(text, ensure_ascii=False)
