"""Messages that steps wait for: matches each posted message with the waiting steps, once."""

from greenroom.log.log import Log
from greenroom.log.model import Recorded, Rows
from greenroom.log.reactors import EventReactor
from greenroom.rules.access.model import CREDENTIALS, HUB, OWNER_HANDLE, OWNER_ID
from greenroom.rules.access.queries import get_person_name
from greenroom.rules.threads.events import MessagePosted
from greenroom.rules.threads.model import MESSAGES, THREADS, Message
from greenroom.rules.workflows.commands import TellRun
from greenroom.rules.workflows.core.news import Ended
from greenroom.rules.workflows.definition import MessageFilter
from greenroom.rules.workflows.model import STEPS, WORKFLOW_RUNS, WorkflowStep, get_step_id
from greenroom.rules.workflows.queries import load_plan


def build_message_reactor(log: Log) -> EventReactor:
    """Delivers messages to waiting steps; a repeat finds no waiting step."""

    async def react(record: Recorded) -> None:
        message = log.rows.get(MESSAGES, record.event.message_id)
        if message is None:
            return
        for step in find_waiting_steps(log.rows, message, record.by):
            if (step.began_at or 0) > record.at:
                continue
            told = Ended(step=step.id, attempt=step.attempt, ok=True, output=build_message_values(message))
            await log.do(TellRun(by=HUB, run_id=step.run_id, news=[told]))

    def choose(records: list[Recorded]) -> list[Recorded]:
        return records if is_any_step_waiting(log.rows) else []

    return EventReactor("workflow messages", (MessagePosted,), react, choose)


def is_any_step_waiting(rows: Rows) -> bool:
    """Whether any step waits for any message."""
    return bool(rows.find(STEPS, {"waits_kind": "message"}, limit=1))


def find_waiting_steps(rows: Rows, message: Message, by: str) -> list[WorkflowStep]:
    """The steps that wait for such a message; `by` is the credential that posted it."""
    thread = rows.get(THREADS, message.thread_id)
    places = {"", message.thread_id, thread.topic if thread else ""}
    waiting = [step for place in places for step in rows.find(STEPS, {"waits_kind": "message", "waits_key": place})]
    return [step for step in waiting if _wants(rows, step, message, by)]


def _wants(rows: Rows, step: WorkflowStep, message: Message, by: str) -> bool:
    run = rows.get(WORKFLOW_RUNS, step.run_id)
    node = load_plan(rows, run).nodes.get(get_step_id(step.id)) if run is not None else None
    wait = node.step.wait if node is not None else None
    return wait is not None and wait.message is not None and is_wanted_message(rows, wait.message, message, by)


def is_wanted_message(rows: Rows, wanted: MessageFilter, message: Message, by: str) -> bool:
    """Whether a message is by the right one and holds the right words; its thread is looked at elsewhere."""
    by_right_one = not wanted.sender or wanted.sender in _find_author_names(rows, message, by)
    return by_right_one and wanted.contains.casefold() in message.content.casefold()


def _find_author_names(rows: Rows, message: Message, by: str) -> set[str]:
    """The author of a message. Only the credential identifies a person: anybody may write another name over it."""
    credential = None if message.agent else rows.get(CREDENTIALS, by)
    if credential is None or credential.person_id is None:
        return {message.author_id, message.author_name} if message.agent or by == HUB.id else set()
    handle = OWNER_HANDLE if credential.person_id == OWNER_ID else credential.name
    return {credential.person_id, handle, get_person_name(rows, credential.person_id)} - {""}


def build_message_values(message: Message) -> dict[str, object]:
    """A message as expressions see it."""
    return {
        "id": message.id,
        "thread_id": message.thread_id,
        "author": message.author_name,
        "content": message.content,
        "seq": message.seq,
    }
