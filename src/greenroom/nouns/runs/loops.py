"""An agent that does the same again and again: it is paused, and a person is asked whether it may go on."""

from typing import Any

from greenroom.log.model import Context, Event, Rows
from greenroom.nouns.agents.model import AGENTS
from greenroom.nouns.asks.events import AskAnswered, AskWithdrawn
from greenroom.nouns.asks.model import ASKS, Asker
from greenroom.nouns.asks.queries import find_open_of_run
from greenroom.nouns.asks.raising import raised
from greenroom.nouns.asks.words import title_of
from greenroom.nouns.nodes.model import OrderGiven
from greenroom.nouns.policy.book import get_state
from greenroom.nouns.policy.facts import digest_of
from greenroom.nouns.policy.model import JUDGEMENTS, Wanted
from greenroom.nouns.policy.tables import kind_of
from greenroom.nouns.runs.ending import cancelled
from greenroom.nouns.runs.events import RunExtended, RunPaused
from greenroom.nouns.runs.model import CALLS, RUNS, TREES, Run

LOOP = "loop"
"""The key of the ask by which it is known."""


def call_digest(tool: str, given: Any) -> str:
    """What the same call has again; empty for calls that are made to be repeated, or of which too little is told."""
    kind = kind_of(tool)
    if kind in ("hub", "plan") or not given:
        return ""
    return digest_of(Wanted(tool=tool, arguments=given), kind)


def looping(rows: Rows, run: Run, heard: dict[str, Any], seed: str, context: Context) -> list[Event]:
    """A call has begun. What waits for leave each time is left to the judge, who counts it too."""
    options, tool = get_state(rows).options, str(heard.get("tool") or "")
    digest = call_digest(tool, heard.get("input"))
    if not digest or options.loop_times <= 0 or run.status != "running" or run.node_id is None:
        return []
    since = ("started_at", context.now - options.loop_window_s * 1000)
    before = rows.count(CALLS, {"run_id": run.id, "digest": digest}, after=since)
    if before + 1 < options.loop_times:
        return []
    if rows.find(JUDGEMENTS, {"run_id": run.id, "digest": digest}, limit=1):
        return []
    agent = rows.get(AGENTS, run.agent_id)
    name = (agent.display_name or agent.name) if agent else run.profile
    said = f"{name} has made the same call {before + 1} times within {options.loop_window_s} s"
    ask = raised(
        context,
        f"ask_{seed.removeprefix('ord_')}",
        "gate",
        Asker(by=run.agent_id, name=name, agent_id=run.agent_id, run_id=run.id, key=LOOP),
        "It looks like a loop: shall it go on?",
        text=f"{said}: {title_of(tool, heard.get('input'))}\nApprove to let it go on, deny to end the run.",
        thread_id=run.thread_id,
        risk="high",
        why=f"{said}.",
        rule=LOOP,
        timeout_s=0,
    )
    order = OrderGiven(order_id=seed, node_id=run.node_id, op="pause", run_id=run.id, agent_id=run.agent_id)
    return [RunPaused(run_id=run.id, reason=f"limit: {said}"), order, ask]


def loop_answered(rows: Rows, event: AskAnswered, context: Context) -> list[Event]:
    """A person has said whether the run may go on; a no ends it."""
    ask = rows.get(ASKS, event.ask_id)
    run = rows.get(RUNS, ask.run_id) if ask is not None and ask.run_id else None
    if ask is None or run is None or ask.asker.key != LOOP or ask.kind != "gate":
        return []
    if run.status != "waiting" or run.node_id is None or not (run.waiting_for or "").startswith("limit"):
        return []
    order_id = f"ord_{ask.id.removeprefix('ask_')}_loop"
    tree = rows.get(TREES, run.root_id)
    if event.verdict != "approve" or tree is None:
        return cancelled(rows, run, order_id, "it looked like a loop, and a person ended it")
    extended = RunExtended(run_id=run.id, timeout_s=run.timeout_s, max_tokens=run.max_tokens, limits=tree.limits)
    return [
        extended,
        OrderGiven(order_id=order_id, node_id=run.node_id, op="go_on", run_id=run.id, agent_id=run.agent_id),
    ]


def loop_asks_gone(rows: Rows, run: Run) -> list[Event]:
    """The run goes on, or has ended, by other means."""
    return [
        AskWithdrawn(ask_id=ask.id, reason="it was let go on")
        for ask in find_open_of_run(rows, run.id)
        if ask.asker.key == LOOP
    ]
