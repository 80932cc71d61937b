"""A thread as one Markdown document, written in pieces so that a long one does not block the hub."""

import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from greenroom.doors.http.routes import Endpoint
from greenroom.doors.rest import shapes
from greenroom.log.store import Snapshot
from greenroom.rules.access.model import Principal
from greenroom.rules.threads.model import Message, Thread
from greenroom.rules.threads.queries import find_members, find_messages, get_brief, is_for_people, need_thread
from greenroom.services.hub import Hub

_PIECE = 100
_PIECE_BYTES = 1 << 18
"""A piece ends with the message that makes it larger."""
_LEADS_OUT = re.compile(
    r"<(?=/\s*blockquote|!--|(?:textarea|title|style|script|xmp|iframe|noembed|noframes|noscript|plaintext)\b)", re.I
)
"""HTML that would end a quotation, or swallow what follows it."""
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|])")


async def export_thread(hub: Hub, by: Principal, request: Request) -> Response:
    thread = need_thread(hub.rows, by, request.path_params["thread_id"])
    name = re.sub(r"[^a-z0-9]+", "-", thread.topic.lower()).strip("-")[:60] or "thread"
    headers = {"content-disposition": f'attachment; filename="{name}.md"'}
    return StreamingResponse(
        _stream_pieces(hub, by, thread), headers=headers, media_type="text/markdown; charset=utf-8"
    )


async def _stream_pieces(hub: Hub, by: Principal, thread: Thread) -> AsyncIterator[bytes]:
    yield _render_head(hub, thread).encode()
    seq = 0
    while seq < thread.current_seq:
        data, seq = await hub.store.read(lambda view, after=seq: _render_piece(hub, by, view, thread, after))  # type: ignore[misc]
        if data:
            yield data


def _render_head(hub: Hub, thread: Thread) -> str:
    faces = shapes.AgentNameCache(hub.rows)
    names = [_strip_markup(faces.get_name(member.member_id)) for member in find_members(hub.rows, thread.id)]
    prompt = get_brief(hub.rows, thread.id).system_prompt
    lines = [
        f"# {_strip_markup(thread.topic)}",
        "",
        f"> **Status:** {thread.status} | **Created:** {_format_time(thread.created_at)}",
        f"> **Messages:** {thread.messages} | **Exported:** {_format_time(hub.log.clock.now())}",
        f"> **Participants:** {', '.join(names) or 'none'}",
        "",
    ]
    if thread.summary:
        lines += ["## Summary", "", *_quote_text(thread.summary), ""]
    if prompt:
        lines += ["## System prompt", "", *_quote_text(prompt), ""]
    return "\n".join([*lines, "---", "", ""])


def _quote_text(text: str) -> list[str]:
    """A message as a quotation, so that no line of it passes for a heading with another author's name."""
    return [f"> {line}" for line in _LEADS_OUT.sub("&lt;", text).splitlines()]


def _strip_markup(name: str) -> str:
    """A name as one line without markup."""
    return _MARKUP.sub(r"\\\1", " ".join(name.split()))


def _render_piece(hub: Hub, by: Principal, view: Snapshot, thread: Thread, after: int) -> tuple[bytes, int]:
    """The next messages, and the seq of the last of them."""
    data = bytearray()
    seq = thread.current_seq
    for message in find_messages(view, thread.id, after_seq=after, limit=_PIECE):
        seq = message.seq
        if seq <= thread.current_seq and not (by.is_program and is_for_people(message)):
            data += _render_message(hub, message).encode(errors="replace")
        if len(data) > _PIECE_BYTES:
            break
    return bytes(data), seq


def _render_message(hub: Hub, message: Message) -> str:
    content = "\n".join(_quote_text(hub.bus.read_content(message)))
    return f"### {_strip_markup(message.author_name)} — {_format_time(message.created_at)}\n\n{content}\n\n---\n\n"


def _format_time(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


ENDPOINTS = [
    Endpoint(
        "GET",
        "/api/threads/{thread_id}/export",
        "read",
        export_thread,
        "A thread as Markdown",
        answer="text/markdown",
    )
]
