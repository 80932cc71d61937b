"""What a principal may see of threads. What it may not see looks like what does not exist."""

import heapq
import itertools
from collections.abc import Iterable, Mapping
from typing import TypeVar

from greenroom.errors import Refused
from greenroom.log.codec import encode
from greenroom.log.model import Rows, Table, Value
from greenroom.log.pages import PagedRow, find_page
from greenroom.rules.access.model import Principal
from greenroom.rules.agents.model import AGENTS
from greenroom.rules.threads.events import MessagePosted
from greenroom.rules.threads.model import (
    ALL_STATES,
    BRIEFS,
    EDITS,
    MEMBERS,
    MESSAGES,
    OPEN_STATES,
    PAYLOADS,
    TEMPLATES,
    THREADS,
    UPLOAD_PLACES,
    UPLOADS,
    Brief,
    Member,
    Message,
    MessageRevision,
    ReceiptState,
    Thread,
    ThreadStatus,
    ThreadTemplate,
    Upload,
)
from greenroom.rules.threads.templates import BUILTIN_TEMPLATES, BUILTIN_TEMPLATES_BY_ID

PAGE = 100
_MAILBOX = "mbx_"
_MOST_PRESENCES = 20
_PAGE_BYTES = 1 << 23
"""Of messages that are read at once: their metadata may contain pictures."""
_PAGE_FILE_BYTES = 1 << 24
"""Of the files with the content of long messages: a reader of a page gets all of it."""


def build_mailbox_id(agent_id: str) -> str:
    """The thread that is an agent's mailbox."""
    return _MAILBOX + agent_id


def is_mailbox_id(thread_id: str) -> bool:
    """Whether a thread is a mailbox, by its id alone: every post asks, and reading the row costs more than the rest."""
    return thread_id.startswith(_MAILBOX)


def get_thread_owner(rows: Rows, by: Principal) -> str:
    """Under whose name threads are made: an agent's enroller where that is not free to see all, else its own."""
    if by.agent_id is not None:
        agent = rows.get(AGENTS, by.agent_id)
        if agent is not None:
            return agent.enrolled_by
    return by.credential or by.id


def may_see_thread(rows: Rows, by: Principal, thread: Thread) -> bool:
    """Whether a principal may look into a thread."""
    if by.may_operate:
        return True
    if by.threads is not None and thread.id not in by.threads:
        return False
    if thread.mailbox_of is not None:
        agent = rows.get(AGENTS, thread.mailbox_of)
        return thread.mailbox_of == by.agent_id or (agent is not None and agent.enrolled_by == by.credential)
    return "all" in by.rights or thread.owner == get_thread_owner(rows, by)


def need_thread(rows: Rows, by: Principal, thread_id: str) -> Thread:
    """The thread, if it is there for this principal."""
    thread = rows.get(THREADS, thread_id)
    if thread is None or not may_see_thread(rows, by, thread):
        raise thread_not_found(thread_id)
    return thread


def is_in_visible_thread(rows: Rows, by: Principal, thread_id: str | None) -> bool:
    """Whether something belongs to a thread that this principal may look into."""
    thread = rows.get(THREADS, thread_id) if thread_id else None
    return thread is not None and may_see_thread(rows, by, thread)


P = TypeVar("P", bound=PagedRow)


def find_page_in_threads(
    rows: Rows, table: Table[P], by: Principal, where: Mapping[str, Value], *, before: int | None, limit: int
) -> list[P]:
    """As `find_page`, of the rows that belong to the threads that a principal is confined to."""
    seen = [thread_id for thread_id in sorted(by.threads or ()) if is_in_visible_thread(rows, by, thread_id)]
    pages = [find_page(rows, table, {**where, "thread_id": one}, before=before, limit=limit) for one in seen]
    return heapq.nlargest(limit, itertools.chain(*pages), key=lambda row: row.seq)


def thread_not_found(thread_id: str) -> Refused:
    return Refused("thread_not_found", "not_found", thread_id=thread_id[:80])


