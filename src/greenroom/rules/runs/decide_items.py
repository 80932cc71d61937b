"""Turns the items of a node into facts of runs: each once, in order, from the node's newest connection."""

from typing import Any, assert_never

import msgspec

from greenroom.errors import Refused
from greenroom.link.reports import (
    ApprovalUnused,
    CallFinished,
    CallReport,
    CallStarted,
    Died,
    FellAsleep,
    ModelCallCut,
    PermissionWithdrawn,
    QuestionAsked,
    Report,
    RunLost,
    SessionReport,
    Thought,
    TurnEnding,
    TurnPaused,
    TurnReport,
    TurnUsedUp,
    TurnWentOn,
    UnknownReport,
    Usage,
    WordsReport,
    WorktreeChanged,
    read_report,
)
from greenroom.log.model import Command, Context, Decide, Event, Rows
from greenroom.rules.access.decide import need_principal
from greenroom.rules.access.secrets import mask_secrets
from greenroom.rules.agents.model import AGENTS, AgentProcessChanged
from greenroom.rules.agents.profiles import PROFILES
from greenroom.rules.agents.stored_bytes import get_stored_bytes
from greenroom.rules.nodes.decide import need_connection
from greenroom.rules.nodes.model import ItemsTaken
from greenroom.rules.policy.budgets import format_day, get_exhausted_day_budget
from greenroom.rules.policy.events import MoneySpent
from greenroom.rules.policy.rule_set import get_state
from greenroom.rules.runs.call_size import has_too_many_values, trim_values
from greenroom.rules.runs.cancellation import STATUS_WORDS, build_cancel_events
from greenroom.rules.runs.commands import NodeItem, TakeItem
from greenroom.rules.runs.events import ApprovalRefused, RunBegan, RunEnded, RunHeard
from greenroom.rules.runs.loop_detection import pause_if_looping
from greenroom.rules.runs.model import LIVE, PLACE_CHARS, RUNS, TREES, EndStatus, Run, RunUsage, read_spent
from greenroom.rules.runs.orders import build_start_order, revoke_credentials
from greenroom.rules.runs.pauses import pause_for_quota, pause_run
from greenroom.rules.runs.permissions import (
    ask_permission,
    ask_question,
    refuse_unreadable_call,
    withdraw_asks_of_call,
    withdraw_asks_of_run,
)
from greenroom.sentences import Sentence, Words, build_sentence

LOST = build_sentence("run_error.lost")
_ENDINGS = (TurnReport, Died, RunLost)
_WITH_ARGUMENTS = (CallStarted, CallReport)
_READ = (CallStarted, CallReport, QuestionAsked)
"""Reports whose values the rules read, and do not only store."""
_WITHOUT_WORDS = {
    "refused": build_sentence("run_error.refused"),
    "limit": build_sentence("run_error.own_limit"),
}
"""Why a turn failed, where its runtime does not say."""
_STATUS: dict[TurnEnding, EndStatus] = {
    "done": "completed",
    "cancelled": "cancelled",
    "refused": "failed",
    "limit": "failed",
    "quota": "failed",
    "failed": "failed",
}
_ACCOUNTS = (Usage, ModelCallCut)
"""Facts that count even after the end of a run."""


def take_item(rows: Rows, command: TakeItem, context: Context) -> list[Event]:
    node = need_connection(rows, need_principal(command), command.node_id, command.epoch)
    item = command.item
    if item.number <= node.taken:
        return []
    if item.number != node.taken + 1:
        raise Refused("gap", "conflict", missing=node.taken + 1, number=item.number)
    taken = ItemsTaken(node_id=node.id, number=item.number)
    if isinstance(item.heard, FellAsleep):
        return [*_put_to_sleep(rows, node.id, item.heard.agent), taken]
    run = rows.get(RUNS, item.run_id)
    if run is None or run.node_id != node.id:
        return [taken]
    if run.status not in LIVE and not isinstance(item.heard, _ACCOUNTS):
        return [taken]  # a late word of a run that was cancelled
    return [*_build_item_events(rows, run, item, command.order_id, context), taken]


def _put_to_sleep(rows: Rows, node_id: str, agent_id: str) -> list[Event]:
    """A kept agent's process was ended while it idled."""
    agent = rows.get(AGENTS, agent_id)
    if agent is None or agent.node_id != node_id or agent.run_id is not None or agent.process == "asleep":
        return []
    return [AgentProcessChanged(agent_id=agent.id, process="asleep"), *revoke_credentials(rows, agent.id)]


