"""The projection of runs and trees."""

from functools import partial
from typing import Any

import msgspec

from greenroom.link.ask_kinds import AskKind
from greenroom.link.reports import (
    CallFinished,
    CallReport,
    CallStarted,
    ModelCallCut,
    RunLost,
    TurnResult,
    Usage,
    get_report_fields,
)
from greenroom.log.copied_fields import copy_fields, take_fields
from greenroom.log.model import Context, Event, Noun, Project, Recorded, Rows, Tx
from greenroom.log.row_changes import change_row
from greenroom.rules.access.model import CredentialRevoked
from greenroom.rules.agents.model import AGENTS
from greenroom.rules.agents.stored_bytes import add_stored_bytes
from greenroom.rules.asks.events import AskAnswered
from greenroom.rules.clock.model import ClockMoved
from greenroom.rules.runs import clock_shift, legacy_events
from greenroom.rules.runs import events as e
from greenroom.rules.runs.decide import DECIDE
from greenroom.rules.runs.decide_nodes import on_node_revoked
from greenroom.rules.runs.feedback import handle_report_answer
from greenroom.rules.runs.file_writes import WRITINGS, forget_file_writes, note_file_writes
from greenroom.rules.runs.lineage import taint_parent
from greenroom.rules.runs.loop_detection import hash_repeated_call
from greenroom.rules.runs.model import (
    CALLS,
    ITEMS,
    LIVE,
    PLACE_CHARS,
    RUNS,
    TREES,
    Run,
    RunItem,
    RunUsage,
    ToolCall,
    Tree,
    TreeLimits,
    read_spent,
)
from greenroom.rules.runs.pauses import handle_pause_answer
from greenroom.rules.runs.permissions import FOLLOW
from greenroom.rules.threads.model import THREADS
from greenroom.runtimes import tool_kinds
from greenroom.sentences import build_sentence

replace = msgspec.structs.replace
_WAIT_CHARS = 500
_WAITS_FOR: dict[AskKind, str] = {
    "permission": "waiting.permission",
    "question": "waiting.question",
    "report": "waiting.report",
    "decision": "waiting.decision",
    "gate": "waiting.gate",
    "poll": "waiting.poll",
}
_NO_WAIT: dict[str, Any] = {"waiting_for": None, "waits_kind": None, "waits_key": "", "goes_on_at": 0}
_change = partial(change_row, RUNS)


def run_created(tx: Tx, event: e.RunCreated, record: Recorded) -> None:
    tx.put(
        RUNS,
        copy_fields(event, Run, id=event.run_id, status="pending", created_at=record.at, by=record.by, seq=record.seq),
    )
    if event.continues is not None:
        _change(tx, event.continues, continued_in=event.run_id)
    tree = tx.get(TREES, event.root_id) or Tree(root_id=event.root_id, limits=event.limits or TreeLimits())
    tx.put(TREES, replace(tree, runs=tree.runs + 1, live=tree.live + 1))
    agent = tx.get(AGENTS, event.agent_id)
    thread = tx.get(THREADS, event.thread_id) if event.thread_id else None
    if agent is not None and thread is not None and thread.mailbox_of is None:
        tx.put(AGENTS, replace(agent, thread_id=thread.id))


def run_placed(tx: Tx, event: e.RunPlaced, record: Recorded) -> None:
    _change(tx, event.run_id, node_id=event.node_id)


def run_tainted(tx: Tx, event: e.RunTainted, record: Recorded) -> None:
    _change(tx, event.run_id, taint=event.taint)


def run_began(tx: Tx, event: e.RunBegan, record: Recorded) -> None:
    run = tx.get(RUNS, event.run_id)
    if run is not None:
        deadline = record.at + run.timeout_s * 1000
        began = replace(run, status="running", session=event.session, started_at=record.at, deadline=deadline)
        place = {name: getattr(event, name) for name in ("directory", "repository", "branch", "model")}
        tx.put(RUNS, replace(began, **place))


def run_heard(tx: Tx, event: e.RunHeard, record: Recorded) -> None:
    run = tx.get(RUNS, event.run_id)
    if run is None:
        return
    number, heard = run.items + 1, event.heard
    kind, data = get_report_fields(heard)
    item = RunItem(
        run_id=run.id,
        place=f"{number:09d}",
        number=number,
        kind=kind,
        data=data,
        at=event.heard_at,
    )
    tx.put(ITEMS, item)
    match heard:
        case CallStarted():
            note_file_writes(tx, run, heard, record.at)
            _start_call(tx, run, heard, event.heard_at)
            run = replace(run, calls=run.calls + 1)
        case CallReport():
            note_file_writes(tx, run, heard, record.at)
        case CallFinished():
            _finish_call(tx, run, heard, event.heard_at)
        case Usage():
            run = _count_usage(tx, run, heard)
        case ModelCallCut() | RunLost():
            run = replace(run, is_usage_partial=True)
        case TurnResult():
            run = replace(run, earlier=RunUsage(run.input_tokens, run.output_tokens, run.cost_usd))
    tx.put(RUNS, replace(run, items=number, heard_bytes=run.heard_bytes + event.size))


def _start_call(tx: Tx, run: Run, heard: CallStarted, at: int) -> None:
    call = copy_fields(
        heard,
        ToolCall,
        run_id=run.id,
        call_id=heard.call,
        started_at=at,
        digest=hash_repeated_call(heard.tool, heard.input),
    )
    tx.put(CALLS, call)


