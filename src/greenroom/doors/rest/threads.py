"""Threads over REST: list, open and change them."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from greenroom.clock import format_iso
from greenroom.doors.cursors import build_cursor, parse_cursor
from greenroom.doors.http.errors import HttpRefused
from greenroom.doors.http.routes import Endpoint
from greenroom.doors.rest import shapes
from greenroom.doors.rest.refusals import BusErrorTranslator
from greenroom.doors.rest.verbs import VerbResult, build_verb_endpoints
from greenroom.doors.rest.wire import (
    Limit,
    build_bad_request,
    build_json_response,
    get_idempotency_key,
    need_same_request,
    read_body,
    read_json_response,
    read_query,
)
from greenroom.errors import Refused
from greenroom.ids import new_id, new_secret
from greenroom.json_types import Metadata
from greenroom.log.copied_fields import copy_fields
from greenroom.log.model import Rows
from greenroom.rules.access.model import Principal
from greenroom.rules.agents.queries import get_agent
from greenroom.rules.threads.commands import (
    CreateThread,
    DeleteThread,
    RenameThread,
)
from greenroom.rules.threads.events import ThreadDeleted, TokenIssued
from greenroom.rules.threads.model import ALL_STATES, Thread, ThreadStatus
from greenroom.rules.threads.queries import (
    count_threads,
    find_members,
    find_threads,
    get_brief,
    need_thread,
)
from greenroom.rules.threads.verbs import THREAD_VERBS
from greenroom.sentences import build_sentence
from greenroom.services.hub import Hub
from greenroom.validation import Sent

MOST = 200


class ThreadQuery(msgspec.Struct, frozen=True):
    """Which threads, newest first. `before` is the next_cursor of a page; a limit of 0 is the most there is."""

    status: Sent[ThreadStatus] | None = None
    include_archived: bool = False
    limit: Limit = 0
    before: str | None = None


class ThreadPage(msgspec.Struct):
    threads: list[shapes.RestThread]
    total: int
    has_more: bool
    next_cursor: str | None


class NewThread(msgspec.Struct, frozen=True):
    """A thread to open; a topic that exists already is that thread. An operator may leave creator_agent_id out."""

    topic: str
    creator_agent_id: str | None = None
    metadata: Metadata | None = None
    system_prompt: str | None = None
    template: str | None = None


class OpenedThread(msgspec.Struct):
    id: str
    topic: str
    status: ThreadStatus
    system_prompt: str | None
    template_id: str | None
    created_at: str
    current_seq: int
    reply_token: str
    reply_window: shapes.ReplyWindow = shapes.REPLY_WINDOW


class Renamed(msgspec.Struct):
    thread_id: str
    topic: str
    ok: bool = True


class Deleted(msgspec.Struct):
    thread_id: str
    topic: str
    message_count: int


class DeletedThread(msgspec.Struct):
    deleted: Deleted
    ok: bool = True


async def list_threads(hub: Hub, by: Principal, request: Request) -> Response:
    wanted = read_query(request, ThreadQuery)
    status = wanted.status or None
    if status is not None and status not in ALL_STATES:
        raise build_bad_request("bad_request.status", states=ALL_STATES)
    limit = min(wanted.limit or MOST, MOST)
    archived = wanted.include_archived
    try:
        before = parse_cursor(wanted.before)
    except ValueError:
        raise build_bad_request("bad_request.before") from None

    def read(rows: Rows) -> tuple[list[Thread], int]:
        found = find_threads(rows, by, status=status, include_archived=archived, before=before, limit=limit + 1)
        return found, count_threads(rows, by, status=status, include_archived=archived)

    found, total = await hub.store.read(read)
    page = found[:limit]
    faces = shapes.AgentNameCache(hub.rows)
    return build_json_response(
        ThreadPage(
            threads=[shapes.build_thread(hub, faces, thread) for thread in page],
            total=total,
            has_more=len(found) > limit,
            next_cursor=build_cursor(page[-1]) if len(found) > limit else None,
        )
    )


async def open_thread(hub: Hub, by: Principal, request: Request) -> Response:
    body = await read_body(request, NewThread)
    creator = body.creator_agent_id or None
    if creator is not None and get_agent(hub.rows, creator) is None:
        raise _build_no_creator()
    command = copy_fields(
        body,
        CreateThread,
        by=by,
        key=get_idempotency_key(request),
        thread_id=new_id("thr"),
        creator_id=creator,
        nonce=new_secret(12),
    )
    try:
        with BusErrorTranslator(hub):
            done = await hub.log.do(command)
    except Refused as no:
        raise (_build_no_creator() if no.code == "agent_not_found" else no) from None
    issued: TokenIssued = done.first(TokenIssued)
    if by.agent_id:
        hub.presence.note_activity(by.agent_id, "thread_create")
    thread = need_thread(hub.rows, by, issued.thread_id)
    need_same_request(done, thread.topic == body.topic.strip())
    return build_json_response(
        copy_fields(
            thread,
            OpenedThread,
            system_prompt=get_brief(hub.rows, thread.id).system_prompt,
            created_at=format_iso(thread.created_at),
            reply_token=issued.token,
        ),
        201,
    )


def _build_no_creator() -> HttpRefused:
    return HttpRefused(401, "agent_unproven", build_sentence("agent_unproven.creator"))


async def show_thread(hub: Hub, by: Principal, request: Request) -> Response:
    thread = need_thread(hub.rows, by, request.path_params["thread_id"])
    return build_json_response(shapes.build_thread(hub, shapes.AgentNameCache(hub.rows), thread))


def _build_deleted(result: VerbResult) -> DeletedThread:
    gone: ThreadDeleted = result.done.first(ThreadDeleted)
    return DeletedThread(Deleted(gone.thread_id, gone.topic, gone.messages))


def _build_renamed(result: VerbResult) -> Renamed:
    return Renamed(result.id, need_thread(result.hub.rows, result.by, result.id).topic)


async def list_members(hub: Hub, by: Principal, request: Request) -> Response:
    thread = need_thread(hub.rows, by, request.path_params["thread_id"])

    def read(rows: Rows) -> list[shapes.RestAgent]:
        found = [get_agent(rows, member.member_id) for member in find_members(rows, thread.id)]
        return [shapes.build_agent(hub, agent) for agent in found if agent is not None]

    return await read_json_response(hub, read)


_ONE = "/api/threads/{thread_id}"
ENDPOINTS = [
    Endpoint(
        "GET", "/api/threads", "read", list_threads, "Threads, newest first", query=ThreadQuery, answer=ThreadPage
    ),
    Endpoint(
        "POST",
        "/api/threads",
        "chat",
        open_thread,
        "Open a thread, or join the one of that topic",
        body=NewThread,
        answer=OpenedThread,
        status=201,
        keyed=True,
    ),
    Endpoint("GET", _ONE, "read", show_thread, "One thread", answer=shapes.RestThread),
    *build_verb_endpoints(THREAD_VERBS, {DeleteThread: _build_deleted, RenameThread: _build_renamed}),
    Endpoint("GET", f"{_ONE}/agents", "read", list_members, "Agents in a thread", answer=list[shapes.RestAgent]),
]
