"""The projection of threads, members and messages."""

from functools import partial
from typing import Any

import msgspec

from greenroom.log.copied_fields import copy_fields, take_fields
from greenroom.log.model import Event, Noun, Project, Recorded, Tx
from greenroom.log.row_changes import change_row
from greenroom.rules.threads import events as e
from greenroom.rules.threads import pins
from greenroom.rules.threads.decide import DECIDE
from greenroom.rules.threads.model import (
    AUTHORS,
    BRIEFS,
    DECISIONS,
    EDITS,
    MEMBERS,
    MESSAGES,
    PAYLOADS,
    TEMPLATES,
    THREADS,
    UPLOAD_PLACES,
    UPLOAD_TOTALS,
    UPLOADS,
    Author,
    Brief,
    Decision,
    Member,
    Message,
    MessageRevision,
    Payload,
    Reaction,
    Thread,
    ThreadTemplate,
    Upload,
    UploadPlace,
    UploadTotal,
)
from greenroom.rules.threads.uploads import find_shown_uploads

_UNUSED = 64
_MINUTE = 60_000
replace = msgspec.structs.replace
_change = partial(change_row, THREADS)


def thread_created(tx: Tx, event: e.ThreadCreated, record: Recorded) -> None:
    tx.put(
        THREADS,
        copy_fields(
            event,
            Thread,
            id=event.thread_id,
            status="discuss",
            created_at=record.at,
            seq=record.seq,
            admin_since=record.at,
            last_at=record.at,
        ),
    )
    if event.system_prompt is not None or event.metadata is not None:
        brief = copy_fields(event, Brief)
        tx.put(BRIEFS, brief)


def member_joined(tx: Tx, event: e.MemberJoined, record: Recorded) -> None:
    member = copy_fields(event, Member, joined_at=record.at)
    tx.put(MEMBERS, member)


def token_issued(tx: Tx, event: e.TokenIssued, record: Recorded) -> None:
    member = tx.get(MEMBERS, event.thread_id, event.member_id)
    if member is not None:
        unused = [*member.unused, event.number][-_UNUSED:]
        tx.put(MEMBERS, replace(member, issued=event.number, unused=unused, refresh=False))


def message_posted(tx: Tx, event: e.MessagePosted, record: Recorded) -> None:
    tx.put(
        MESSAGES,
        copy_fields(event, Message, id=event.message_id, seq=record.seq, created_at=record.at),
    )
    thread = tx.get(THREADS, event.thread_id)
    if thread is not None:
        tx.put(THREADS, replace(thread, current_seq=record.seq, messages=thread.messages + 1, last_at=record.at))
    if event.body is not None:
        payload = Payload(blob=event.body, message_id=event.message_id, thread_id=event.thread_id)
        tx.put(PAYLOADS, payload)
    _place_uploads(tx, event.thread_id, event.content, event.metadata)
    if event.next is not None or event.used is not None:
        _move_poster(tx, event, record.seq)
    if event.counted:
        _count_post(tx, event.author_id, record.at)


def _place_uploads(tx: Tx, thread_id: str, content: str, metadata: dict[str, Any] | None = None) -> None:
    """Note which uploads a message shows, in its text or beside it."""
    for upload_id in find_shown_uploads(content, metadata):
        if tx.get(UPLOADS, upload_id) is not None:
            tx.put(UPLOAD_PLACES, UploadPlace(upload_id=upload_id, thread_id=thread_id))


def _move_poster(tx: Tx, event: e.MessagePosted, seq: int) -> None:
    member = tx.get(MEMBERS, event.thread_id, event.token_of or event.author_id)
    if member is None:
        return
    unused = member.unused
    if event.used is not None:
        unused = [number for number in unused if number != event.used]
    given = [] if event.next is None else [event.next]
    known = max(member.delivered, event.expected_last_seq or 0)
    moved = replace(
        member,
        issued=event.next or member.issued,
        unused=[*unused, *given][-_UNUSED:],
        acted=max(member.acted, min(known, seq)),
        seen=max(member.seen, min(known, seq)),
    )
    tx.put(MEMBERS, moved)


