"""The rules for threads. Those for posting and editing are in decide_post and decide_edit."""

from greenroom.errors import Refused
from greenroom.log.copied_fields import copy_fields
from greenroom.log.model import Command, Context, Decide, Event, Rows
from greenroom.rules.access.decide import need_principal
from greenroom.rules.access.model import Principal
from greenroom.rules.access.queries import need_right
from greenroom.rules.agents.model import AGENTS
from greenroom.rules.agents.queries import agent_not_found, need_own_agent
from greenroom.rules.threads import decide_admin, decide_edit, decide_post
from greenroom.rules.threads.commands import (
    AdvanceCursors,
    ArchiveThread,
    CloseThread,
    CreateTemplate,
    CreateThread,
    DeleteTemplate,
    DeleteThread,
    IssueToken,
    KeepUpload,
    OpenMailbox,
    RenameThread,
    SetThreadState,
    UnarchiveThread,
    UpdateThreadSettings,
)
from greenroom.rules.threads.events import (
    CursorsAdvanced,
    MemberJoined,
    TemplateCreated,
    TemplateDeleted,
    ThreadArchived,
    ThreadClosed,
    ThreadCreated,
    ThreadDeleted,
    ThreadRenamed,
    ThreadSettingsChanged,
    ThreadStateSet,
    ThreadUnarchived,
    TokenIssued,
    UploadKept,
)
from greenroom.rules.threads.model import (
    MEMBERS,
    PAYLOADS,
    STATES,
    TEMPLATES,
    THREADS,
    UPLOAD_TOTALS,
    Thread,
    ThreadSettings,
)
from greenroom.rules.threads.queries import (
    get_member,
    get_thread_by_topic,
    get_thread_owner,
    need_template,
    need_thread,
)
from greenroom.rules.threads.sync_rules import format_token
from greenroom.rules.threads.templates import BUILTIN_TEMPLATES_BY_ID

_TOPIC = 500
_PROMPT = 100_000


def create_thread(rows: Rows, command: CreateThread, context: Context) -> list[Event]:
    by = need_principal(command)
    need_right(by, "chat")
    topic = _need_topic(command.topic)
    creator = _get_member_id(rows, by, command.creator_id)
    found = get_thread_by_topic(rows, by, topic)
    if found is not None:
        return _join_and_issue(rows, found.id, creator, command.nonce)
    if by.threads is not None:
        raise Refused("forbidden.new_thread", "forbidden")
    template = need_template(rows, by, command.template) if command.template else None
    prompt = command.system_prompt or (template.system_prompt if template else None)
    if prompt is not None and len(prompt) > _PROMPT:
        raise Refused("too_long.system_prompt", "too_large", limit=_PROMPT)
    decide_post.need_no_secret(prompt or "", context.settings, "prompt_blocked")
    decide_post.need_shallow(command.metadata or {})
    created = ThreadCreated(
        thread_id=command.thread_id,
        topic=topic,
        owner=get_thread_owner(rows, by),
        admin_id=creator if rows.get(AGENTS, creator) else None,
        system_prompt=prompt,
        template_id=template.id if template else None,
        metadata={**((template and template.default_metadata) or {}), **(command.metadata or {})} or None,
    )
    return [created, *_join_and_issue(rows, command.thread_id, creator, command.nonce)]


def _need_topic(text: str) -> str:
    topic = text.strip()
    if not topic or len(topic) > _TOPIC or any(ord(c) < 32 for c in topic):
        raise Refused("bad_topic", limit=_TOPIC)
    return topic


def open_mailbox(rows: Rows, command: OpenMailbox, context: Context) -> list[Event]:
    by = need_principal(command)
    need_right(by, "chat")
    agent = rows.get(AGENTS, command.agent_id)
    if (
        agent is None
        or agent.state == "kicked"
        or not ("all" in by.rights or agent.enrolled_by == get_thread_owner(rows, by))
    ):
        raise agent_not_found(command.agent_id)
    if rows.get(THREADS, command.thread_id) is not None:
        return []
    return [
        ThreadCreated(
            thread_id=command.thread_id,
            topic=f"Mailbox of {agent.name}",
            owner=agent.enrolled_by,
            mailbox_of=agent.id,
        ),
        MemberJoined(thread_id=command.thread_id, member_id=agent.id, nonce=command.nonce),
    ]


