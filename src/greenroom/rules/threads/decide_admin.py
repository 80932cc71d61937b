"""The rules for administration: decisions that a person takes about a silent thread, once each."""

from typing import Any

from greenroom.errors import Refused
from greenroom.log.copied_fields import copy_fields
from greenroom.log.model import Command, Context, Decide, Event, Rows
from greenroom.rules.access.decide import need_principal
from greenroom.rules.access.queries import need_right
from greenroom.rules.agents.model import AGENTS
from greenroom.rules.threads.commands import DecideAdmin, RaiseDecision
from greenroom.rules.threads.events import AdminDecided, AdminDecisionRaised, MessagePosted
from greenroom.rules.threads.model import DECISIONS, OPEN_STATES, THREADS, Decision, Thread
from greenroom.rules.threads.queries import need_thread
from greenroom.sentences import Sentence, build_sentence

ACTIONS = {"takeover": ("takeover", "cancel"), "switch": ("switch", "keep")}


def raise_decision(rows: Rows, command: RaiseDecision, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    thread = rows.get(THREADS, command.thread_id)
    if thread is None or thread.status not in OPEN_STATES or thread.current_seq != command.about_seq:
        return []
    if rows.find(DECISIONS, {"thread_id": thread.id, "about_seq": command.about_seq}, limit=1):
        return []
    waiting = rows.find(DECISIONS, {"thread_id": thread.id}, order="about_seq", desc=True, limit=1)
    if waiting and waiting[0].action is None:
        return []  # one question at a time
    raised = copy_fields(command, AdminDecisionRaised, thread_id=thread.id)
    events: list[Event] = [raised, _build_question(rows, thread, command)]
    if command.kind == "switch" and thread.admin_id:
        events.append(_build_instruction(rows, thread, command))
    return events


def _build_question(rows: Rows, thread: Thread, command: RaiseDecision) -> MessagePosted:
    candidate = rows.get(AGENTS, command.candidate_id) if command.candidate_id else None
    name = candidate.name if candidate else "nobody"
    if command.kind == "takeover":
        said = build_sentence("thread_message.shall_take_over", name=name)
    else:
        said = build_sentence("thread_message.shall_become_admin", name=name)
    yes, no = ACTIONS[command.kind]
    return _build_system_message(
        thread,
        command.message_id,
        said,
        {
            "ui_type": f"admin_{command.kind}_confirmation",
            "visibility": "human_only",
            "actions": [yes, no],
            "candidate_admin_id": command.candidate_id,
            "current_admin_id": thread.admin_id,
        },
    )


def _build_instruction(rows: Rows, thread: Thread, command: RaiseDecision) -> MessagePosted:
    assert thread.admin_id is not None  # noqa: S101 the caller has looked
    admin = rows.get(AGENTS, thread.admin_id)
    said = build_sentence("thread_message.all_waiting", name=admin.name if admin else thread.admin_id)
    metadata = {"ui_type": "admin_coordination", "handoff_target": thread.admin_id}
    return _build_system_message(thread, command.instruction_id, said, metadata, thread.admin_id)


def _build_system_message(
    thread: Thread, message_id: str, said: Sentence, metadata: dict[str, Any], handoff_target: str | None = None
) -> MessagePosted:
    return MessagePosted(
        message_id=message_id,
        thread_id=thread.id,
        author_id="system",
        author_name="system",
        role="system",
        content=str(said),
        said=said,
        priority="system",
        metadata=metadata,
        handoff_target=handoff_target,
    )


def decide_admin(rows: Rows, command: DecideAdmin, context: Context) -> list[Event]:
    by = need_principal(command)
    need_right(by, "operate")
    thread = need_thread(rows, by, command.thread_id)
    known = {action for pair in ACTIONS.values() for action in pair}
    if command.action not in known:
        raise Refused("bad_action", actions=sorted(known))
    decision = None
    if command.source_message_id is not None:
        decision = rows.get(DECISIONS, command.source_message_id)
        if decision is None or decision.thread_id != thread.id:
            raise Refused("decision_not_found", "not_found")
        if decision.action is not None:
            return []  # answered before; the caller sees that in the row
        if command.action not in ACTIONS[decision.kind]:
            raise Refused("bad_action.decision", actions=ACTIONS[decision.kind])
    admin_id = None
    if command.action in ("takeover", "switch"):
        admin_id = command.candidate_admin_id or (decision.candidate_id if decision else None)
        if admin_id is None or rows.get(AGENTS, admin_id) is None:
            raise Refused("bad_candidate")
    decided = AdminDecided(
        thread_id=thread.id,
        message_id=decision.message_id if decision else None,
        action=command.action,
        admin_id=admin_id,
    )
    if thread.status not in OPEN_STATES:
        return [decided]
    return [decided, _build_result(rows, thread, command, admin_id, decision)]


def _build_result(
    rows: Rows, thread: Thread, command: DecideAdmin, admin_id: str | None, decision: Decision | None
) -> MessagePosted:
    """The decision as a message of the thread. Where the admin changes or must act, agents read it too."""
    admin = rows.get(AGENTS, admin_id) if admin_id else None
    kind = "takeover" if command.action in ACTIONS["takeover"] else "switch"
    metadata = {
        "ui_type": f"admin_{kind}_decision_result",
        "decision": command.action,
        "thread_id": thread.id,
        "source_message_id": decision.message_id if decision else None,
    }
    if admin is None:
        metadata["visibility"] = "human_only"
    else:
        metadata["handoff_target"] = admin.id
    said = _word_result(command.action, admin.name if admin else "")
    return _build_system_message(thread, command.result_id, said, metadata, admin.id if admin else None)


def _word_result(action: str, name: str) -> Sentence:
    match action:
        case "takeover":
            return build_sentence("thread_message.taken_over", name=name)
        case "switch":
            return build_sentence("thread_message.new_admin", name=name)
        case "cancel":
            return build_sentence("thread_message.keeps_waiting")
        case _:
            return build_sentence("thread_message.admin_stays")


DECIDE: dict[type[Command], Decide] = {
    RaiseDecision: raise_decision,
    DecideAdmin: decide_admin,
}