def _count_post(tx: Tx, author_id: str, at: int) -> None:
    minute = at // _MINUTE
    author = tx.get(AUTHORS, author_id)
    if author is None or author.minute < minute - 1:
        author = Author(author_id=author_id, minute=minute, count=0)
    elif author.minute == minute - 1:
        author = Author(author_id=author_id, minute=minute, count=0, before=author.count)
    tx.put(AUTHORS, replace(author, count=author.count + 1))


def post_refused(tx: Tx, event: e.PostRefused, record: Recorded) -> None:
    member = tx.get(MEMBERS, event.thread_id, event.member_id)
    if member is not None:
        tx.put(MEMBERS, replace(member, unused=[], refresh=True))


def message_edited(tx: Tx, event: e.MessageEdited, record: Recorded) -> None:
    message = tx.get(MESSAGES, event.message_id)
    if message is None:
        return
    version = message.edit_version + 1
    tx.put(
        EDITS,
        MessageRevision(
            message_id=message.id,
            thread_id=message.thread_id,
            version=version,
            number=f"{version:06d}",
            old_content=message.content,
            old_body=message.body,
            old_body_bytes=message.body_bytes,
            edited_by=event.edited_by,
            edited_at=record.at,
        ),
    )
    tx.put(MESSAGES, take_fields(message, event, edited_at=record.at, edit_version=version))
    if event.body is not None:
        tx.put(PAYLOADS, Payload(blob=event.body, message_id=message.id, thread_id=message.thread_id))
    _place_uploads(tx, message.thread_id, event.content)


def reaction_added(tx: Tx, event: e.ReactionAdded, record: Recorded) -> None:
    message = tx.get(MESSAGES, event.message_id)
    if message is None:
        return
    reaction = Reaction(event.agent_id, event.reaction, record.at)
    tx.put(MESSAGES, replace(message, reactions=[*message.reactions, reaction]))
    member = tx.get(MEMBERS, message.thread_id, event.agent_id)
    if member is not None and member.acted < message.seq:
        tx.put(MEMBERS, replace(member, acted=message.seq, seen=max(member.seen, message.seq)))


def reaction_removed(tx: Tx, event: e.ReactionRemoved, record: Recorded) -> None:
    message = tx.get(MESSAGES, event.message_id)
    if message is not None:
        kept = [r for r in message.reactions if (r.agent_id, r.reaction) != (event.agent_id, event.reaction)]
        tx.put(MESSAGES, replace(message, reactions=kept))


def thread_state_set(tx: Tx, event: e.ThreadStateSet, record: Recorded) -> None:
    _change(tx, event.thread_id, status=event.state, closed_at=None)


def thread_closed(tx: Tx, event: e.ThreadClosed, record: Recorded) -> None:
    _change(tx, event.thread_id, status="closed", closed_at=record.at, summary=event.summary)


def thread_archived(tx: Tx, event: e.ThreadArchived, record: Recorded) -> None:
    thread = tx.get(THREADS, event.thread_id)
    if thread is not None:
        tx.put(THREADS, replace(thread, status="archived", status_before=thread.status))


def thread_unarchived(tx: Tx, event: e.ThreadUnarchived, record: Recorded) -> None:
    thread = tx.get(THREADS, event.thread_id)
    if thread is not None:
        tx.put(THREADS, replace(thread, status=thread.status_before or "discuss", status_before=None))


def thread_deleted(tx: Tx, event: e.ThreadDeleted, record: Recorded) -> None:
    tx.drop(THREADS, event.thread_id)
    tx.drop(BRIEFS, event.thread_id)
    for table in (MESSAGES, EDITS, MEMBERS, PAYLOADS, DECISIONS, UPLOAD_PLACES):
        tx.drop_last(table, {"thread_id": event.thread_id})