def _finish_call(tx: Tx, run: Run, heard: CallFinished, at: int) -> None:
    call = tx.get(CALLS, run.id, heard.call)
    if call is not None:
        tx.put(CALLS, take_fields(call, heard, ended_at=at))


def _count_usage(tx: Tx, run: Run, heard: Usage) -> Run:
    """The runtime reports totals of the turn; the tree adds what is new in them."""
    spent = read_spent(heard, run.earlier)
    tree = tx.get(TREES, run.root_id)
    if tree is not None:
        tokens = tree.tokens + spent.tokens - run.input_tokens - run.output_tokens
        cost = tree.cost_usd + (spent.cost_usd or 0.0) - (run.cost_usd or 0.0)
        tx.put(TREES, replace(tree, tokens=tokens, cost_usd=cost))
    used = {"input_tokens": spent.input_tokens, "output_tokens": spent.output_tokens, "cost_usd": spent.cost_usd}
    return replace(run, **used, model=heard.model[:PLACE_CHARS] if heard.model else run.model)


def run_waits(tx: Tx, event: e.RunWaits, record: Recorded) -> None:
    title = event.title[:_WAIT_CHARS] if isinstance(event.title, str) else event.title
    words = build_sentence(_WAITS_FOR[event.kind], title=title)
    _change(tx, event.run_id, status="waiting", waiting_for=words, waits_kind=event.kind, waits_key=event.ask_id)


def run_went_on(tx: Tx, event: e.RunWentOn, record: Recorded) -> None:
    _change(tx, event.run_id, status="running", **_NO_WAIT)


def run_paused(tx: Tx, event: e.RunPaused, record: Recorded) -> None:
    run = tx.get(RUNS, event.run_id)
    if run is not None:
        rest = event.until - record.at if event.until else 0  # its own time does not pass meanwhile
        words = build_sentence("waiting.limit", said=event.reason)
        key, deadline = event.ask_id, run.deadline + rest
        paused = replace(run, status="waiting", waiting_for=words, waits_kind="limit", waits_key=key, deadline=deadline)
        tx.put(RUNS, replace(paused, goes_on_at=event.until))


def project_nothing(tx: Tx, event: e.ApprovalRefused, record: Recorded) -> None:
    """For the audit; the node informs the agent."""


def run_extended(tx: Tx, event: e.RunExtended, record: Recorded) -> None:
    run = tx.get(RUNS, event.run_id)
    if run is not None:
        deadline = record.at + event.timeout_s * 1000
        changed = {**_NO_WAIT, "status": "running", "extended_at": record.at, "deadline": deadline}
        tx.put(RUNS, take_fields(run, event, **changed))
    tree = tx.get(TREES, run.root_id) if run else None
    if tree is not None:
        tx.put(TREES, replace(tree, limits=event.limits))


def run_ended(tx: Tx, event: e.RunEnded, record: Recorded) -> None:
    run = tx.get(RUNS, event.run_id)
    if run is None or run.status not in LIVE:
        return
    tx.put(RUNS, take_fields(run, event, **_NO_WAIT, ended_at=record.at, deadline=0))
    forget_file_writes(tx, run.id)
    add_stored_bytes(tx, run.agent_id, run.heard_bytes)
    tree = tx.get(TREES, run.root_id)
    if tree is not None:
        tx.put(TREES, replace(tree, live=tree.live - 1))


def tree_cancelled(tx: Tx, event: e.TreeCancelled, record: Recorded) -> None:
    tree = tx.get(TREES, event.root_id)
    if tree is not None:
        tx.put(TREES, replace(tree, tombstone=record.by))


PROJECT: dict[type[Event], Project] = {
    e.RunCreated: run_created,
    e.RunPlaced: run_placed,
    e.RunTainted: run_tainted,
    e.RunBegan: run_began,
    e.RunHeard: run_heard,
    e.RunWaits: run_waits,
    e.RunWentOn: run_went_on,
    e.RunPaused: run_paused,
    e.ApprovalRefused: project_nothing,
    e.RunExtended: run_extended,
    e.RunEnded: run_ended,
    e.TreeCancelled: tree_cancelled,
    **legacy_events.PROJECT,
    **clock_shift.PROJECT,
}


def _on_ask_closed(rows: Rows, event: AskAnswered, context: Context) -> list[Event]:
    """The outcome for a run at a limit, for a call that waits in a runtime, or for a report."""
    paused = handle_pause_answer(rows, event, context)
    return paused or [*FOLLOW[AskAnswered](rows, event, context), *handle_report_answer(rows, event, context)]


RUNS_NOUN = Noun(
    name="runs",
    tables=(RUNS, TREES, CALLS, ITEMS, WRITINGS),
    events=tuple(PROJECT),
    decide=DECIDE,
    project=PROJECT,
    upcast=legacy_events.UPCAST,
    follow={
        **FOLLOW,
        AskAnswered: _on_ask_closed,
        ClockMoved: clock_shift.on_clock_moved,
        CredentialRevoked: on_node_revoked,
        e.RunTainted: taint_parent,
    },
    sources=(
        "greenroom.rules.runs.model",
        "greenroom.rules.runs.project",
        "greenroom.rules.runs.clock_shift",
        "greenroom.rules.runs.loop_detection",
        "greenroom.rules.runs.file_writes",
        "greenroom.rules.runs.legacy_events",
        "greenroom.link.lenient_reader",
        "greenroom.link.reports",
        "greenroom.runtimes.call_facts",
        "greenroom.link.policy_facts.known_tools",
        *tool_kinds.SOURCES,
    ),
)
