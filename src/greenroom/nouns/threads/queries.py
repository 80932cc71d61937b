"""What a principal may see of threads; what is not its own looks like what is not there."""

from collections.abc import Iterator

from greenroom.log.errors import Refused
from greenroom.log.model import Rows
from greenroom.nouns.access.model import Principal
from greenroom.nouns.agents.model import AGENTS
from greenroom.nouns.threads.events import MessagePosted
from greenroom.nouns.threads.model import (
    ALL_STATES,
    BRIEFS,
    EDITS,
    MEMBERS,
    MESSAGES,
    OPEN_STATES,
    PAYLOADS,
    TEMPLATES,
    THREADS,
    UPLOADS,
    Brief,
    Edit,
    Member,
    Message,
    Template,
    Thread,
)
from greenroom.nouns.threads.templates import BUILTIN, BY_ID

PAGE = 100
_PLACES = 20


def owner_of(rows: Rows, by: Principal) -> str:
    """Under whose name threads are made: an agent's enroller where that is not free to see all, else its own."""
    if by.agent_id is not None:
        agent = rows.get(AGENTS, by.agent_id)
        if agent is not None:
            return agent.enrolled_by
    return by.credential or by.id


def may_see(rows: Rows, by: Principal, thread: Thread) -> bool:
    """Whether a principal may look into a thread."""
    if by.operates:
        return True
    if by.threads is not None and thread.id not in by.threads:
        return False
    if thread.mailbox_of is not None:
        agent = rows.get(AGENTS, thread.mailbox_of)
        return thread.mailbox_of == by.agent_id or (agent is not None and agent.enrolled_by == by.credential)
    return "all" in by.rights or thread.owner == owner_of(rows, by)


def need_thread(rows: Rows, by: Principal, thread_id: str) -> Thread:
    """The thread, if it is there for this principal."""
    thread = rows.get(THREADS, thread_id)
    if thread is None or not may_see(rows, by, thread):
        raise thread_not_found(thread_id)
    return thread


def thread_not_found(thread_id: str) -> Refused:
    return Refused(
        "thread_not_found",
        f"There is no thread '{thread_id[:80]}': see thread_list for those you can see.",
        "not_found",
    )


def get_brief(rows: Rows, thread_id: str) -> Brief:
    """What the thread was opened with."""
    return rows.get(BRIEFS, thread_id) or Brief(thread_id=thread_id)


def get_thread_by_topic(rows: Rows, by: Principal, topic: str) -> Thread | None:
    """The thread of that topic which this principal can see."""
    found = rows.find(THREADS, {"topic": topic}, order="created_at")
    return next((t for t in found if t.mailbox_of is None and may_see(rows, by, t)), None)


def find_threads(
    rows: Rows,
    by: Principal,
    *,
    status: str | None = None,
    include_archived: bool = False,
    before: int | None = None,
    shown: int = 0,
    limit: int = PAGE,
) -> list[Thread]:
    """Threads made before a time, newest first, without mailboxes.

    Of those made in the very millisecond of `before`, all but the first `shown` are found too, if any were shown.
    """
    out: list[Thread] = []
    for thread in _newest_first(rows, status, before, shown, limit + 1):
        archived = thread.status == "archived" and not include_archived and status != "archived"
        if thread.mailbox_of is None and not archived and may_see(rows, by, thread):
            out.append(thread)
            if len(out) == limit:
                break
    return out


def count_threads(rows: Rows, by: Principal, *, status: str | None = None, include_archived: bool = False) -> int:
    """How many threads `find_threads` finds without a limit."""
    if by.operates or ("all" in by.rights and by.threads is None):
        states = [status] if status else [s for s in ALL_STATES if include_archived or s != "archived"]
        return sum(rows.count(THREADS, {"status": state, "mailbox_of": None}) for state in states)
    return len(find_threads(rows, by, status=status, include_archived=include_archived, limit=rows.count(THREADS) + 1))


def shown_with(rows: Rows, thread: Thread) -> int:
    """How many threads of the same millisecond have been shown once this one has."""
    return [t.id for t in _made_at(rows, thread.created_at)].index(thread.id) + 1


def _newest_first(rows: Rows, status: str | None, before: int | None, shown: int, size: int) -> Iterator[Thread]:
    if before is not None and shown:
        yield from (t for t in _made_at(rows, before)[shown:] if status in (None, t.status))
    where = {"status": status} if status else None
    while True:
        edge = None if before is None else ("created_at", before)
        found = rows.find(THREADS, where, before=edge, order="created_at", desc=True, limit=size)
        if not found:
            return
        before = found[-1].created_at
        found.sort(key=lambda thread: (thread.created_at, thread.id), reverse=True)
        yield from (t for t in found if t.created_at > before)
        yield from (t for t in _made_at(rows, before) if status in (None, t.status))