def thread_settings_changed(tx: Tx, event: e.ThreadSettingsChanged, record: Recorded) -> None:
    _change(tx, event.thread_id, settings=event.settings)


def thread_renamed(tx: Tx, event: e.ThreadRenamed, record: Recorded) -> None:
    _change(tx, event.thread_id, topic=event.topic)


def admin_decision_raised(tx: Tx, event: e.AdminDecisionRaised, record: Recorded) -> None:
    tx.put(
        DECISIONS,
        copy_fields(event, Decision, raised_at=record.at),
    )


def admin_decided(tx: Tx, event: e.AdminDecided, record: Recorded) -> None:
    if event.message_id is not None:
        decision = tx.get(DECISIONS, event.message_id)
        if decision is not None:
            answered = replace(decision, action=event.action, decided_by=record.by, decided_at=record.at)
            tx.put(DECISIONS, answered)
    if event.admin_id is not None:
        _change(tx, event.thread_id, admin_id=event.admin_id, admin_since=record.at, admin_kind=event.action)


def template_created(tx: Tx, event: e.TemplateCreated, record: Recorded) -> None:
    tx.put(
        TEMPLATES,
        copy_fields(event, ThreadTemplate, id=event.template_id, created_at=record.at),
    )


def template_deleted(tx: Tx, event: e.TemplateDeleted, record: Recorded) -> None:
    tx.drop(TEMPLATES, event.template_id)


def upload_kept(tx: Tx, event: e.UploadKept, record: Recorded) -> None:
    before = tx.get(UPLOAD_TOTALS, record.by)
    tx.put(UPLOAD_TOTALS, UploadTotal(by=record.by, size=event.size + (before.size if before else 0)))
    tx.put(
        UPLOADS,
        copy_fields(event, Upload, id=event.upload_id, by=record.by, at=record.at),
    )


def cursors_advanced(tx: Tx, event: e.CursorsAdvanced, record: Recorded) -> None:
    for reached in event.reached:
        member = tx.get(MEMBERS, reached.thread_id, reached.member_id)
        if member is not None:
            delivered, seen = max(member.delivered, reached.delivered), max(member.seen, reached.seen)
            tx.put(MEMBERS, replace(member, delivered=delivered, seen=seen))


PROJECT: dict[type[Event], Project] = {
    e.ThreadCreated: thread_created,
    e.MemberJoined: member_joined,
    e.TokenIssued: token_issued,
    e.MessagePosted: message_posted,
    e.PostRefused: post_refused,
    e.MessageEdited: message_edited,
    e.ReactionAdded: reaction_added,
    e.ReactionRemoved: reaction_removed,
    e.ThreadStateSet: thread_state_set,
    e.ThreadClosed: thread_closed,
    e.ThreadArchived: thread_archived,
    e.ThreadUnarchived: thread_unarchived,
    e.ThreadDeleted: thread_deleted,
    e.ThreadSettingsChanged: thread_settings_changed,
    e.ThreadRenamed: thread_renamed,
    e.AdminDecisionRaised: admin_decision_raised,
    e.AdminDecided: admin_decided,
    e.TemplateCreated: template_created,
    e.TemplateDeleted: template_deleted,
    e.UploadKept: upload_kept,
    e.CursorsAdvanced: cursors_advanced,
    **pins.PROJECT,
}

THREADS_NOUN = Noun(
    name="threads",
    tables=(
        THREADS,
        BRIEFS,
        MESSAGES,
        PAYLOADS,
        EDITS,
        MEMBERS,
        AUTHORS,
        TEMPLATES,
        DECISIONS,
        UPLOADS,
        UPLOAD_TOTALS,
        UPLOAD_PLACES,
    ),
    events=tuple(PROJECT),
    decide={**DECIDE, **pins.DECIDE},
    project=PROJECT,
    sources=("greenroom.rules.threads.model", "greenroom.rules.threads.pins", "greenroom.rules.threads.project"),
)
