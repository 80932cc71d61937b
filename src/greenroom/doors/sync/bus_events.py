"""Turns the log's events and signals into events of the bus, `{type, payload}`, encoded once for all clients."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import msgspec

from greenroom.link.ask_kinds import ASK_KINDS
from greenroom.log.codec import encode
from greenroom.log.model import Event, Recorded, Rows
from greenroom.log.signals import SignalKind
from greenroom.rules.access.model import Principal
from greenroom.rules.agents.model import AGENTS, Agent, AgentUpdated
from greenroom.rules.asks.events import AskAnswered, AskExpired, AskRaised, AskWithdrawn
from greenroom.rules.asks.model import ASKS
from greenroom.rules.threads import events as e
from greenroom.rules.threads.model import MESSAGES, THREADS, Thread
from greenroom.rules.threads.queries import is_for_people, may_see_thread
from greenroom.rules.threads.visible_agents import may_see_agent
from greenroom.sentences.english import render_english

News = list[tuple[str, dict[str, Any]]]


class BusEvent(NamedTuple):
    """What clients get of one event or signal, and who may see it: those who may see the thread or the agent."""

    seq: int
    about: Thread | Agent
    frames: list[bytes]
    data: bytes
    """All frames together."""
    to_people: bool = False
    """Whether agents do not get it."""

    def join_frames_after(self, number: int) -> bytes:
        """The frames after the one with this number."""
        return b"".join(self.frames[number + 1 :])

    def is_for(self, rows: Rows, by: Principal) -> bool:
        if self.to_people and by.is_program:
            return False
        if isinstance(self.about, Thread):
            return may_see_thread(rows, by, self.about)
        return may_see_agent(rows, by, self.about)


def build_bus_event(rows: Rows, record: Recorded) -> BusEvent | None:
    """What clients get of an event; None for events that the bus keeps to itself, and for what no longer exists."""
    news = NEWS.get(type(record.event))
    if news is None:
        return None
    about = _get_subject(rows, record.event)
    if about is None:
        return None
    frames = list(_encode_frames(record.seq, news(rows, record)))
    return BusEvent(record.seq, about, frames, b"".join(frames), _is_to_people(rows, record.event)) if frames else None


def _is_to_people(rows: Rows, event: Any) -> bool:
    if isinstance(event, e.MessageEdited):
        edited = rows.get(MESSAGES, event.message_id)
        return edited is not None and is_for_people(edited)
    return isinstance(event, e.MessagePosted) and is_for_people(event)


def build_signal_event(rows: Rows, kind: SignalKind, payload: Any) -> BusEvent | None:
    """What clients get of a signal. It has no id: nobody can ask for it later."""
    if kind not in SIGNALS:
        return None
    agent = rows.get(AGENTS, payload["agent_id"])
    about: Thread | Agent | None = rows.get(THREADS, payload["thread_id"]) if "thread_id" in payload else agent
    if about is None:
        return None
    if kind == "agent.online" and agent is not None:
        payload = {"agent_id": agent.id, "name": agent.name, "ide": agent.ide, "model": agent.model}
    frame = _encode_frame(kind, payload)
    return BusEvent(0, about, [frame], frame)


def _get_subject(rows: Rows, event: Any) -> Thread | Agent | None:
    match event:
        case AgentUpdated():
            return rows.get(AGENTS, event.agent_id)
        case e.ThreadDeleted():
            return rebuild_deleted_thread(event)
        case AskRaised() | AskAnswered() | AskExpired() | AskWithdrawn():
            ask = rows.get(ASKS, event.ask_id)
            return rows.get(THREADS, ask.thread_id) if ask is not None and ask.thread_id else None
        case _:
            return rows.get(THREADS, event.thread_id)


def rebuild_deleted_thread(event: e.ThreadDeleted) -> Thread:
    """As much of a thread that is gone as decides who could see it."""
    return Thread(
        id=event.thread_id,
        topic=event.topic,
        status="closed",
        created_at=0,
        owner=event.owner,
        mailbox_of=event.mailbox_of,
    )


def _encode_frames(seq: int, news: News) -> Iterable[bytes]:
    """A first frame has the event's seq for an id, those that follow a number behind it: no two are the same."""
    for number, (kind, payload) in enumerate(news):
        place = b"id: %d.%d\n" % (seq, number) if number else b"id: %d\n" % seq
        yield place + _encode_frame(kind, payload)


def _encode_frame(kind: str, payload: dict[str, Any]) -> bytes:
    data = encode({"type": kind, "payload": payload})
    for mark, escaped in _LINE_ENDS:
        data = data.replace(mark, escaped)
    return b"event: message\ndata: %b\n\n" % data