def issue_token(rows: Rows, command: IssueToken, context: Context) -> list[Event]:
    by = need_principal(command)
    need_right(by, "chat")
    thread = need_thread(rows, by, command.thread_id)
    return _join_and_issue(rows, thread.id, _get_member_id(rows, by, command.member_id), command.nonce)


def _get_member_id(rows: Rows, by: Principal, wanted: str | None) -> str:
    """Who joins: the agent that the principal speaks for, or the person that an operator is."""
    if by.may_operate and (wanted is None or rows.get(AGENTS, wanted) is None):
        return by.handle if wanted in (None, "", by.person) else wanted
    return need_own_agent(rows, by, wanted).id


def _join_and_issue(rows: Rows, thread_id: str, member_id: str, nonce: str) -> list[Event]:
    member = get_member(rows, thread_id, member_id)
    if member is None:
        first = TokenIssued(thread_id=thread_id, member_id=member_id, number=1, token=format_token(nonce, 1))
        return [MemberJoined(thread_id=thread_id, member_id=member_id, nonce=nonce), first]
    number = member.issued + 1
    token = format_token(member.nonce, number)
    return [TokenIssued(thread_id=thread_id, member_id=member_id, number=number, token=token)]


def set_thread_state(rows: Rows, command: SetThreadState, context: Context) -> list[Event]:
    by = need_principal(command)
    need_right(by, "chat")
    thread = need_thread(rows, by, command.thread_id)
    if command.state not in STATES:
        raise Refused("bad_state", states=STATES)
    if thread.status == "archived":
        raise Refused("thread_archived", "conflict")
    if thread.status == "closed":
        need_admin(by, thread)
    return [] if thread.status == command.state else [ThreadStateSet(thread_id=thread.id, state=command.state)]


def close_thread(rows: Rows, command: CloseThread, context: Context) -> list[Event]:
    by = need_principal(command)
    need_right(by, "chat")
    thread = need_thread(rows, by, command.thread_id)
    need_admin(by, thread)
    if thread.status == "closed":
        return []
    if thread.status == "archived":
        raise Refused("thread_archived", "conflict")
    if command.summary is not None and len(command.summary) > _PROMPT:
        raise Refused("too_long.summary", "too_large", limit=_PROMPT)
    return [ThreadClosed(thread_id=thread.id, summary=command.summary)]


def archive_thread(rows: Rows, command: ArchiveThread, context: Context) -> list[Event]:
    thread = _need_administered_thread(rows, command, command.thread_id)
    return [] if thread.status == "archived" else [ThreadArchived(thread_id=thread.id)]


def unarchive_thread(rows: Rows, command: UnarchiveThread, context: Context) -> list[Event]:
    thread = _need_administered_thread(rows, command, command.thread_id)
    return [ThreadUnarchived(thread_id=thread.id)] if thread.status == "archived" else []


def delete_thread(rows: Rows, command: DeleteThread, context: Context) -> list[Event]:
    thread = _need_administered_thread(rows, command, command.thread_id)
    blobs = {payload.blob for payload in rows.find(PAYLOADS, {"thread_id": thread.id})}
    return [copy_fields(thread, ThreadDeleted, thread_id=thread.id, files=sorted(blobs))]


def update_thread_settings(rows: Rows, command: UpdateThreadSettings, context: Context) -> list[Event]:
    thread = _need_administered_thread(rows, command, command.thread_id)
    for name in ("timeout_seconds", "switch_timeout_seconds"):
        value = getattr(command, name)
        if value is not None and not 30 <= value <= 86_400:
            raise Refused("bad_setting", name=name)
    now = thread.settings
    wanted = ThreadSettings(
        **{
            name: getattr(now, name) if getattr(command, name) is None else getattr(command, name)
            for name in ThreadSettings.__struct_fields__
        }
    )
    return [] if wanted == now else [ThreadSettingsChanged(thread_id=thread.id, settings=wanted)]