def _made_at(rows: Rows, at: int) -> list[Thread]:
    """The threads of one millisecond, always in the same order."""
    return sorted(rows.find(THREADS, {"created_at": at}), key=lambda thread: thread.id, reverse=True)


def need_message(rows: Rows, by: Principal, message_id: str) -> Message:
    """The message, if its thread is there for this principal; one's own is there always."""
    message = rows.get(MESSAGES, message_id)
    thread = message and rows.get(THREADS, message.thread_id)
    if message and thread and (may_see(rows, by, thread) or message.author_id == by.agent_id):
        return message
    raise message_not_found(message_id)


def message_not_found(message_id: str) -> Refused:
    return Refused("message_not_found", f"There is no message '{message_id[:80]}'.", "not_found")


def find_messages(
    rows: Rows, thread_id: str, *, after_seq: int = 0, before_seq: int | None = None, limit: int = PAGE
) -> list[Message]:
    """Messages after a seq, oldest first; with `before_seq`, the newest of those below it."""
    where = {"thread_id": thread_id}
    if before_seq is not None:
        newest = rows.find(
            MESSAGES,
            where,
            after=("seq", after_seq),
            before=("seq", before_seq),
            order="seq",
            desc=True,
            limit=limit,
        )
        return newest[::-1]
    return rows.find(MESSAGES, where, after=("seq", after_seq), order="seq", limit=limit)


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

    def is_seen(message: Message) -> bool:
        if by.is_program and is_for_people(message):
            return False
        if message.thread_id not in seen:
            thread = rows.get(THREADS, message.thread_id)
            seen[message.thread_id] = thread is not None and may_see(rows, by, thread)
        return seen[message.thread_id]

    size = limit
    while True:  # those that fit best may all be in others' threads
        found = rows.search(MESSAGES, words, where, limit=size)
        out = [message for message in found if is_seen(message)]
        if len(out) >= limit or len(found) < size:
            return out[:limit]
        size *= 10


def is_file_named(rows: Rows, name: str) -> bool:
    """Whether a payload file is still that of some message or upload."""
    return bool(rows.find(PAYLOADS, {"blob": name}, limit=1) or rows.find(UPLOADS, {"blob": name}, limit=1))


def find_edits(rows: Rows, message_id: str) -> list[Edit]:
    """What a message said before, oldest first."""
    return rows.find(EDITS, {"message_id": message_id}, order="version")


def get_member(rows: Rows, thread_id: str, member_id: str) -> Member | None:
    return rows.get(MEMBERS, thread_id, member_id)


def find_members(rows: Rows, thread_id: str) -> list[Member]:
    return rows.find(MEMBERS, {"thread_id": thread_id}, order="_key")


def get_present_thread(rows: Rows, agent_id: str | None) -> str | None:
    """Where an agent is just now: the open thread in which it did something last; None when it is in none."""
    if agent_id is None:
        return None
    for member in rows.find(MEMBERS, {"member_id": agent_id}, order="_seq", desc=True, limit=_PLACES):
        thread = rows.get(THREADS, member.thread_id)
        if thread is not None and thread.status in OPEN_STATES and thread.mailbox_of is None:
            return thread.id
    return None


def receipts(rows: Rows, message: Message) -> dict[str, str]:
    """What has become of a message at each recipient: queued, delivered, seen or acted."""
    out = {}
    for member in find_members(rows, message.thread_id):
        if member.member_id == message.author_id:
            continue
        if message.handoff_target is not None and member.member_id != message.handoff_target:
            continue
        reached = {"acted": member.acted, "seen": member.seen, "delivered": member.delivered}
        out[member.member_id] = next((state for state, seq in reached.items() if seq >= message.seq), "queued")
    return out


def find_templates(rows: Rows) -> list[Template]:
    """All templates, those that ship with Greenroom first."""
    return [*BUILTIN, *rows.find(TEMPLATES, order="created_at")]


def need_template(rows: Rows, template_id: str) -> Template:
    template = BY_ID.get(template_id) or rows.get(TEMPLATES, template_id)
    if template is None:
        raise Refused(
            "template_not_found",
            f"There is no template '{template_id[:80]}': see template_list.",
            "not_found",
        )
    return template
