"""One message over REST: its text, history, reactions and receipts; and message search."""

import asyncio
from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from greenroom.clock import format_iso
from greenroom.doors.http.routes import Endpoint
from greenroom.doors.rest import shapes
from greenroom.doors.rest.refusals import BusErrorTranslator
from greenroom.doors.rest.wire import build_bad_request, build_json_response, read_body, read_json_response, read_query
from greenroom.errors import Refused
from greenroom.log.model import Rows
from greenroom.log.sqlite_text_index import INDEXED_CHARS
from greenroom.rules.access.model import Principal
from greenroom.rules.threads import model as threads
from greenroom.rules.threads.commands import React, Unreact
from greenroom.rules.threads.decide_post import need_post_author
from greenroom.rules.threads.events import MessageEdited
from greenroom.rules.threads.mentions import Roster
from greenroom.rules.threads.model import ReceiptState
from greenroom.rules.threads.queries import (
    build_receipts,
    find_edits,
    find_messages,
    is_for_people,
    message_not_found,
    need_message,
    need_thread,
    search_messages,
)
from greenroom.sentences import Sentence, Words
from greenroom.services.agent_activity import describe_activity
from greenroom.services.hub import Hub
from greenroom.services.wake_targets import UnreachedRecipient, find_unreached

_SNIPPET = 160
_LOOKED_AT = 50
_FAR = 2**53
_MOST_FOUND = 200


class MessageOfThread(shapes.RestMessage, kw_only=True):
    """A message, and where it was posted."""

    thread_id: str


class MessageChange(msgspec.Struct, frozen=True):
    """The new text of a message. new_content is another name of content."""

    content: str | None = None
    new_content: str | None = None
    edited_by: str | None = None


class ChangedMessage(msgspec.Struct, omit_defaults=True):
    """What an edit made of a message; `no_change` when it said that already."""

    version: int
    msg_id: str | None = None
    edited_at: str | None = None
    edited_by: str | None = None
    no_change: bool = False


class RestEdit(msgspec.Struct):
    version: int
    old_content: str
    edited_by: str
    created_at: str


class History(msgspec.Struct):
    message_id: str
    current_content: str
    edit_version: int
    edits: list[RestEdit]


class NewReaction(msgspec.Struct, frozen=True):
    reaction: str
    agent_id: str | None = None


class ReactionQuery(msgspec.Struct, frozen=True):
    agent_id: str | None = None


class RemovedReaction(msgspec.Struct):
    removed: bool
    message_id: str
    reaction: str
    agent_id: str


class Receipt(msgspec.Struct):
    """How far a message has come with one recipient: queued, delivered, seen or acted."""

    agent_id: str
    agent_name: str
    state: ReceiptState
    now: Words = ""
    """What the recipient is doing at the moment, in words; empty for people."""
    sentences: dict[str, Sentence] = {}


class Receipts(msgspec.Struct):
    message_id: str
    receipts: list[Receipt]


class UnreachedMessage(msgspec.Struct):
    message_id: str
    unreached: list[UnreachedRecipient]


class SearchQuery(msgspec.Struct, frozen=True):
    q: Annotated[str, Meta(max_length=1000)] = ""
    thread_id: str | None = None
    limit: Annotated[int, Meta(ge=1)] = 50
    """More than 200 means 200."""


class MessageHit(msgspec.Struct):
    message_id: str
    thread_id: str
    thread_topic: str
    author: str
    seq: int
    created_at: str
    snippet: str
    metadata: str | None


class SearchResult(msgspec.Struct):
    results: list[MessageHit]
    total: int
    query: str


def _need_message(hub: Hub, by: Principal, request: Request) -> threads.Message:
    """The message of the path; for agents, messages to people only do not exist."""
    row = need_message(hub.rows, by, request.path_params["message_id"])
    if by.is_program and is_for_people(row):
        raise message_not_found(row.id)
    return row


async def show_message(hub: Hub, by: Principal, request: Request) -> Response:
    row = _need_message(hub, by, request)
    content = await asyncio.to_thread(hub.bus.read_content, row) if row.body else None
    shown = shapes.build_message(shapes.AgentNameCache(hub.rows), row, content)
    return build_json_response(MessageOfThread(**msgspec.structs.asdict(shown), thread_id=row.thread_id))


async def edit_message(hub: Hub, by: Principal, request: Request) -> Response:
    body = await read_body(request, MessageChange)
    if by.agent_id is not None and body.edited_by not in (None, by.agent_id):
        raise Refused("author_not_yours.editor", "forbidden")
    content = body.new_content if body.content is None else body.content
    if content is None:
        raise build_bad_request("bad_request.edit_content")
    message_id = request.path_params["message_id"]
    with BusErrorTranslator(hub):
        done = await hub.bus.edit(by, message_id, content)
    if not done.records:
        return build_json_response(ChangedMessage(need_message(hub.rows, by, message_id).edit_version, no_change=True))
    edited: MessageEdited = done.first(MessageEdited)
    return build_json_response(
        ChangedMessage(
            version=edited.edit_version,
            msg_id=edited.message_id,
            edited_at=format_iso(done.records[-1].at),
            edited_by=edited.edited_by,
        )
    )


async def show_history(hub: Hub, by: Principal, request: Request) -> Response:
    row = _need_message(hub, by, request)

    def read() -> History:
        edits = []
        for edit in past:
            whole = hub.blobs.read(edit.old_body) if edit.old_body else None
            content = edit.old_content if whole is None else whole.decode()
            edits.append(RestEdit(edit.version, content, edit.edited_by, format_iso(edit.edited_at)))
        return History(row.id, hub.bus.read_content(row), row.edit_version, edits)

    past = find_edits(hub.rows, row.id)
    return build_json_response(await asyncio.to_thread(read))