def rename_thread(rows: Rows, command: RenameThread, context: Context) -> list[Event]:
    thread = _need_administered_thread(rows, command, command.thread_id)
    topic = _need_topic(command.topic)
    if topic == thread.topic:
        return []
    if thread.mailbox_of is not None:
        raise Refused("bad_topic.mailbox")
    if get_thread_by_topic(rows, need_principal(command), topic) is not None:
        raise Refused("topic_taken", "conflict", topic=topic[:80])
    return [ThreadRenamed(thread_id=thread.id, topic=topic)]


def _need_administered_thread(rows: Rows, command: Command, thread_id: str) -> Thread:
    by = need_principal(command)
    need_right(by, "chat")
    thread = need_thread(rows, by, thread_id)
    need_admin(by, thread)
    return thread


def need_admin(by: Principal, thread: Thread) -> None:
    """Refuse whoever is neither an operator, nor the thread's admin, nor who enrolled it."""
    if by.may_operate or (by.agent_id is not None and by.agent_id == thread.admin_id) or thread.owner == by.credential:
        return
    raise Refused("not_admin", "forbidden")


def create_template(rows: Rows, command: CreateTemplate, context: Context) -> list[Event]:
    by = need_principal(command)
    need_right(by, "chat")
    if by.is_confined:
        need_right(by, "all")  # it belongs to no thread, and that its id is taken says what others have
    template_id = command.template_id.strip()
    if not template_id or len(template_id) > 64 or any(c not in _ID_CHARS for c in template_id.lower()):
        raise Refused("bad_template.id")
    if template_id in BUILTIN_TEMPLATES_BY_ID or rows.get(TEMPLATES, template_id) is not None:
        raise Refused("template_exists", "conflict", template_id=template_id)
    if not command.name.strip() or len(command.name) > 200 or len(command.description) > 4000:
        raise Refused("bad_template.name")
    if len(command.system_prompt) > _PROMPT:
        raise Refused("bad_template.prompt", limit=_PROMPT)
    decide_post.need_shallow(command.default_metadata or {})
    return [copy_fields(command, TemplateCreated, template_id=template_id, name=command.name.strip())]


_ID_CHARS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")


def delete_template(rows: Rows, command: DeleteTemplate, context: Context) -> list[Event]:
    by = need_principal(command)
    need_right(by, "operate")
    if command.template_id in BUILTIN_TEMPLATES_BY_ID:
        raise Refused("template_builtin", "forbidden")
    need_template(rows, by, command.template_id)
    return [TemplateDeleted(template_id=command.template_id)]


def keep_upload(rows: Rows, command: KeepUpload, context: Context) -> list[Event]:
    by = need_principal(command)
    need_right(by, "chat")
    most = context.settings.max_uploads_bytes
    kept = rows.get(UPLOAD_TOTALS, by.id)
    if most and (kept.size if kept else 0) + command.size > most:
        raise Refused("too_many_uploads", "limited", most=most)
    return [copy_fields(command, UploadKept)]


def advance_cursors(rows: Rows, command: AdvanceCursors, context: Context) -> list[Event]:
    moved = []
    for reached in command.reached:
        member = rows.get(MEMBERS, reached.thread_id, reached.member_id)
        if member is not None and (reached.delivered > member.delivered or reached.seen > member.seen):
            moved.append(reached)
    return [CursorsAdvanced(reached=moved)] if moved else []


DECIDE: dict[type[Command], Decide] = {
    CreateThread: create_thread,
    OpenMailbox: open_mailbox,
    IssueToken: issue_token,
    SetThreadState: set_thread_state,
    CloseThread: close_thread,
    ArchiveThread: archive_thread,
    UnarchiveThread: unarchive_thread,
    DeleteThread: delete_thread,
    UpdateThreadSettings: update_thread_settings,
    RenameThread: rename_thread,
    CreateTemplate: create_template,
    DeleteTemplate: delete_template,
    KeepUpload: keep_upload,
    AdvanceCursors: advance_cursors,
    **decide_post.DECIDE,
    **decide_edit.DECIDE,
    **decide_admin.DECIDE,
}
