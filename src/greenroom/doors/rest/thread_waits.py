"""Joining a thread and waiting in it, over REST."""

from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from greenroom.clock import format_iso
from greenroom.doors.http.routes import Endpoint
from greenroom.doors.rest import shapes
from greenroom.doors.rest.messages import build_messages, need_readable_thread
from greenroom.doors.rest.wire import Number, build_json_response, read_body, read_query, run_while_connected
from greenroom.link.ask_kinds import AskKind
from greenroom.rules.access.model import Principal
from greenroom.rules.asks.asker_list import find_waiting_askers
from greenroom.rules.threads.queries import PAGE, need_thread
from greenroom.services.bus import MAX_WAIT_MS
from greenroom.services.hub import Hub


class MemberBody(msgspec.Struct, frozen=True):
    """Who it is for; left out, the agent whose credential this is."""

    agent_id: str | None = None


class Joined(msgspec.Struct):
    """A thread, and what the next strict post in it must show."""

    thread: shapes.RestThread
    current_seq: int
    reply_token: str | None
    reply_window: shapes.ReplyWindow = shapes.REPLY_WINDOW


class WaitQuery(msgspec.Struct, frozen=True):
    """What to wait for. Without after_seq an agent continues where it was."""

    after_seq: Number | None = None
    timeout_ms: Annotated[int, Meta(ge=0, le=MAX_WAIT_MS)] = 30_000
    for_agent: str | None = None
    agent_id: str | None = None
    limit: Annotated[int, Meta(ge=1)] = PAGE
    """More than 100 means 100."""


class WaitsForPerson(msgspec.Struct):
    """An agent of the thread that cannot continue before a person has answered."""

    agent_id: str | None
    name: str
    kind: AskKind
    since: str


class RestWaitResult(msgspec.Struct):
    """New messages, or none when the time is over, and what the next strict post must show."""

    messages: list[shapes.RestMessage]
    current_seq: int
    reply_token: str | None
    reply_window: shapes.ReplyWindow = shapes.REPLY_WINDOW
    waiting_for_person: list[WaitsForPerson] = []


class WaitingAgent(msgspec.Struct):
    agent_id: str | None
    entered_at: str
    timeout_ms: int
    wait_call_id: str


class WaitState(msgspec.Struct):
    thread_id: str
    agents_waiting: list[WaitingAgent]
    count: int
    waiting_for_person: list[WaitsForPerson] = []


async def issue_sync_context(hub: Hub, by: Principal, request: Request) -> Response:
    body = await read_body(request, MemberBody)
    context = await hub.bus.issue_sync_context(by, request.path_params["thread_id"], body.agent_id)
    return build_json_response(shapes.build_sync(context))


async def join_thread(hub: Hub, by: Principal, request: Request) -> Response:
    body = await read_body(request, MemberBody)
    thread_id = request.path_params["thread_id"]
    context = await hub.bus.issue_sync_context(by, thread_id, body.agent_id)
    thread = shapes.build_thread(hub, shapes.AgentNameCache(hub.rows), need_thread(hub.rows, by, thread_id))
    return build_json_response(Joined(thread, context.current_seq, context.reply_token))


async def wait_for_messages(hub: Hub, by: Principal, request: Request) -> Response:
    query = read_query(request, WaitQuery)
    thread = await need_readable_thread(hub, by, request.path_params["thread_id"])
    waited = await run_while_connected(
        request,
        hub.bus.wait(
            by,
            thread.id,
            query.after_seq,
            query.timeout_ms,
            agent_id=query.agent_id,
            for_agent=query.for_agent,
            limit=min(query.limit, PAGE),
        ),
    )
    shown = await build_messages(hub, waited.messages)
    people = _find_person_waits(hub, thread.id)
    return build_json_response(
        RestWaitResult(shown, waited.sync.current_seq, waited.sync.reply_token, waiting_for_person=people)
    )


def _find_person_waits(hub: Hub, thread_id: str) -> list[WaitsForPerson]:
    return [
        WaitsForPerson(one.agent_id, one.name, one.kind, format_iso(one.since))
        for one in find_waiting_askers(hub.rows, thread_id)
    ]


async def show_wait_state(hub: Hub, by: Principal, request: Request) -> Response:
    thread = need_thread(hub.rows, by, request.path_params["thread_id"])
    waiting = [
        WaitingAgent(waiter.agent_id, format_iso(waiter.entered_at), waiter.timeout_ms, waiter.call_id)
        for waiter in hub.bus.waiters.find_waiters(thread.id)
    ]
    return build_json_response(WaitState(thread.id, waiting, len(waiting), _find_person_waits(hub, thread.id)))


_ONE = "/api/threads/{thread_id}"
ENDPOINTS = [
    Endpoint(
        "POST",
        f"{_ONE}/sync-context",
        "chat",
        issue_sync_context,
        "The sync fields for the next strict post",
        body=MemberBody,
        answer=shapes.Sync,
    ),
    Endpoint("POST", f"{_ONE}/join", "chat", join_thread, "Join a thread", body=MemberBody, answer=Joined),
    Endpoint(
        "GET",
        f"{_ONE}/wait",
        "read",
        wait_for_messages,
        "Wait for new messages",
        query=WaitQuery,
        answer=RestWaitResult,
    ),
    Endpoint(
        "GET", f"{_ONE}/wait-state", "read", show_wait_state, "Who waits in a thread at the moment", answer=WaitState
    ),
]