def get_brief(rows: Rows, thread_id: str) -> Brief:
    """What the thread was opened with."""
    return rows.get(BRIEFS, thread_id) or Brief(thread_id=thread_id)


def get_thread_by_topic(rows: Rows, by: Principal, topic: str) -> Thread | None:
    """The thread of that topic which this principal can see."""
    found = rows.find(THREADS, {"topic": topic}, order="created_at")
    return next((t for t in found if t.mailbox_of is None and may_see_thread(rows, by, t)), None)


def find_threads(
    rows: Rows,
    by: Principal,
    *,
    status: ThreadStatus | None = None,
    include_archived: bool = False,
    before: int | None = None,
    limit: int = PAGE,
) -> list[Thread]:
    """Threads, newest first, without mailboxes."""

    def may_show(thread: Thread) -> bool:
        archived = thread.status == "archived" and not include_archived and status != "archived"
        return thread.mailbox_of is None and not archived and may_see_thread(rows, by, thread)

    return find_page(
        rows, THREADS, {"status": status} if status else None, before=before, limit=limit, may_show=may_show
    )


def count_threads(
    rows: Rows, by: Principal, *, status: ThreadStatus | None = None, include_archived: bool = False
) -> int:
    """How many threads `find_threads` finds without a limit."""
    if by.may_operate or ("all" in by.rights and by.threads is None):
        states = [status] if status else [s for s in ALL_STATES if include_archived or s != "archived"]
        return sum(rows.count(THREADS, {"status": state, "mailbox_of": None}) for state in states)
    return len(find_threads(rows, by, status=status, include_archived=include_archived, limit=rows.count(THREADS) + 1))


def need_message(rows: Rows, by: Principal, message_id: str) -> Message:
    """The message, if its thread is there for this principal; one's own is there always."""
    message = rows.get(MESSAGES, message_id)
    thread = message and rows.get(THREADS, message.thread_id)
    if message and thread and (may_see_thread(rows, by, thread) or message.author_id == by.agent_id):
        return message
    raise message_not_found(message_id)


def message_not_found(message_id: str) -> Refused:
    return Refused("message_not_found", "not_found", message_id=message_id[:80])


def find_messages(
    rows: Rows, thread_id: str, *, after_seq: int = 0, before_seq: int | None = None, limit: int = PAGE
) -> list[Message]:
    """Messages after a seq, oldest first; with `before_seq`, the newest of those below it.

    They are fewer than `limit` if there are no more, or if they are large: `may_have_more` says whether there are.
    """
    where = {"thread_id": thread_id}
    found = rows.find(
        MESSAGES,
        where,
        after=("seq", after_seq),
        before=None if before_seq is None else ("seq", before_seq),
        order="seq",
        desc=before_seq is not None,
        limit=limit,
        most_bytes=_PAGE_BYTES,
    )
    found = found[: _count_page(message.body_bytes for message in found)]
    return found if before_seq is None else found[::-1]


def _count_page(file_bytes: Iterable[int]) -> int | None:
    """How many of these contents are a page, which ends with the one that makes it too large; None for all."""
    sizes = enumerate(itertools.accumulate(file_bytes), 1)
    return next((count for count, size in sizes if size > _PAGE_FILE_BYTES), None)


def may_have_more(found: list[Message], limit: int) -> bool:
    """Whether there may be more messages than `find_messages` has found."""
    if len(found) >= limit or sum(message.body_bytes for message in found) > _PAGE_FILE_BYTES:
        return True
    return sum(len(encode(message)) for message in found) > _PAGE_BYTES


def is_for_people(message: Message | MessagePosted) -> bool:
    """Whether a message, such as the coordinator's question, is shown to people and not to agents."""
    return message.metadata is not None and message.metadata.get("visibility") == "human_only"


