"""A workflow in DOT, the language of Graphviz."""

import json

from greenroom.nouns.workflows.definition import Definition
from greenroom.nouns.workflows.drawing.labels import States, find_arrows, shorten, state_mark, subtitle, title

_SHAPES = {"agent": "box", "workflow": "box3d", "wait": "ellipse", "set": "note", "gate": "hexagon"}


def to_dot(definition: Definition, states: States | None = None) -> str:
    """The text of a digraph."""
    states = states or {}
    lines = [f"digraph {_quoted(definition.name)} {{", '    node [fontname="sans-serif" style="rounded"]']
    for step in definition.steps:
        words = f"{state_mark(states.get(step.id))} {shorten(title(step), 60)}".strip()
        below = shorten(subtitle(step), 60)
        label = _quoted(words + ("\n" + below if below else ""))
        lines.append(f"    {_quoted(step.id)} [label={label} shape={_SHAPES[step.kind]}]")
    for arrow in find_arrows(definition):
        style = {"after": "solid", "when": "dashed", "error": "dotted"}[arrow.kind]
        label = f" label={_quoted(shorten(arrow.label, 40))}" if arrow.label else ""
        lines.append(f"    {_quoted(arrow.source)} -> {_quoted(arrow.target)} [style={style}{label}]")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    """A DOT string: like JSON's for what matters, quotes, backslashes and ends of lines."""
    return json.dumps(text, ensure_ascii=False)
