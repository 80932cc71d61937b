"""A workflow as an SVG picture, light or dark as its viewer prefers, without external parts and scripts."""

import itertools
from xml.sax.saxutils import escape, quoteattr

from greenroom.rules.workflows.definition import Step, WorkflowDefinition
from greenroom.rules.workflows.diagram.labels import (
    DiagramArrow,
    States,
    build_subtitle,
    find_arrows,
    get_title,
    shorten,
)
from greenroom.rules.workflows.diagram.layout import BOX_HEIGHT, BOX_WIDTH, lay_out
from greenroom.rules.workflows.graph import Graph
from greenroom.rules.workflows.model import StepStatus

_STYLE = """
svg{--ink:#1d2420;--dim:#66706a;--line:#9aa59f;--box:#ffffff;--edge:#cfd8d3;--page:#f7f9f8;--accent:#2e7d4f;--bad:#b4452f;
--busy:#2563a8;--held:#9a6a12;font-family:Inter,system-ui,"Noto Sans CJK SC","Noto Sans",sans-serif}
@media(prefers-color-scheme:dark){svg{--ink:#e6ebe8;--dim:#98a39d;--line:#66736c;--box:#1d2421;--edge:#38433d;
--page:#141917;--accent:#56b982;--bad:#e08a75;--busy:#7fb2ec;--held:#d6aa55}}
.page{fill:var(--page)}.box{fill:var(--box);stroke:var(--edge);stroke-width:1.25}.stack{fill:var(--box);stroke:var(--edge)}
.title{fill:var(--ink);font-size:14px;font-weight:600}.sub{fill:var(--dim);font-size:11.5px}
.bar{fill:var(--accent)}.arrow{fill:none;stroke:var(--line);stroke-width:1.5}.tip{fill:var(--line)}
.when{stroke-dasharray:5 4}
.error{stroke:var(--bad);stroke-dasharray:2 4;stroke-linecap:round}.error-tip{fill:var(--bad)}
.label{fill:var(--dim);font-size:11px;text-anchor:middle;paint-order:stroke;stroke:var(--page);stroke-width:5px}
.gate .bar{fill:var(--held)}.wait .bar{fill:var(--busy)}.set .bar{fill:var(--line)}
.completed .box{stroke:var(--accent);stroke-width:2}.failed .box{stroke:var(--bad);stroke-width:2}
.running .box{stroke:var(--busy);stroke-width:2}.waiting .box{stroke:var(--held);stroke-width:2}.skipped{opacity:.55}
.mark{fill:none;stroke:var(--dim);stroke-width:2;stroke-linecap:round;stroke-linejoin:round}
.completed .mark{stroke:var(--accent)}.failed .mark{stroke:var(--bad)}
.running .mark{stroke:var(--busy);fill:var(--busy)}
.waiting .mark{stroke:var(--held)}
""".replace("\n", "")
_MARKS = {
    "completed": "M0 5 L4 9 L11 1",
    "failed": "M1 1 L9 9 M9 1 L1 9",
    "running": "M2 1 L9 5 L2 9 Z",
    "waiting": "M3 1 L3 9 M8 1 L8 9",
    "skipped": "M1 1 L5 5 L1 9 M6 1 L10 5 L6 9",
    "cancelled": "M1 1 H9 V9 H1 Z",
}
"""Shapes, so that a status is visible without colours."""
_TIPS = "".join(
    f'<marker id="{name}" viewBox="0 0 10 10" refX="8.5" refY="5" markerWidth="8" markerHeight="8" orient="auto">'
    f'<path class="{name}" d="M0 1 L9 5 L0 9 z"/></marker>'
    for name in ("tip", "error-tip")
)