def search_messages(
    rows: Rows, by: Principal, words: str, thread_id: str | None = None, limit: int = 50
) -> list[Message]:
    """Messages that hold all the words, best first, in threads that the principal may see."""
    where = None
    if thread_id is not None:
        where = {"thread_id": need_thread(rows, by, thread_id).id}
    seen: dict[str, bool] = {}

    def is_visible(message: Message) -> bool:
        if by.is_program and is_for_people(message):
            return False
        if message.thread_id not in seen:
            thread = rows.get(THREADS, message.thread_id)
            seen[message.thread_id] = thread is not None and may_see_thread(rows, by, thread)
        return seen[message.thread_id]

    size = limit
    while True:  # those that fit best may all be in others' threads
        found = rows.search(MESSAGES, words, where, limit=size)
        out = [message for message in found if is_visible(message)]
        if len(out) >= limit or len(found) < size:
            return out[:limit]
        size *= 10


def is_file_in_use(rows: Rows, name: str) -> bool:
    """Whether a payload file is still that of some message or upload."""
    return bool(rows.find(PAYLOADS, {"blob": name}, limit=1) or rows.find(UPLOADS, {"blob": name}, limit=1))


def may_see_upload(rows: Rows, by: Principal, upload: Upload) -> bool:
    """Whether a principal may see an upload: its own, and those shown in a thread that it may read."""
    if upload.by == by.id or ("all" in by.rights and not by.is_confined):
        return True
    places = rows.find(UPLOAD_PLACES, {"upload_id": upload.id})
    return any(is_in_visible_thread(rows, by, place.thread_id) for place in places)


def find_edits(rows: Rows, message_id: str) -> list[MessageRevision]:
    """What a message said before, oldest first: the newest versions, as far as they fit into a page."""
    found = rows.find(EDITS, {"message_id": message_id}, order="version", desc=True, most_bytes=_PAGE_BYTES)
    return found[: _count_page(edit.old_body_bytes for edit in found)][::-1]


def get_member(rows: Rows, thread_id: str, member_id: str) -> Member | None:
    return rows.get(MEMBERS, thread_id, member_id)


def find_members(rows: Rows, thread_id: str) -> list[Member]:
    return rows.find(MEMBERS, {"thread_id": thread_id}, order="_key")


def get_current_thread(rows: Rows, agent_id: str | None) -> str | None:
    """Where an agent is at the moment: the open thread in which it was last active, or None."""
    if agent_id is None:
        return None
    for member in rows.find(MEMBERS, {"member_id": agent_id}, order="_seq", desc=True, limit=_MOST_PRESENCES):
        thread = rows.get(THREADS, member.thread_id)
        if thread is not None and thread.status in OPEN_STATES and thread.mailbox_of is None:
            return thread.id
    return None


def build_receipts(rows: Rows, message: Message) -> dict[str, ReceiptState]:
    """How far a message got at each recipient: queued, delivered, seen or acted."""
    out: dict[str, ReceiptState] = {}
    for member in find_members(rows, message.thread_id):
        if member.member_id == message.author_id:
            continue
        if message.handoff_target is not None and member.member_id != message.handoff_target:
            continue
        reached: dict[ReceiptState, int] = {"acted": member.acted, "seen": member.seen, "delivered": member.delivered}
        out[member.member_id] = next((state for state, seq in reached.items() if seq >= message.seq), "queued")
    return out


def may_see_template(rows: Rows, by: Principal, template: ThreadTemplate) -> bool:
    """Whoever is confined to threads sees the templates that ship with Greenroom only."""
    return template.builtin or not by.is_confined


def find_templates(rows: Rows, by: Principal) -> list[ThreadTemplate]:
    """All templates that a principal may see, those that ship with Greenroom first."""
    own = rows.find(TEMPLATES, order="created_at")
    return [*BUILTIN_TEMPLATES, *(template for template in own if may_see_template(rows, by, template))]


def need_template(rows: Rows, by: Principal, template_id: str) -> ThreadTemplate:
    template = BUILTIN_TEMPLATES_BY_ID.get(template_id) or rows.get(TEMPLATES, template_id)
    if template is None or not may_see_template(rows, by, template):
        raise Refused("template_not_found", "not_found", template_id=template_id[:80])
    return template