async def list_reactions(hub: Hub, by: Principal, request: Request) -> Response:
    row = _need_message(hub, by, request)
    faces = shapes.AgentNameCache(hub.rows)
    return build_json_response([shapes.build_reaction(faces, row.id, reaction) for reaction in row.reactions])


async def add_reaction(hub: Hub, by: Principal, request: Request) -> Response:
    body = await read_body(request, NewReaction)
    message_id, reaction = request.path_params["message_id"], body.reaction.strip()
    await hub.log.do(React(by=by, message_id=message_id, agent_id=body.agent_id, reaction=reaction))
    row = _need_message(hub, by, request)
    who = need_post_author(hub.rows, by, body.agent_id).id
    put = next(r for r in row.reactions if (r.agent_id, r.reaction) == (who, reaction))
    return build_json_response(shapes.build_reaction(shapes.AgentNameCache(hub.rows), row.id, put), 201)


async def remove_reaction(hub: Hub, by: Principal, request: Request) -> Response:
    query = read_query(request, ReactionQuery)
    message_id, reaction = request.path_params["message_id"], request.path_params["reaction"]
    who = need_post_author(hub.rows, by, query.agent_id).id
    try:
        done = await hub.log.do(Unreact(by=by, message_id=message_id, agent_id=query.agent_id, reaction=reaction))
    except Refused as no:
        if no.code != "message_not_found":
            raise
        return build_json_response(RemovedReaction(False, message_id, reaction, who))
    return build_json_response(RemovedReaction(bool(done.records), message_id, reaction, who))


async def show_receipts(hub: Hub, by: Principal, request: Request) -> Response:
    row, at = _need_message(hub, by, request), hub.log.clock.now()

    def read(rows: Rows) -> Receipts:
        faces = shapes.AgentNameCache(rows)
        reached = [
            Receipt(who, faces.get_name(who), state, describe_activity(rows, hub.presence, by, who, at))
            for who, state in build_receipts(rows, row).items()
        ]
        return Receipts(row.id, reached)

    return await read_json_response(hub, read)


async def list_unreached(hub: Hub, by: Principal, request: Request) -> Response:
    thread = need_thread(hub.rows, by, request.path_params["thread_id"])

    def read(rows: Rows) -> list[UnreachedMessage]:
        newest = find_messages(rows, thread.id, before_seq=_FAR, limit=_LOOKED_AT)
        roster = Roster(rows, thread)
        found = [(row.id, find_unreached(rows, hub.presence, by, row, roster)) for row in newest if not row.agent]
        return [UnreachedMessage(message_id, unreached) for message_id, unreached in found if unreached]

    return await read_json_response(hub, read)


async def show_search_results(hub: Hub, by: Principal, request: Request) -> Response:
    query = read_query(request, SearchQuery)
    words = query.q.strip()
    if not words:
        raise build_bad_request("bad_request.search")
    return await read_json_response(hub, lambda rows: _find_hits(rows, by, words, query))


def _find_hits(rows: Rows, by: Principal, words: str, query: SearchQuery) -> SearchResult:
    found = search_messages(rows, by, words, query.thread_id or None, limit=min(query.limit, _MOST_FOUND))
    topics = {row.thread_id: rows.get(threads.THREADS, row.thread_id) for row in found}
    results = [
        MessageHit(
            message_id=row.id,
            thread_id=row.thread_id,
            thread_topic=thread.topic if (thread := topics[row.thread_id]) else "",
            author=row.author_name,
            seq=row.seq,
            created_at=format_iso(row.created_at),
            snippet=_cut_snippet(row.content, words),
            metadata=shapes.encode_metadata(row.metadata, row.mentions),
        )
        for row in found
    ]
    return SearchResult(results, len(results), words)


def _cut_snippet(content: str, words: str) -> str:
    """The content around the first of the words."""
    folded = content[:INDEXED_CHARS].casefold()
    places = [at for word in words.casefold().split() if (at := folded.find(word)) >= 0]
    start = max(0, min(places, default=0) - _SNIPPET // 4)
    return ("…" if start else "") + content[start : start + _SNIPPET] + ("…" if content[start + _SNIPPET :] else "")


_ONE = "/api/messages/{message_id}"
ENDPOINTS = [
    Endpoint("GET", _ONE, "read", show_message, "One message", answer=MessageOfThread),
    Endpoint("PUT", _ONE, "chat", edit_message, "Edit a message", body=MessageChange, answer=ChangedMessage),
    Endpoint("GET", f"{_ONE}/history", "read", show_history, "Earlier versions of a message", answer=History),
    Endpoint("GET", f"{_ONE}/receipts", "read", show_receipts, "Receipts of a message", answer=Receipts),
    Endpoint(
        "GET",
        "/api/threads/{thread_id}/unreached",
        "read",
        list_unreached,
        "Who is named in people's newest messages but not reached, and why",
        answer=list[UnreachedMessage],
    ),
    Endpoint("GET", f"{_ONE}/reactions", "read", list_reactions, "Reactions", answer=list[shapes.RestReaction]),
    Endpoint(
        "POST",
        f"{_ONE}/reactions",
        "chat",
        add_reaction,
        "React to a message; a repeat changes nothing",
        body=NewReaction,
        answer=shapes.RestReaction,
        status=201,
    ),
    Endpoint(
        "DELETE",
        f"{_ONE}/reactions/{{reaction}}",
        "chat",
        remove_reaction,
        "Remove a reaction",
        query=ReactionQuery,
        answer=RemovedReaction,
    ),
    Endpoint(
        "GET",
        "/api/search",
        "read",
        show_search_results,
        "Messages with all the words",
        query=SearchQuery,
        answer=SearchResult,
    ),
]