def to_svg(definition: WorkflowDefinition, states: States | None = None) -> str:
    """The picture as a document."""
    arrows = find_arrows(definition)
    layout = lay_out(Graph(definition).build_layers(), [(arrow.source, arrow.target) for arrow in arrows])
    width, height = round(layout.width), round(layout.height)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label={quoteattr("Workflow " + definition.name)}>',
        f"<title>{escape(definition.name)}</title><style>{_STYLE}</style><defs>{_TIPS}</defs>",
        f'<rect class="page" width="{width}" height="{height}"/>',
    ]
    labels: list[str] = []
    told: dict[str, int] = {}
    for arrow, points in zip(arrows, layout.arrows, strict=True):
        parts.append(_draw_line(arrow, points))
        if arrow.label:
            told[arrow.target] = told.get(arrow.target, 0) + 1
            labels.append(_draw_label(arrow, points, told[arrow.target]))
    for step in definition.steps:
        parts.append(_draw_box(step, layout.places[step.id], (states or {}).get(step.id)))
    return "\n".join([*parts, *labels, "</svg>"]) + "\n"


def _draw_line(arrow: DiagramArrow, points: list[tuple[float, float]]) -> str:
    """A smooth line from the foot of one box to the head of another, straight down at every layer that it passes."""
    half = BOX_HEIGHT / 2
    ends = [(points[0][0], points[0][1] + half)]
    for x, y in points[1:-1]:
        ends += [(x, y - half), (x, y + half)]
    ends.append((points[-1][0], points[-1][1] - half))
    path = f"M{ends[0][0]:.1f} {ends[0][1]:.1f}"
    for (x1, y1), (x2, y2) in itertools.pairwise(ends):
        middle = (y1 + y2) / 2
        path += f" C{x1:.1f} {middle:.1f} {x2:.1f} {middle:.1f} {x2:.1f} {y2:.1f}"
    kind = {"after": "arrow", "when": "arrow when", "error": "arrow error"}[arrow.kind]
    tip = "error-tip" if arrow.kind == "error" else "tip"
    return f'<path class="{kind}" d="{path}" marker-end="url(#{tip})"/>'


def _draw_label(arrow: DiagramArrow, points: list[tuple[float, float]], number: int) -> str:
    """The condition, above the box that it leads to; several of them stand above each other."""
    (x1, _), (x2, y2) = points[-2], points[-1]
    x, y = x2 + (x1 - x2) * 0.2, y2 - BOX_HEIGHT / 2 - 4 - 14 * number
    told = f"<title>{escape(arrow.label)}</title>"
    return f'<text class="label" x="{x:.1f}" y="{y:.1f}">{told}{escape(shorten(arrow.label, 34))}</text>'


def _draw_box(step: Step, place: tuple[float, float], state: StepStatus | None) -> str:
    x, y = place[0] - BOX_WIDTH / 2, place[1] - BOX_HEIGHT / 2
    size = f'width="{BOX_WIDTH:.0f}" height="{BOX_HEIGHT:.0f}"'
    round_by = 29 if step.kind == "wait" else 10
    known = state if state in _MARKS else ""
    told = escape(
        "\n".join(part for part in (get_title(step), step.description, build_subtitle(step), state or "") if part)
    )
    parts = [f'<g class="{step.kind} {known}" transform="translate({x:.1f} {y:.1f})"><title>{told}</title>']
    if step.for_each is not None or step.kind == "workflow":
        parts.append(f'<rect class="stack" x="5" y="5" {size} rx="{round_by}"/>')
    parts.append(f'<rect class="box" {size} rx="{round_by}"/>')
    inset = 20 if step.kind == "wait" else 14
    parts.append(f'<rect class="bar" x="{inset}" y="15" width="3" height="{BOX_HEIGHT - 30:.0f}" rx="1.5"/>')
    words, below = escape(shorten(get_title(step), 20 if known else 23)), escape(shorten(build_subtitle(step), 30))
    baseline = 25 if below else 34
    parts.append(f'<text class="title" x="{inset + 12}" y="{baseline}">{words}</text>')
    if below:
        parts.append(f'<text class="sub" x="{inset + 12}" y="43">{below}</text>')
    if known:
        parts.append(f'<path class="mark" transform="translate({BOX_WIDTH - 26:.0f} 15)" d="{_MARKS[known]}"/>')
    return "".join([*parts, "</g>"])
