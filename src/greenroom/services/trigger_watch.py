"""Watches for what triggers wait for: the clock every second, messages and ends of workflows as they come."""

import logging

from greenroom.errors import Refused
from greenroom.log.log import Log
from greenroom.log.model import Recorded
from greenroom.log.reactors import EventReactor
from greenroom.rules.access.model import HUB
from greenroom.rules.threads.events import MessagePosted
from greenroom.rules.threads.model import MESSAGES, THREADS
from greenroom.rules.workflows.events import WorkflowEnded
from greenroom.rules.workflows.model import WORKFLOW_RUNS
from greenroom.rules.workflows.triggers.decide import WRONG_CLOCK_MS
from greenroom.rules.workflows.triggers.model import TRIGGERS, FireTrigger, LookAtTrigger, TriggerState
from greenroom.services.workflow_engine.messages import build_message_values, is_wanted_message

logger = logging.getLogger(__name__)
LOOK_S = 1.0
_LIMIT = 100


class CronTimer:
    """Starts what is due by the clock."""

    def __init__(self, log: Log) -> None:
        self._log = log

    async def start_due(self) -> None:
        """Look at the triggers that are due, and at those that were looked at by a clock that was ahead."""
        now = self._log.clock.now()
        rows = self._log.rows
        due = rows.find(TRIGGERS, after=("due", 0), before=("due", now + 1), order="due", limit=_LIMIT)
        ahead = rows.find(TRIGGERS, after=("last", now + WRONG_CLOCK_MS), order="last", limit=_LIMIT)
        for trigger in [*due, *ahead]:
            try:
                await self._log.do(LookAtTrigger(by=HUB, trigger_id=trigger.id))
            except Exception:  # the others are due all the same
                logger.exception("the trigger %s of %s could not be looked at", trigger.name, trigger.workflow)


def build_trigger_reactor(log: Log) -> EventReactor:
    """Fires the triggers that wait for messages and for the ends of workflows."""

    async def react(record: Recorded) -> None:
        if isinstance(record.event, MessagePosted):
            await _fire_for_message(log, record)
        else:
            await _fire_for_end(log, record.event)

    def choose(records: list[Recorded]) -> list[Recorded]:
        if _find_armed(log):
            return records
        return [record for record in records if not isinstance(record.event, MessagePosted)]

    return EventReactor("workflow triggers", (MessagePosted, WorkflowEnded), react, choose)


def _find_armed(log: Log) -> list[TriggerState]:
    """The triggers that wait for messages."""
    return [row for row in log.rows.find(TRIGGERS, {"kind": "message"}) if row.armed]


async def _fire_for_message(log: Log, record: Recorded) -> None:
    armed = [row for row in _find_armed(log) if row.last <= record.at]
    message = log.rows.get(MESSAGES, record.event.message_id) if armed else None
    if message is None:
        return
    thread = log.rows.get(THREADS, message.thread_id)
    places = ("", message.thread_id, thread.topic if thread is not None else "")
    for trigger in armed:
        wanted = trigger.spec.message
        meant = wanted is not None and (bool(wanted.sender) or not message.agent)  # agents must be named: they answer
        if (
            wanted is not None
            and meant
            and wanted.thread in places
            and is_wanted_message(log.rows, wanted, message, record.by)
        ):
            await _fire(log, trigger, message.id, record.at, build_message_values(message))


async def _fire_for_end(log: Log, event: WorkflowEnded) -> None:
    run = log.rows.get(WORKFLOW_RUNS, event.run_id)
    if run is None or run.parent_id is not None:
        return
    for trigger in log.rows.find(TRIGGERS, {"after": run.workflow}):
        wanted = trigger.spec.after
        if trigger.armed and wanted is not None and wanted.status in ("any", event.status):
            facts = {"run_id": run.id, "workflow": run.workflow, "status": event.status, "output": event.output}
            await _fire(log, trigger, run.id, run.created_at, facts)


async def _fire(log: Log, trigger: TriggerState, occurrence: str, at: int, facts: dict[str, object]) -> None:
    try:
        await log.do(FireTrigger(by=HUB, trigger_id=trigger.id, occurrence=occurrence, at=at, facts=facts))
    except Refused as no:
        logger.warning("the trigger %s of %s started nothing: %s", trigger.name, trigger.workflow, no.message)
