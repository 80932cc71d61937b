"""A run's line up to its root, as the policy looks at it."""

from greenroom.log.model import Rows
from greenroom.nouns.policy.model import Place
from greenroom.nouns.runs.model import RUNS, Run

_DEEPEST = 50


def lineage_of(rows: Rows, run: Run) -> list[Place]:
    """The run and all above it, nearest first."""
    line: list[Place] = []
    above: Run | None = run
    while above is not None and len(line) < _DEEPEST:
        narrowed = above.context.constraints.allowed_tools if above.context is not None else None
        line.append(
            Place(
                profile=above.profile,
                depth=above.depth,
                thread=above.thread_id,
                run=above.id,
                allowed_tools=narrowed,
                taint=above.taint,
            )
        )
        above = rows.get(RUNS, above.parent_id) if above.parent_id else None
    return line