def _build_item_events(rows: Rows, run: Run, item: NodeItem, seed: str, context: Context) -> list[Event]:
    heard = item.heard
    exceeded = _find_exceeded_limit(rows, run, item, context)
    if exceeded and not isinstance(heard, _ENDINGS):
        return [
            *build_cancel_events(rows, run, seed, exceeded, "failed"),
            *withdraw_asks_of_run(rows, run, build_sentence("withdrawn.cut_off")),
        ]
    is_too_large = isinstance(heard, _READ) and has_too_many_values(heard)
    if isinstance(heard, _READ) and is_too_large:
        heard = trim_values(heard, item.size)
    kept = _mask_arguments(heard) if isinstance(heard, _WITH_ARGUMENTS) else heard
    stored = RunHeard(run_id=run.id, heard=kept, heard_at=item.at, size=item.size)
    if isinstance(heard, CallReport) and is_too_large:
        return [stored, *refuse_unreadable_call(rows, run, heard, seed)]
    return [stored, *_build_consequences(rows, run, heard, seed, context)]


def _build_consequences(rows: Rows, run: Run, heard: Report, seed: str, context: Context) -> list[Event]:
    match heard:
        case SessionReport():
            return _begin(rows, run, heard)
        case CallStarted():
            return pause_if_looping(rows, run, heard, seed, context)
        case CallReport():
            return ask_permission(rows, run, heard, seed, context)
        case ApprovalUnused():
            reason = heard.reason[:500] if isinstance(heard.reason, str) else heard.reason
            return [ApprovalRefused(run_id=run.id, permission=heard.permission[:500], reason=reason)]
        case QuestionAsked():
            return ask_question(rows, run, heard, seed, context)
        case PermissionWithdrawn():
            return withdraw_asks_of_call(rows, run, heard.permission)
        case Usage():
            return _count_usage(rows, run, heard, seed, context)
        case TurnUsedUp():
            return pause_for_quota(rows, run, heard, seed, context)
        case TurnWentOn() | TurnPaused():
            return []
        case TurnReport():
            return _end_turn(rows, run, heard, seed)
        case Died():
            return build_end_events(rows, run, "failed", seed, error=_explain_death(run, heard), alive=False)
        case RunLost():
            return build_end_events(rows, run, "interrupted", seed, error=LOST, alive=False)
        case WordsReport() | Thought() | CallFinished() | ModelCallCut() | WorktreeChanged() | FellAsleep():
            return []
        case UnknownReport():
            return []
        case _:
            assert_never(heard)


def _mask_arguments(heard: CallStarted | CallReport) -> Report:
    fields = msgspec.to_builtins(heard)
    masked = mask_secrets(fields)
    return heard if masked is fields else read_report(masked)


def _begin(rows: Rows, run: Run, opened: SessionReport) -> list[Event]:
    session, place = opened.session or None, opened.place
    began = RunBegan(
        run_id=run.id,
        session=session,
        directory=place.directory[:PLACE_CHARS],
        repository=place.repository[:PLACE_CHARS],
        branch=place.branch[:PLACE_CHARS],
        model=place.model[:PLACE_CHARS],
    )
    busy = AgentProcessChanged(agent_id=run.agent_id, process="busy", session=session, run_id=run.id)
    revoked = revoke_credentials(rows, run.agent_id, but=opened.credential) if opened.credential else []
    return [began, busy, *revoked]


def _explain_death(run: Run, died: Died) -> Sentence:
    words = died.last_words.strip() if isinstance(died.last_words, str) else died.last_words
    if words:
        error = build_sentence("run_error.died_saying", code=died.code, words=words)
    else:
        error = build_sentence("run_error.died", code=died.code)
    if not run.is_paused:
        return error
    # not every runtime outlasts being stopped
    return build_sentence("run_error.while_paused", waiting=run.waiting_for, error=error)


def _find_exceeded_limit(rows: Rows, run: Run, item: NodeItem, context: Context) -> Sentence | None:
    """Which limit of bytes a run goes beyond with an item; None if none."""
    settings, said = context.settings, run.heard_bytes + item.size
    if settings.max_run_bytes and said > settings.max_run_bytes:
        most = settings.max_run_bytes
        return build_sentence("run_error.max_run_bytes", limit=most)
    most = settings.max_agent_bytes
    if most and get_stored_bytes(rows, run.agent_id) + said > most:
        return build_sentence("run_error.max_agent_bytes", limit=most)
    return None


