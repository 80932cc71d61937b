"""Pauses runs that reached a limit, and asks a person whether they may continue."""

import datetime
from typing import TypeVar

import msgspec

from greenroom.link.orders import PauseOrder, ResumeOrder
from greenroom.link.reports import TurnUsedUp
from greenroom.log.model import Context, Event, Rows
from greenroom.rules.agents.model import AGENTS
from greenroom.rules.asks.ask_builder import build_ask_raised
from greenroom.rules.asks.events import AskAnswered, AskWithdrawn
from greenroom.rules.asks.model import ASKS, Asker
from greenroom.rules.asks.queries import find_open_of_run
from greenroom.rules.runs.cancellation import build_cancel_events
from greenroom.rules.runs.events import RunExtended, RunPaused
from greenroom.rules.runs.model import RUNS, TREES, Run, Tree, TreeLimits
from greenroom.rules.runs.orders import build_order
from greenroom.sentences import Sentence, Words, build_sentence

Limit = TypeVar("Limit", int, float)
LIMIT, LOOP = "limit", "loop"
"""The keys of the asks by which they are known."""
_WORDS = 1000
_AGAIN_MS = 60_000
_LATE_MS = 3_600_000
_FAR_MS = 32 * 24 * _LATE_MS
"""An account is tried again after a minute if its time is just over; a time that makes no sense is none."""
_ENDED = {LIMIT: build_sentence("run_error.ended_at_limit"), LOOP: build_sentence("run_error.ended_in_loop")}


def pause_run(
    rows: Rows,
    run: Run,
    said: Sentence,
    order_id: str,
    context: Context,
    *,
    key: str = LIMIT,
    about: Words = "",
    is_stopped: bool = False,
) -> list[Event]:
    """Stop the turn, unless it has, keep the run, and ask. The caller has seen that the run is on a node."""
    agent = rows.get(AGENTS, run.agent_id)
    name = (agent.display_name or agent.name) if agent else run.profile
    title = build_sentence("pause.title_loop") if key == LOOP else build_sentence("pause.title", name=name)
    whole = build_sentence("pause.about", said=said, about=about) if about else said
    text = "pause.text_as_is" if key == LOOP or is_stopped else "pause.text"
    ask = build_ask_raised(
        context,
        f"ask_{order_id.removeprefix('ord_')}",
        "gate",
        Asker(by=run.agent_id, name=name, agent_id=run.agent_id, run_id=run.id, key=key),
        title,
        text=build_sentence(text, said=whole),
        thread_id=run.thread_id,
        risk="high" if key == LOOP else "medium",
        why=build_sentence("pause.why", said=said),
        rule=key,
        timeout_s=0,
    )
    stop = [] if is_stopped else [build_order(run, order_id, PauseOrder())]
    return [RunPaused(run_id=run.id, reason=said, ask_id=ask.ask_id), *stop, ask]


def pause_for_quota(rows: Rows, run: Run, ended: TurnUsedUp, seed: str, context: Context) -> list[Event]:
    """The account of the agent's runtime is used up: the run waits until it is not, or for a person if none knows."""
    if run.is_paused:
        return []  # a person has been asked already, and has not answered yet
    said = build_sentence("pause.account")
    words = ended.error[:_WORDS] if isinstance(ended.error, str) else ended.error
    told = ended.resets_at
    if told is None or not context.now - _LATE_MS <= told <= context.now + _FAR_MS:
        return pause_run(rows, run, said, seed, context, about=words, is_stopped=True)
    until = told if told > context.now else context.now + _AGAIN_MS
    at = datetime.datetime.fromtimestamp(until / 1000, datetime.UTC)
    said = build_sentence("pause.account_until", at=f"{at:%Y-%m-%d %H:%M}")
    return [RunPaused(run_id=run.id, reason=said, until=until)]


def handle_pause_answer(rows: Rows, event: AskAnswered, context: Context) -> list[Event]:
    """A person has decided whether the run may continue; a denial ends it."""
    ask = rows.get(ASKS, event.ask_id)
    run = rows.get(RUNS, ask.run_id) if ask is not None and ask.run_id else None
    if ask is None or run is None or ask.asker.key not in _ENDED or ask.kind != "gate":
        return []
    if not run.is_paused or run.node_id is None:
        return []
    order_id = f"ord_{ask.id.removeprefix('ask_')}_pause"
    tree = rows.get(TREES, run.root_id)
    if event.verdict != "approve" or tree is None:
        return build_cancel_events(rows, run, order_id, _ENDED[ask.asker.key])
    extended = RunExtended(
        run_id=run.id,
        timeout_s=run.timeout_s,
        max_tokens=_raise_limit(run.max_tokens, run.input_tokens + run.output_tokens),
        max_cost_usd=_raise_limit(run.max_cost_usd, run.cost_usd or 0.0),
        limits=raise_limits(tree),
    )
    return [extended, build_order(run, order_id, ResumeOrder())]


def withdraw_pause_asks(rows: Rows, run: Run) -> list[Event]:
    """The run continues for another reason."""
    return [
        AskWithdrawn(ask_id=ask.id, reason=build_sentence("withdrawn.continued"))
        for ask in find_open_of_run(rows, run.id)
        if ask.asker.key in _ENDED
    ]


def raise_limits(tree: Tree) -> TreeLimits:
    """A tree's limits, where they are reached with as much again."""
    limits = tree.limits
    return msgspec.structs.replace(
        limits,
        max_tokens=_raise_limit(limits.max_tokens, tree.tokens),
        max_cost_usd=_raise_limit(limits.max_cost_usd, tree.cost_usd),
    )


def _raise_limit(limit: Limit | None, used: Limit) -> Limit | None:
    return used + limit if limit is not None and used >= limit else limit
