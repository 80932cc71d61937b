"""Coming into a thread and waiting in it, over REST."""

from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from greenroom.doors.endpoint import Endpoint
from greenroom.doors.rest import shapes
from greenroom.doors.rest.messages import need_place, show_all
from greenroom.doors.rest.wire import Number, body_of, json, query_of, while_there
from greenroom.hub import Hub
from greenroom.log.clock import iso
from greenroom.nouns.access.model import Principal
from greenroom.nouns.asks.waiting import find_waits
from greenroom.nouns.threads.bus import MAX_WAIT_MS
from greenroom.nouns.threads.queries import PAGE, need_thread


class Member(msgspec.Struct, frozen=True):
    """Who it is for; left out, the agent whose credential this is."""

    agent_id: str | None = None


class Joined(msgspec.Struct):
    """A thread, and what the next strict post in it must show."""

    thread: shapes.Thread
    current_seq: int
    reply_token: str | None
    reply_window: shapes.ReplyWindow = shapes.REPLY_WINDOW


class Wait(msgspec.Struct, frozen=True):
    """What to wait for. Without after_seq an agent goes on from where it was."""

    after_seq: Number | None = None
    timeout_ms: Annotated[int, Meta(ge=0, le=MAX_WAIT_MS)] = 30_000
    for_agent: str | None = None
    agent_id: str | None = None
    limit: Annotated[int, Meta(ge=1)] = PAGE
    """More than 100 means 100."""


class WaitsForPerson(msgspec.Struct):
    """Somebody of the thread who cannot go on before a person has answered."""

    agent_id: str | None
    name: str
    kind: str
    since: str


class Waited(msgspec.Struct):
    """New messages, or none when the time is over, and what the next strict post must show."""

    messages: list[shapes.Message]
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


async def sync_context(hub: Hub, by: Principal, request: Request) -> Response:
    body = await body_of(request, Member)
    context = await hub.bus.sync_context(by, request.path_params["thread_id"], body.agent_id)
    return json(shapes.sync(context))


async def join(hub: Hub, by: Principal, request: Request) -> Response:
    body = await body_of(request, Member)
    thread_id = request.path_params["thread_id"]
    context = await hub.bus.sync_context(by, thread_id, body.agent_id)
    thread = shapes.thread(hub, shapes.Faces(hub.rows), need_thread(hub.rows, by, thread_id))
    return json(Joined(thread, context.current_seq, context.reply_token))


async def wait(hub: Hub, by: Principal, request: Request) -> Response:
    query = query_of(request, Wait)
    thread = await need_place(hub, by, request.path_params["thread_id"])
    waited = await while_there(
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
    shown = await show_all(hub, waited.messages)
    people = _for_people(hub, thread.id)
    return json(Waited(shown, waited.sync.current_seq, waited.sync.reply_token, waiting_for_person=people))


def _for_people(hub: Hub, thread_id: str) -> list[WaitsForPerson]:
    return [WaitsForPerson(one.agent_id, one.name, one.kind, iso(one.since)) for one in find_waits(hub.rows, thread_id)]


async def wait_state(hub: Hub, by: Principal, request: Request) -> Response:
    thread = need_thread(hub.rows, by, request.path_params["thread_id"])
    waiting = [
        WaitingAgent(waiter.agent_id, iso(waiter.entered_at), waiter.timeout_ms, waiter.call_id)
        for waiter in hub.bus.waiters.find_waiters(thread.id)
    ]
    return json(WaitState(thread.id, waiting, len(waiting), _for_people(hub, thread.id)))


_ONE = "/api/threads/{thread_id}"
ENDPOINTS = [
    Endpoint(
        "POST",
        f"{_ONE}/sync-context",
        "chat",
        sync_context,
        "What the next strict post must show",
        body=Member,
        answer=shapes.Sync,
    ),
    Endpoint("POST", f"{_ONE}/join", "chat", join, "Come into a thread", body=Member, answer=Joined),
    Endpoint("GET", f"{_ONE}/wait", "read", wait, "Wait for new messages", query=Wait, answer=Waited),
    Endpoint("GET", f"{_ONE}/wait-state", "read", wait_state, "Who waits in a thread just now", answer=WaitState),
]
