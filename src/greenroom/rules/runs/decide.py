"""The rules for active runs: steering, extending and ending them."""

from greenroom.errors import Refused
from greenroom.link.orders import FinishOrder, ResumeOrder, SteerOrder
from greenroom.log.model import Command, Context, Decide, Event, Rows
from greenroom.rules.access.decide import need_principal
from greenroom.rules.access.queries import need_right
from greenroom.rules.runs import (
    decide_items,
    decide_nodes,
    decide_start,
    epochs,
    loop_detection,
    permission_requests,
    tool_calls,
)
from greenroom.rules.runs.cancellation import build_cancel_events
from greenroom.rules.runs.commands import CancelRun, EndAgent, ExpireRun, ExtendRun, FinishRun, GoOn, SteerRun
from greenroom.rules.runs.decide_start import PROMPT_CHARS, TAINT_CHARS
from greenroom.rules.runs.events import RunExtended, RunTainted, RunWentOn, TreeCancelled
from greenroom.rules.runs.lineage import get_caller_taint
from greenroom.rules.runs.model import LIVE, RUNS, TREES, TreeLimits
from greenroom.rules.runs.orders import build_order, build_release_order
from greenroom.rules.runs.pauses import pause_run, withdraw_pause_asks
from greenroom.rules.runs.permissions import withdraw_asks_of_run
from greenroom.rules.runs.queries import find_below, need_run, need_tree
from greenroom.rules.threads.visible_agents import need_agent
from greenroom.sentences import build_sentence

_REASON = 500


def steer_run(rows: Rows, command: SteerRun, context: Context) -> list[Event]:
    by = need_principal(command)
    need_right(by, "chat")
    run = need_run(rows, by, command.run_id)
    if by.agent_id == run.agent_id:
        raise Refused("own_run", "forbidden")
    if run.status not in LIVE or run.node_id is None:
        raise Refused("run_ended", "conflict", status=run.status)
    if run.is_paused:
        raise Refused("run_paused", "conflict")
    if not command.text.strip() or len(command.text) > PROMPT_CHARS:
        raise Refused("bad_prompt.empty")
    tainted: list[Event] = []
    taint = (command.taint or get_caller_taint(rows, by)) if by.may_operate else ""
    if taint and not run.taint:
        tainted.append(RunTainted(run_id=run.id, taint=taint[:TAINT_CHARS]))
    return [*tainted, build_order(run, command.order_id, SteerOrder(text=command.text))]


def cancel_run(rows: Rows, command: CancelRun, context: Context) -> list[Event]:
    by = need_principal(command)
    need_right(by, "chat")
    run = need_run(rows, by, command.run_id)
    ending = [run, *find_below(rows, run)] if command.cascade else [run]
    events: list[Event] = []
    if command.cascade and run.parent_id is None:
        tree = rows.get(TREES, run.root_id)
        if tree is not None and tree.tombstone is None:
            events.append(TreeCancelled(root_id=run.root_id, reason=command.reason[:_REASON]))
    live = [one for one in ending if one.status in LIVE]
    for number, one in enumerate(live):
        events += build_cancel_events(rows, one, f"{command.order_seed}_{number}", command.reason[:_REASON])
        events += withdraw_asks_of_run(rows, one, build_sentence("withdrawn.cancelled"))
    return events


def end_agent(rows: Rows, command: EndAgent, context: Context) -> list[Event]:
    by = need_principal(command)
    need_right(by, "operate")
    agent = need_agent(rows, by, command.agent_id)
    if agent.profile is None:
        raise Refused("agent_not_found.not_started_here", "not_found")
    if agent.run_id is not None:
        raise Refused("agent_busy.cancel_first", "conflict", run_id=agent.run_id)
    if agent.node_id is None or agent.process == "asleep":
        return []
    return build_release_order(rows, agent, agent.node_id, command.order_id)


def finish_run(rows: Rows, command: FinishRun, context: Context) -> list[Event]:
    by = need_principal(command)
    run = need_run(rows, by, command.run_id)
    if not by.may_operate and by.agent_id != run.agent_id:
        raise Refused("forbidden.done", "forbidden")
    if run.status not in LIVE or run.node_id is None:
        return []
    return [build_order(run, command.order_id, FinishOrder(text=command.output[:PROMPT_CHARS]))]


def expire_run(rows: Rows, command: ExpireRun, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    run = rows.get(RUNS, command.run_id)
    if run is None or run.status != "running" or not 0 < run.deadline <= context.now:
        return []
    return pause_run(rows, run, build_sentence("pause.time", seconds=run.timeout_s), command.order_id, context)


def go_on(rows: Rows, command: GoOn, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    run = rows.get(RUNS, command.run_id)
    if run is None or run.status != "waiting" or not 0 < run.goes_on_at <= context.now:
        return []
    return [RunWentOn(run_id=run.id), build_order(run, command.order_id, ResumeOrder())]


def extend_run(rows: Rows, command: ExtendRun, context: Context) -> list[Event]:
    by = need_principal(command)
    need_right(by, "operate")
    run = need_run(rows, by, command.run_id)
    if not run.is_paused:
        raise Refused("not_paused", "conflict")
    tree = need_tree(rows, run.root_id)
    limits = TreeLimits(
        max_depth=tree.limits.max_depth,
        max_runs=tree.limits.max_runs,
        max_tokens=command.max_tokens or tree.limits.max_tokens,
        max_cost_usd=command.max_cost_usd or tree.limits.max_cost_usd,
    )
    extended = RunExtended(
        run_id=run.id,
        timeout_s=command.timeout_s or run.timeout_s,
        max_tokens=command.max_tokens or run.max_tokens,
        max_cost_usd=command.max_cost_usd or run.max_cost_usd,
        limits=limits,
    )
    return [extended, build_order(run, command.order_id, ResumeOrder()), *withdraw_pause_asks(rows, run)]


DECIDE: dict[type[Command], Decide] = {
    SteerRun: steer_run,
    CancelRun: cancel_run,
    EndAgent: end_agent,
    FinishRun: finish_run,
    ExpireRun: expire_run,
    GoOn: go_on,
    ExtendRun: extend_run,
    **decide_start.DECIDE,
    **decide_items.DECIDE,
    **decide_nodes.DECIDE,
    **loop_detection.DECIDE,
    **epochs.DECIDE,
    **tool_calls.DECIDE,
    **permission_requests.DECIDE,
}
