"""A run's line up to its root, and a call of it as the policy judges it."""

from typing import Any

from greenroom.log.model import Rows
from greenroom.nouns.policy.model import Place, Wanted
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
            )
        )
        above = rows.get(RUNS, above.parent_id) if above.parent_id else None
    return line


def wanted_of(rows: Rows, run: Run, heard: dict[str, Any]) -> Wanted:
    """What a driver's permission item wants. What the node says of paths can only narrow the verdict."""
    directory, resolved = heard.get("directory"), heard.get("resolved")
    return Wanted(
        tool=str(heard.get("tool") or ""),
        arguments=heard.get("input"),
        directory=directory if isinstance(directory, str) else None,
        resolved={str(k): str(v) for k, v in resolved.items()} if isinstance(resolved, dict) else {},
        lineage=lineage_of(rows, run),
        agent_id=run.agent_id,
    )
