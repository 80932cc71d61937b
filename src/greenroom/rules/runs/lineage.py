"""A run's ancestors up to its root, for the policy, and the taint that they pass down."""

from greenroom.link.policy_facts.call_request import LineageEntry
from greenroom.log.copied_fields import copy_fields
from greenroom.log.model import Context, Event, Rows
from greenroom.rules.access.model import Principal
from greenroom.rules.agents.model import AGENTS
from greenroom.rules.asks.call_text import escape_invisible
from greenroom.rules.runs.events import RunTainted
from greenroom.rules.runs.model import LIVE, RUNS, Run

_DEEPEST = 50


def build_lineage(rows: Rows, run: Run) -> list[LineageEntry]:
    """The run and all above it, nearest first."""
    line: list[LineageEntry] = []
    above: Run | None = run
    while above is not None and len(line) < _DEEPEST:
        narrowed = above.context.constraints.allowed_tools if above.context is not None else None
        line.append(copy_fields(above, LineageEntry, thread=above.thread_id, run=above.id, allowed_tools=narrowed))
        above = rows.get(RUNS, above.parent_id) if above.parent_id else None
    return line


def get_caller_taint(rows: Rows, by: Principal) -> str:
    """The taint that a caller passes on; empty for a person.

    An agent in a run passes on the taint of its run. Any other agent speaks for itself.
    """
    agent = rows.get(AGENTS, by.agent_id) if by.agent_id is not None else None
    if by.agent_id is None:
        return ""
    run = rows.get(RUNS, agent.run_id) if agent is not None and agent.run_id else None
    if run is not None and run.status in LIVE:
        return next((place.taint for place in build_lineage(rows, run) if place.taint), "")
    return f"the agent {escape_invisible((agent.display_name or agent.name) if agent is not None else by.name)}"


def taint_parent(rows: Rows, event: RunTainted, context: Context) -> list[Event]:
    """The taint of a started agent reaches the agent that started it, with its result."""
    run = rows.get(RUNS, event.run_id)
    parent = rows.get(RUNS, run.parent_id) if run is not None and run.parent_id else None
    if parent is None or parent.taint or parent.status not in LIVE:
        return []
    return [RunTainted(run_id=parent.id, taint=event.taint)]