_LINE_ENDS = [(mark.encode(), f"\\u{ord(mark):04x}".encode()) for mark in "\x85\u2028\u2029"]
"""Many clients split lines at these too, though the standard of SSE does not."""


def _build_message_posted(rows: Rows, record: Recorded) -> News:
    event: e.MessagePosted = record.event
    place = {"msg_id": event.message_id, "thread_id": event.thread_id}
    who = {"author": event.author_name, "author_id": event.author_id, "role": event.role}
    news: News = [("msg.new", {**place, **who, "seq": record.seq, "content": event.content})]
    if event.handoff_target is not None:
        news.append(("msg.handoff", {**place, "from_agent": event.author_name, "to_agent": event.handoff_target}))
    if event.stop_reason is not None:
        news.append(("msg.stop", {**place, "agent": event.author_name, "reason": event.stop_reason}))
    if event.reply_to is not None:
        to = {"reply_to_msg_id": event.reply_to, "author": event.author_name, "seq": record.seq}
        news.append(("msg.reply", {**place, **to}))
    return news


def _build_message_edited(rows: Rows, record: Recorded) -> News:
    event: e.MessageEdited = record.event
    place = {"msg_id": event.message_id, "thread_id": event.thread_id}
    edit = {"edited_by": event.edited_by, "version": event.edit_version, "content": event.content}
    return [("msg.edit", {**place, **edit})]


def _build_message_reacted(rows: Rows, record: Recorded) -> News:
    event: e.ReactionAdded = record.event
    agent = rows.get(AGENTS, event.agent_id)
    payload = {
        "reaction_id": f"{event.message_id}:{event.agent_id}:{event.reaction}",
        **_pick_fields(event, "message_id", "thread_id", "agent_id", "reaction"),
        "agent_name": agent.name if agent else event.agent_id,
    }
    return [("msg.react", payload)]


def _build_thread_deleted(rows: Rows, record: Recorded) -> News:
    event: e.ThreadDeleted = record.event
    return [("thread.deleted", {**_pick_fields(event, "thread_id", "topic"), "message_count": event.messages})]


def _build_admin_changed(rows: Rows, record: Recorded) -> News:
    event: e.AdminDecided = record.event
    return [] if event.admin_id is None else [("thread.updated", _pick_fields(event, "thread_id", "admin_id"))]


def _build_agent_waiting(rows: Rows, record: Recorded) -> News:
    """Somebody of the thread waits for a person, or does so no more; for what exactly is not everybody's business."""
    ask = rows.get(ASKS, record.event.ask_id)
    if ask is None or not ASK_KINDS[ask.kind].is_awaited:
        return []
    who = {"thread_id": ask.thread_id, "agent_id": ask.agent_id, "name": ask.asker.name, "kind": ask.kind}
    return [("agent.waiting", {**who, "waiting": isinstance(record.event, AskRaised)})]


def _build_agent_updated(rows: Rows, record: Recorded) -> News:
    said = msgspec.to_builtins(render_english(record.event)).items()
    return [("agent.updated", {name: value for name, value in said if value is not None})]


def _pick_fields(event: Event, *names: str) -> dict[str, Any]:
    return {name: getattr(event, name) for name in names}


def _build_from_fields(kind: str, *names: str) -> Callable[[Rows, Recorded], News]:
    return lambda rows, record: [(kind, _pick_fields(record.event, *names))]


NEWS: dict[type[Event], Callable[[Rows, Recorded], News]] = {
    e.MessagePosted: _build_message_posted,
    e.MessageEdited: _build_message_edited,
    e.ReactionAdded: _build_message_reacted,
    e.ReactionRemoved: _build_from_fields("msg.unreact", "message_id", "thread_id", "agent_id", "reaction"),
    e.ThreadCreated: _build_from_fields("thread.new", "thread_id", "topic"),
    e.ThreadStateSet: _build_from_fields("thread.state", "thread_id", "state"),
    e.ThreadClosed: _build_from_fields("thread.closed", "thread_id", "summary"),
    e.ThreadArchived: _build_from_fields("thread.archived", "thread_id"),
    e.ThreadUnarchived: _build_from_fields("thread.unarchived", "thread_id"),
    e.ThreadDeleted: _build_thread_deleted,
    e.ThreadSettingsChanged: _build_from_fields("thread.updated", "thread_id", "settings"),
    e.ThreadRenamed: _build_from_fields("thread.updated", "thread_id", "topic"),
    e.AdminDecided: _build_admin_changed,
    AgentUpdated: _build_agent_updated,
    AskRaised: _build_agent_waiting,
    AskAnswered: _build_agent_waiting,
    AskExpired: _build_agent_waiting,
    AskWithdrawn: _build_agent_waiting,
}
SIGNALS = frozenset({"agent.online", "agent.offline", "agent.typing"})
