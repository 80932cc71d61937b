"""The rules for triggers: who may arm them, what they start, and how often."""

from typing import Any

from greenroom.clock import format_iso
from greenroom.errors import Refused
from greenroom.expressions import BadExpression, ExpressionFailed, compile_expression
from greenroom.log.model import Command, Context, Decide, Event, Rows
from greenroom.rules.access.decide import need_principal
from greenroom.rules.access.epochs import EpochBegun, get_epoch
from greenroom.rules.access.model import HUB
from greenroom.rules.access.queries import need_right
from greenroom.rules.workflows.commands import StartWorkflow, TellRun
from greenroom.rules.workflows.core.news import Ended, News
from greenroom.rules.workflows.core.transition import derive_id
from greenroom.rules.workflows.cron import find_due_times, get_next_time
from greenroom.rules.workflows.decide import start_workflow
from greenroom.rules.workflows.decide_control import tell_run
from greenroom.rules.workflows.model import STEPS, WORKFLOW_RUNS
from greenroom.rules.workflows.taint import get_message_taint
from greenroom.rules.workflows.triggers import model as m
from greenroom.rules.workflows.triggers.webhook_signature import WINDOW_S
from greenroom.sentences import build_sentence

MAX_PER_MINUTE = 30
MAX_CHAIN = 10
WRONG_CLOCK_MS = 300_000
_RESTORED = build_sentence("trigger_off.restored")


def arm_trigger(rows: Rows, command: m.ArmTrigger, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    found = need_trigger(rows, command.trigger_id)
    if command.armed and not found.spec.enabled:
        raise Refused("trigger_off")
    if found.armed == command.armed:
        return []
    armed = m.TriggerArmed(trigger_id=found.id, armed=command.armed)
    if found.kind != "cron" or not command.armed:
        return [armed]
    due = get_next_time(found.spec, context.now) or 0
    return [armed, m.TriggerLookedAt(trigger_id=found.id, last=context.now, due=due)]


def disarm_all(rows: Rows, event: EpochBegun, context: Context) -> list[Event]:
    """A trigger may have been disarmed since the backup, and a run that is due may have started."""
    armed = [found for found in rows.find(m.TRIGGERS, order="_key") if found.armed]
    return [m.TriggerArmed(trigger_id=found.id, armed=False, reason=_RESTORED) for found in armed]


def look_at_trigger(rows: Rows, command: m.LookAtTrigger, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    found = rows.get(m.TRIGGERS, command.trigger_id)
    if found is None or not found.armed or found.kind != "cron":
        return []
    last = found.last
    if last > context.now + WRONG_CLOCK_MS:  # the clock was ahead; due times follow the right one again
        last = context.now
    events: list[Event] = []
    for due in find_due_times(found.spec, last, context.now):
        facts = {"time": format_iso(due), "scheduled_at": due}
        events += _start_workflow(rows, found, str(due), facts, context, due)
    looked = max(last, context.now)
    due_next = get_next_time(found.spec, looked) or 0
    return [*events, m.TriggerLookedAt(trigger_id=found.id, last=looked, due=due_next)]


def fire_trigger(rows: Rows, command: m.FireTrigger, context: Context) -> list[Event]:
    need_right(need_principal(command), "trigger" if command.nonce is not None else "operate")
    found = rows.get(m.TRIGGERS, command.trigger_id)
    if found is None or not found.armed:
        raise Refused("trigger_not_armed", "not_found")
    events: list[Event] = []
    if command.nonce is not None:
        events += _need_unseen(rows, found.id, command.nonce, command.signed_at)
    minute = context.now // 60_000
    if found.minute == minute and found.in_minute >= MAX_PER_MINUTE:
        raise Refused("trigger_too_often", "limited", limit=MAX_PER_MINUTE)
    return [*events, *_start_workflow(rows, found, command.occurrence, command.facts, context, command.at)]


def signal_hook(rows: Rows, command: m.SignalHook, context: Context) -> list[Event]:
    need_right(need_principal(command), "trigger")
    events: list[Event] = list(_need_unseen(rows, f"hook {command.hook}", command.nonce, command.signed_at))
    waiting = rows.find(STEPS, {"waits_kind": "webhook", "waits_key": command.hook}, limit=1000)
    if not waiting:
        raise Refused("nobody_waits", "conflict", hook=command.hook[:64])
    news: dict[str, list[News]] = {}
    for step in waiting:
        told = Ended(step=step.id, attempt=step.attempt, ok=True, output=command.value)
        news.setdefault(step.run_id, []).append(told)
    for run_id, of_run in news.items():
        events += tell_run(rows, TellRun(by=HUB, run_id=run_id, news=of_run), context)
    return events


def need_trigger(rows: Rows, trigger_id: str) -> m.TriggerState:
    found = rows.get(m.TRIGGERS, trigger_id)
    if found is None:
        raise Refused("trigger_not_found", "not_found")
    return found


def _need_unseen(rows: Rows, door: str, nonce: str, signed_at: int) -> list[Event]:
    epoch = get_epoch(rows)
    if epoch is not None and signed_at <= epoch.begun_at + WINDOW_S * 1000:
        raise Refused("signed_before_restore", "conflict", minutes=WINDOW_S // 60)
    if rows.get(m.SEEN, door, nonce) is not None:
        raise Refused("call_repeated", "conflict")
    return [m.NonceSeen(door=door, nonce=nonce)]


def _start_workflow(
    rows: Rows, found: m.TriggerState, occurrence: str, facts: dict[str, Any], context: Context, at: int
) -> list[Event]:
    """The start of a run, or what hindered it. A run's id follows from the occurrence, so none is started twice."""
    run_id = derive_id("wfr", at, found.id, occurrence)
    if rows.get(WORKFLOW_RUNS, run_id) is not None:
        return []
    try:
        _need_no_circle(rows, facts)
        inputs = _build_inputs(found, {"kind": found.kind, **facts})
        trigger = f"{found.kind} {facts['run_id'] if found.kind == 'after' else found.name}"
        command = StartWorkflow(
            by=HUB,
            run_id=run_id,
            workflow=found.workflow,
            inputs=inputs,
            trigger=trigger,
            taint=get_message_taint(rows, occurrence) if found.kind == "message" else "",
        )
        began = start_workflow(rows, command, context)
    except Refused as no:
        return [m.TriggerFailed(trigger_id=found.id, error=no.said)]
    return [m.TriggerFired(trigger_id=found.id, run_id=run_id), *began]


def _build_inputs(found: m.TriggerState, trigger: dict[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in found.spec.inputs.items():
        try:
            values[name] = (
                compile_expression(value, ("trigger",)).evaluate({"trigger": trigger})
                if isinstance(value, str)
                else value
            )
        except (BadExpression, ExpressionFailed) as error:
            raise Refused("bad_input.trigger", name=name, error=error.said) from error
    return values


def _need_no_circle(rows: Rows, facts: dict[str, Any]) -> None:
    """Workflows that start each other at their ends must come to an end themselves."""
    run_id, length = facts.get("run_id"), 0
    while run_id is not None:
        run = rows.get(WORKFLOW_RUNS, run_id)
        kind, _, run_id = run.trigger.partition(" ") if run is not None else ("", "", None)
        run_id = run_id if kind == "after" else None
        length += 1
        if length > MAX_CHAIN:
            raise Refused("trigger_circle", limit=MAX_CHAIN)


DECIDE: dict[type[Command], Decide] = {
    m.ArmTrigger: arm_trigger,
    m.LookAtTrigger: look_at_trigger,
    m.FireTrigger: fire_trigger,
    m.SignalHook: signal_hook,
}
