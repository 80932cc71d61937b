"""The projection of triggers: they follow their workflow's definition, and remember what they started."""

import msgspec

from greenroom.log.copied_fields import take_fields
from greenroom.log.model import Event, Project, Recorded, Tx
from greenroom.rules.workflows.checks.triggers import get_trigger_kind
from greenroom.rules.workflows.definition import WorkflowDefinition
from greenroom.rules.workflows.triggers import model as m
from greenroom.rules.workflows.triggers.webhook_signature import WINDOW_S

_FORGET = 100


def put_triggers(tx: Tx, definition: WorkflowDefinition, at: int) -> None:
    """The triggers of a definition that was stored: those that were armed stay so, as they are now."""
    gone = {row.id: row for row in tx.find(m.TRIGGERS, {"workflow": definition.name})}
    for spec in definition.triggers:
        key = m.build_trigger_id(definition.name, spec.id)
        before = gone.pop(key, None)
        row = m.TriggerState(
            id=key,
            workflow=definition.name,
            name=spec.id,
            kind=get_trigger_kind(spec),
            spec=spec,
            after=_get_after_workflow(spec.after),
        )
        if before is not None:
            row = msgspec.structs.replace(before, spec=spec, kind=row.kind, after=row.after)
            armed = before.armed and spec.enabled
            row = _set_armed(row, armed, at) if armed != before.armed or spec != before.spec else row
        tx.put(m.TRIGGERS, row)
    for row in gone.values():
        tx.drop(m.TRIGGERS, row.id)


def _get_after_workflow(after: object) -> str:
    return str(getattr(after, "workflow", ""))


def _set_armed(row: m.TriggerState, armed: bool, at: int) -> m.TriggerState:
    """A cron trigger is looked at right away; when it is due next is then written down, for calendars change."""
    due = at if armed and row.kind == "cron" else 0
    return msgspec.structs.replace(row, armed=armed, last=at if armed else 0, due=due, error=None)


def drop_triggers(tx: Tx, workflow: str) -> None:
    """The triggers of a workflow that was deleted."""
    for row in tx.find(m.TRIGGERS, {"workflow": workflow}):
        tx.drop(m.TRIGGERS, row.id)


def trigger_armed(tx: Tx, event: m.TriggerArmed, record: Recorded) -> None:
    row = tx.get(m.TRIGGERS, event.trigger_id)
    if row is not None:
        tx.put(m.TRIGGERS, _set_armed(row, event.armed, record.at))


def trigger_fired(tx: Tx, event: m.TriggerFired, record: Recorded) -> None:
    row = tx.get(m.TRIGGERS, event.trigger_id)
    if row is None:
        return
    minute = record.at // 60_000
    tx.put(
        m.TRIGGERS,
        msgspec.structs.replace(
            row,
            starts=row.starts + 1,
            started_at=record.at,
            last_run=event.run_id,
            error=None,
            minute=minute,
            in_minute=row.in_minute + 1 if row.minute == minute else 1,
        ),
    )


def trigger_failed(tx: Tx, event: m.TriggerFailed, record: Recorded) -> None:
    row = tx.get(m.TRIGGERS, event.trigger_id)
    if row is not None:
        tx.put(m.TRIGGERS, msgspec.structs.replace(row, error=event.error))


def trigger_looked_at(tx: Tx, event: m.TriggerLookedAt, record: Recorded) -> None:
    row = tx.get(m.TRIGGERS, event.trigger_id)
    if row is not None:
        tx.put(m.TRIGGERS, take_fields(row, event))


def nonce_seen(tx: Tx, event: m.NonceSeen, record: Recorded) -> None:
    """Remember a call, and forget those that are so old that their signature would be refused anyway."""
    old = record.at - 2 * WINDOW_S * 1000 - 60_000
    for row in tx.find(m.SEEN, before=("at", old), order="at", limit=_FORGET):
        tx.drop(m.SEEN, row.door, row.nonce)
    tx.put(m.SEEN, m.UsedNonce(door=event.door, nonce=event.nonce, at=record.at))


PROJECT: dict[type[Event], Project] = {
    m.TriggerArmed: trigger_armed,
    m.TriggerFired: trigger_fired,
    m.TriggerFailed: trigger_failed,
    m.TriggerLookedAt: trigger_looked_at,
    m.NonceSeen: nonce_seen,
}
