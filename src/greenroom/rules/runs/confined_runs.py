"""Runs as seen by a viewer that is limited to threads: they reveal nothing about runs in other threads."""

import msgspec

from greenroom.log.model import Rows
from greenroom.rules.access.model import Principal
from greenroom.rules.runs.model import LIVE, RUNS, Run, Tree
from greenroom.rules.runs.queries import find_tree, may_see_run


def confine_run(rows: Rows, by: Principal, run: Run) -> Run:
    """The run, without the ids and profiles of runs that this principal does not see."""
    if not by.is_confined:
        return run
    root = _get_seen(rows, by, run.root_id)
    return msgspec.structs.replace(
        run,
        root_id=root or run.id,
        depth=run.depth if root else 0,
        path=run.path if root else run.path[-1:],
        parent_id=_get_seen(rows, by, run.parent_id),
        task=_get_seen(rows, by, run.task),
        continues=_get_seen(rows, by, run.continues),
    )


def confine_tree(rows: Rows, by: Principal, tree: Tree) -> Tree:
    """The tree, with the numbers of those of its runs that this principal sees."""
    runs = find_tree(rows, tree.root_id) if by.is_confined else []
    seen = [run for run in runs if may_see_run(rows, by, run)]
    if len(seen) == len(runs):
        return tree
    return msgspec.structs.replace(
        tree,
        root_id=_get_seen(rows, by, tree.root_id) or "",
        runs=len(seen),
        live=sum(run.status in LIVE for run in seen),
        tokens=sum(run.input_tokens + run.output_tokens for run in seen),
        cost_usd=sum(run.cost_usd or 0.0 for run in seen),
        tombstone=None,
    )


def _get_seen(rows: Rows, by: Principal, run_id: str | None) -> str | None:
    run = rows.get(RUNS, run_id) if run_id else None
    return run.id if run is not None and may_see_run(rows, by, run) else None
