"""Posting and reading messages over REST. This is the most used path of the hub."""

import asyncio
from collections.abc import Callable
from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from greenroom.clock import format_iso
from greenroom.doors.http.routes import Endpoint
from greenroom.doors.rest import shapes
from greenroom.doors.rest.refusals import BusErrorTranslator
from greenroom.doors.rest.wire import (
    Number,
    build_bad_request,
    build_json_response,
    get_idempotency_key,
    read_body,
    read_query,
)
from greenroom.json_types import JsonObject, Metadata
from greenroom.log.model import Rows
from greenroom.rules.access.model import Principal
from greenroom.rules.agents.model import AGENTS
from greenroom.rules.threads import model as threads
from greenroom.rules.threads.model import MessageRole
from greenroom.rules.threads.queries import (
    build_mailbox_id,
    find_messages,
    get_brief,
    get_member,
    is_for_people,
    may_have_more,
    need_thread,
)
from greenroom.services.bus import PostResult
from greenroom.services.hub import Hub
from greenroom.services.wake_targets import UnreachedRecipient, look_for_unreached
from greenroom.validation import Sent

PAGE_CHARS = 16_000_000
"""A page of messages ends early when it holds more text than this; the next one begins there."""
_MOST = 1000
_MOST_OF_NAME = 200


class NewMessage(msgspec.Struct, frozen=True):
    """A message to post. Without the sync fields the hub issues a context itself; with them they must be right."""

    content: str
    author: str | None = None
    role: Sent[MessageRole] = "user"
    priority: str = "normal"
    mentions: list[str] | None = None
    metadata: Metadata | None = None
    images: list[JsonObject] | None = None
    reply_to_msg_id: str | None = None
    expected_last_seq: Number | None = None
    reply_token: str | None = None