def _count_usage(rows: Rows, run: Run, heard: Usage, seed: str, context: Context) -> list[Event]:
    """What a run uses counts for the day; beyond a limit it is paused, and a person is asked. Nothing is lost."""
    spent = read_spent(heard, run.earlier)
    usd = max(0.0, (spent.cost_usd or 0.0) - (run.cost_usd or 0.0))
    tokens = max(0, spent.tokens - run.input_tokens - run.output_tokens)
    events: list[Event] = []
    if usd or tokens:
        events.append(MoneySpent(day=format_day(context.now), run_id=run.id, usd=usd, tokens=tokens))
    if run.status != "running" or run.node_id is None or heard.is_last:
        return events
    reason = _get_reached_limit(rows, run, spent, usd, tokens, context)
    if reason is None:
        return events
    return [*events, *pause_run(rows, run, reason, seed, context)]


def _get_reached_limit(
    rows: Rows, run: Run, spent: RunUsage, usd: float, tokens: int, context: Context
) -> Sentence | None:
    tree = rows.get(TREES, run.root_id)
    if tree is None:
        return None
    limits, used, cost = tree.limits, tree.tokens + tokens, tree.cost_usd + usd
    if limits.max_tokens is not None and used > limits.max_tokens:
        return build_sentence("pause.tree_tokens", used=used, limit=limits.max_tokens)
    if limits.max_cost_usd is not None and cost > limits.max_cost_usd:
        return build_sentence("pause.tree_usd", used=f"{cost:.2f}", limit=f"{limits.max_cost_usd:.2f}")
    if run.max_tokens is not None and spent.tokens > run.max_tokens:
        return build_sentence("pause.run_tokens", used=spent.tokens, limit=run.max_tokens)
    if run.max_cost_usd is not None and (spent.cost_usd or 0.0) > run.max_cost_usd:
        return build_sentence("pause.run_usd", used=f"{spent.cost_usd:.2f}", limit=f"{run.max_cost_usd:.2f}")
    if run.extended_at and format_day(run.extended_at) == format_day(context.now):
        return None  # a person has resumed it today
    today = get_exhausted_day_budget(rows, get_state(rows).options, context.now, usd=usd, tokens=tokens)
    return None if today is None else today[1]


def _end_turn(rows: Rows, run: Run, ended: TurnReport, seed: str) -> list[Event]:
    status, error = _STATUS[ended.reason], ended.error or None
    if error is None and status == "failed":
        error = _WITHOUT_WORDS.get(ended.reason, build_sentence("run_error.runtime"))
    return build_end_events(rows, run, status, seed, error=error, output=ended.text, result=ended.output, alive=True)


def build_end_events(
    rows: Rows,
    run: Run,
    status: EndStatus,
    seed: str,
    *,
    error: Words | None = None,
    output: str | None = None,
    result: Any = None,
    alive: bool,
) -> list[Event]:
    """A run is over: what waited in it is gone, its agent is free or asleep, and who waited for the agent is next."""
    ended = RunEnded(
        run_id=run.id,
        status=status,
        output=output,
        result=result,
        error=error if status != "completed" else None,
    )
    over = build_sentence("withdrawn.run_over", status=STATUS_WORDS.get(status, status))
    events: list[Event] = [ended, *withdraw_asks_of_run(rows, run, over)]
    agent = rows.get(AGENTS, run.agent_id)
    if agent is None:
        return events
    waiting = rows.find(RUNS, {"agent_id": agent.id, "status": "pending"}, order="_key", limit=2)
    following = next((one for one in waiting if one.id != run.id), None)
    profile = rows.get(PROFILES, following.profile) if following else None
    if following is not None and profile is not None and agent.node_id is not None:
        return [*events, *build_start_order(rows, following, f"{seed}_next", profile.definition, agent)]
    if alive and run.keep:
        return [*events, AgentProcessChanged(agent_id=agent.id, process="idle")]
    return [
        *events,
        AgentProcessChanged(agent_id=agent.id, process="asleep"),
        *revoke_credentials(rows, agent.id),
    ]


DECIDE: dict[type[Command], Decide] = {
    TakeItem: take_item,
}