class Mail(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A message to an agent's mailbox, which is the thread `mbx_<agent_id>`."""

    content: str
    author: str | None = None
    priority: str = "normal"
    metadata: Metadata | None = None


class PostedMessage(shapes.SentMessage):
    """A message as it was stored. An agent also gets what its next strict post must show."""

    current_seq: int
    reply_token: str | None
    reply_window: shapes.ReplyWindow
    unreached: list[UnreachedRecipient] = []
    """Whom it names and does not reach, and why."""


class MessageQuery(msgspec.Struct, frozen=True):
    """Which messages: those after a seq, oldest first; with before_seq the newest below it."""

    after_seq: Number = 0
    before_seq: Number | None = None
    limit: Annotated[int, Meta(ge=1)] = 200
    """More than 1000 means 1000."""
    include_system_prompt: bool = False
    priority: str | None = None


async def handle_post(hub: Hub, by: Principal, request: Request, faces: shapes.AgentNameCache) -> Response:
    """Post a message. `faces` caches the names of authors."""
    body = await read_body(request, NewMessage)
    metadata, content = body.metadata, body.content
    if body.images:
        metadata = {**(metadata or {}), "images": body.images}
        content = content if content.strip() else ", ".join(map(_describe_image, body.images))
    with BusErrorTranslator(hub):
        posted = await hub.bus.post(
            by,
            request.path_params["thread_id"],
            body.author,
            content,
            strict=body.expected_last_seq is not None or body.reply_token is not None,
            role=body.role,
            priority=body.priority,
            mentions=body.mentions or [],
            metadata=metadata,
            reply_to=body.reply_to_msg_id,
            expected_last_seq=body.expected_last_seq,
            reply_token=body.reply_token,
            key=get_idempotency_key(request),
        )
    return build_json_response(await build_posted_message(hub, by, faces, posted, content), 201)


def _describe_image(image: JsonObject) -> str:
    """The text of a message that has only images."""
    return str(image.get("name") or "image")[:_MOST_OF_NAME]


async def build_posted_message(
    hub: Hub, by: Principal, faces: shapes.AgentNameCache, posted: PostResult, content: str
) -> PostedMessage:
    event = posted.event
    return PostedMessage(
        id=event.message_id,
        seq=posted.seq,
        author=event.author_name,
        author_id=shapes.get_author_id(event.author_id, event.agent),
        author_name=event.author_name,
        author_emoji=shapes.choose_emoji(faces, event.author_id, event.agent),
        role=event.role,
        content=content,
        created_at=format_iso(posted.at),
        priority=event.priority,
        reply_to_msg_id=event.reply_to,
        metadata=shapes.encode_metadata(event.metadata, event.mentions),
        current_seq=posted.seq,
        reply_token=event.next_token,
        reply_window=shapes.REPLY_WINDOW,
        unreached=await look_for_unreached(hub.log, hub.presence, by, event),
    )


class TranscriptEntry(shapes.RestMessage, kw_only=True):
    """A message, and whether agents see it: `message`, or `human_only`."""

    entry_kind: str


async def list_messages(hub: Hub, by: Principal, request: Request) -> Response:
    return build_json_response(await _read_page(hub, by, request))


async def show_transcript(hub: Hub, by: Principal, request: Request) -> Response:
    shown = await _read_page(hub, by, request)
    entries = []
    for message in shown:
        row = hub.rows.get(threads.MESSAGES, message.id)
        kind = "human_only" if row is not None and is_for_people(row) else "message"
        entries.append(TranscriptEntry(**msgspec.structs.asdict(message), entry_kind=kind))
    return build_json_response(entries)


async def _read_page(hub: Hub, by: Principal, request: Request) -> list[shapes.RestMessage]:
    """The page of messages that is asked for; an agent that reads it has been handed it."""
    page = read_query(request, MessageQuery)
    page = msgspec.structs.replace(page, limit=min(page.limit, _MOST))
    if page.priority is not None and page.priority not in threads.PRIORITIES:
        raise build_bad_request("bad_request.priority", priorities=threads.PRIORITIES)
    agent_id = by.agent_id
    thread = await need_readable_thread(hub, by, request.path_params["thread_id"])

    def is_wanted(message: threads.Message) -> bool:
        return not (by.is_program and is_for_people(message)) and page.priority in (None, message.priority)

    if page.priority is None:
        found = _select_messages(hub.rows, thread.id, page, is_wanted)
    else:  # matches may be rare
        found = await hub.store.read(lambda view: _select_messages(view, thread.id, page, is_wanted))
    if page.before_seq is None:
        shown = await build_messages(hub, found, PAGE_CHARS)
    else:  # a reader who pages backwards continues from the oldest, so that is where a long page is cut
        shown = (await build_messages(hub, found[::-1], PAGE_CHARS))[::-1]
    if agent_id is not None:
        hub.presence.note_activity(agent_id, "msg_list")
        _note_read(hub, agent_id, thread.id, page, shown)
    if page.include_system_prompt and page.after_seq == 0:
        prompt = get_brief(hub.rows, thread.id).system_prompt
        if prompt:
            shown.insert(0, shapes.build_opening_message(thread, prompt))
    return shown


async def need_readable_thread(hub: Hub, by: Principal, thread_id: str) -> threads.Thread:
    """The thread to read in. An agent's own mailbox is there before the first mail."""
    if by.agent_id is not None and thread_id == build_mailbox_id(by.agent_id) and "chat" in by.rights:
        await hub.bus.open_mailbox(by, by.agent_id)
    return need_thread(hub.rows, by, thread_id)


def _select_messages(
    rows: Rows, thread_id: str, page: MessageQuery, is_wanted: Callable[[threads.Message], bool]
) -> list[threads.Message]:
    """The messages of a page. It is empty only when there is nothing beyond it."""
    out: list[threads.Message] = []
    after, before = page.after_seq, page.before_seq
    while len(out) < page.limit:
        found = find_messages(rows, thread_id, after_seq=after, before_seq=before, limit=page.limit)
        wanted = [m for m in found if is_wanted(m)]
        out = [*wanted, *out][-page.limit :] if before is not None else [*out, *wanted][: page.limit]
        if not may_have_more(found, page.limit) or (out and len(found) < page.limit):
            break
        if before is not None:
            before = found[0].seq
        else:
            after = found[-1].seq
    return out


def _note_read(hub: Hub, agent_id: str, thread_id: str, page: MessageQuery, shown: list[shapes.RestMessage]) -> None:
    """An agent that reads on from its cursor, without gaps, has received what it read."""
    if not shown or page.before_seq is not None or page.priority is not None:
        return
    member = get_member(hub.rows, thread_id, agent_id)
    if member and page.after_seq <= member.delivered < shown[-1].seq:
        hub.bus.deliveries.note(thread_id, agent_id, delivered=shown[-1].seq)


async def send_mail(hub: Hub, by: Principal, request: Request) -> Response:
    body = await read_body(request, Mail)
    with BusErrorTranslator(hub):
        posted = await hub.bus.post_mail(
            by,
            request.path_params["agent_id"],
            body.content,
            body.author,
            metadata=body.metadata,
            priority=body.priority,
            key=get_idempotency_key(request),
        )
    return build_json_response(
        await build_posted_message(hub, by, shapes.AgentNameCache(hub.rows), posted, body.content), 201
    )


async def build_messages(hub: Hub, found: list[threads.Message], room: int | None = None) -> list[shapes.RestMessage]:
    """Messages as they are shown, with the whole content of those that are kept as files.

    With `room` the list ends when it holds so many characters; the first is always shown.
    """
    faces = shapes.AgentNameCache(hub.rows)
    if all(m.body is None for m in found):
        return [shapes.build_message(faces, m) for m in found]
    contents = await asyncio.to_thread(_read_contents, hub, found, room)
    return [shapes.build_message(faces, m, content) for m, content in zip(found, contents, strict=False)]


def _read_contents(hub: Hub, found: list[threads.Message], room: int | None) -> list[str]:
    out: list[str] = []
    size = 0
    for message in found:
        content = hub.bus.read_content(message)
        size += len(content)
        if out and room is not None and size > room:
            break
        out.append(content)
    return out


def endpoints(hub: Hub) -> list[Endpoint]:
    """Posting and reading, and the mail."""
    faces = shapes.AgentNameCache(hub.rows)
    hub.log.subscribe(faces.on_commit, AGENTS)

    async def post_message(hub: Hub, by: Principal, request: Request) -> Response:
        return await handle_post(hub, by, request, faces)

    return [
        Endpoint(
            "POST",
            "/api/threads/{thread_id}/messages",
            "chat",
            post_message,
            "Post a message",
            body=NewMessage,
            answer=PostedMessage,
            status=201,
            keyed=True,
        ),
        Endpoint(
            "GET",
            "/api/threads/{thread_id}/messages",
            "read",
            list_messages,
            "Messages of a thread, page by page until one is empty",
            query=MessageQuery,
            answer=list[shapes.RestMessage],
        ),
        Endpoint(
            "GET",
            "/api/threads/{thread_id}/transcript",
            "read",
            show_transcript,
            "Messages of a thread in the form of AgentChatBus's console, each with whether agents see it",
            query=MessageQuery,
            answer=list[TranscriptEntry],
        ),
        Endpoint(
            "POST",
            "/api/agents/{agent_id}/mail",
            "chat",
            send_mail,
            "Send a message to an agent's mailbox",
            body=Mail,
            answer=PostedMessage,
            status=201,
            keyed=True,
        ),
    ]
