"""Asks over REST."""

import asyncio
from typing import Any, Literal

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from greenroom.doors.http.routes import Endpoint
from greenroom.doors.rest.answers import AnswerBatch, AnswerBody, AnswerResults, answer_ask, answer_asks
from greenroom.doors.rest.verbs import VerbResult, build_verb_endpoints
from greenroom.doors.rest.wire import (
    Limit,
    Number,
    build_json_response,
    encode,
    get_idempotency_key,
    read_body,
    read_json_response,
    read_query,
    run_while_connected,
)
from greenroom.errors import Refused
from greenroom.ids import new_id
from greenroom.link.ask_kinds import AskKind, AskState
from greenroom.link.policy_facts.call_request import Risk
from greenroom.log.copied_fields import copy_fields
from greenroom.log.model import Rows
from greenroom.log.store import Snapshot
from greenroom.rules.access.model import Principal
from greenroom.rules.asks.commands import DelegateAsk, RaiseAsk, SnoozeAsk
from greenroom.rules.asks.model import ASK_FILES, ASKS, Ask, AskQuestion
from greenroom.rules.asks.queries import find_asks, need_ask
from greenroom.rules.asks.verbs import ASK_VERBS
from greenroom.rules.threads.queries import need_thread
from greenroom.sentences.english import render_english
from greenroom.services.ask_contents import ContentInput, keep_contents
from greenroom.services.hub import Hub
from greenroom.validation import Sent

_MOST = 500
_SHOWN_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")


class AskQuery(msgspec.Struct, frozen=True, kw_only=True):
    state: Sent[Literal[AskState, "all"]] = "open"
    kind: Sent[AskKind] | None = None
    risk: Sent[Risk] | None = None
    run_id: str | None = None
    agent_id: str | None = None
    thread_id: str | None = None
    workflow_run_id: str | None = None
    room: str | None = None
    after: Number = 0
    """Those that changed after this seq, oldest change first."""
    before: Number | None = None
    """Those that changed before this seq, newest change first."""
    limit: Limit = 100
    for_s: float = 0
    """How long to wait for one when there is none."""


class Asks(msgspec.Struct):
    asks: list[Ask]
    next: int | None
    """The seq to continue with, as after or before; null when these are all."""


class StoredAsks(msgspec.Struct):
    """The same, of rows that are not looked into."""

    asks: list[msgspec.Raw]
    next: int | None


_OF_SENTENCES = b'"params":'


async def list_asks(hub: Hub, by: Principal, request: Request) -> Response:
    wanted = read_query(request, AskQuery)
    names = ("kind", "risk", "run_id", "agent_id", "thread_id", "workflow_run_id", "room")
    where = {name: getattr(wanted, name) for name in names}
    where["state"] = None if wanted.state == "all" else wanted.state
    limit = max(1, min(wanted.limit, _MOST))

    def find(rows: Rows, limit: int) -> list[Ask]:
        return find_asks(rows, by, where, after=wanted.after, before=wanted.before, limit=limit)

    def read(view: Snapshot) -> Asks | StoredAsks:
        if by.may_operate and all(where[name] is None for name in names):
            return _read_stored(view, where["state"], wanted, limit)
        found = find(view, limit)
        return Asks(found, found[-1].seq if len(found) == limit else None)

    if wanted.for_s > 0:
        await run_while_connected(request, hub.asks.wait_for_any(lambda: find(hub.rows, 1), min(wanted.for_s, 3600)))
    return await read_json_response(hub, read)


def _read_stored(view: Snapshot, state: AskState | None, wanted: AskQuery, limit: int) -> StoredAsks:
    """A page of asks of which all are shown, so that few have to be decoded and encoded again."""
    where = {"state": state} if state is not None else None
    if wanted.before is None:
        data = view.find_data(ASKS, where, after=("_seq", wanted.after), order="_seq", limit=limit)
    else:
        data = view.find_data(ASKS, where, before=("_seq", wanted.before), order="_seq", desc=True, limit=limit)
    last = ASKS.decode(data[-1]).seq if len(data) == limit else None
    return StoredAsks([msgspec.Raw(_render_stored(one)) for one in data], last)


def _render_stored(data: bytes) -> bytes:
    """A stored ask with its words in English; most have none to render, and are not decoded."""
    return encode(render_english(ASKS.decode(data))) if _OF_SENTENCES in data else data


class NewAsk(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    title: str
    kind: Sent[AskKind] = "question"
    text: str = ""
    questions: list[AskQuestion] = []
    form: dict[str, Any] | None = None
    contents: list[ContentInput] = []
    labels: dict[str, str] = {}
    thread_id: str | None = None
    room: str | None = None
    risk: Sent[Risk] | None = None
    asked_of: list[str] = []
    approvers: int = 1
    timeout_s: int | None = None


async def create_ask(hub: Hub, by: Principal, request: Request) -> Response:
    body = await read_body(request, NewAsk)
    if body.thread_id is not None:
        need_thread(hub.rows, by, body.thread_id)
    async with keep_contents(hub.blobs, body.contents, hub.settings.max_upload_bytes) as contents:
        raised = await hub.asks.ask(
            copy_fields(
                body,
                RaiseAsk,
                by=by,
                ask_id=new_id("ask"),
                wish=get_idempotency_key(request),
                kind=body.kind,
                risk=body.risk,
                contents=contents,
            )
        )
    return build_json_response(raised, 201)


async def show_ask(hub: Hub, by: Principal, request: Request) -> Response:
    return build_json_response(need_ask(hub.rows, by, request.path_params["ask_id"]))


class AskWaitQuery(msgspec.Struct, frozen=True, kw_only=True):
    for_s: float = 30


async def wait_ask(hub: Hub, by: Principal, request: Request) -> Response:
    ask = need_ask(hub.rows, by, request.path_params["ask_id"])
    timeout_s = max(0.0, min(read_query(request, AskWaitQuery).for_s, 3600))
    return build_json_response(await run_while_connected(request, hub.asks.wait(ask.id, timeout_s)))


async def show_file(hub: Hub, by: Principal, request: Request) -> Response:
    ask = need_ask(hub.rows, by, request.path_params["ask_id"])
    named = hub.rows.get(ASK_FILES, ask.id, request.path_params["file"])
    data = await asyncio.to_thread(hub.blobs.read, named.file) if named is not None else None
    if named is None or data is None:
        raise Refused("file_not_found", "not_found")
    shown = named.mime in _SHOWN_IMAGES
    headers = {
        "content-security-policy": "sandbox; default-src 'none'",
        "content-disposition": "inline" if shown else "attachment",
        "cache-control": "private, max-age=86400",
    }
    return Response(data, headers=headers, media_type=named.mime if shown else "application/octet-stream")


def _build_shown(result: VerbResult) -> Ask:
    return need_ask(result.hub.rows, result.by, result.id)


_ONE = "/api/asks/{ask_id}"


def endpoints(hub: Hub) -> list[Endpoint]:
    """The limit of attachments is a setting; base64 makes them a third larger."""
    large = hub.settings.max_upload_bytes * 3 // 2 + hub.settings.max_body_bytes
    waits = "Wait until the ask is answered, or the time is over"
    return [
        Endpoint("GET", "/api/asks", "answer", list_asks, "Asks, open or answered", query=AskQuery, answer=Asks),
        Endpoint(
            "POST",
            "/api/asks",
            "chat",
            create_ask,
            "Create an ask",
            body=NewAsk,
            answer=Ask,
            status=201,
            max_bytes=large,
            keyed=True,
        ),
        Endpoint(
            "POST",
            "/api/asks/answers",
            "answer",
            answer_asks,
            "Answer several asks, each by its id",
            body=AnswerBatch,
            answer=AnswerResults,
            max_bytes=large,
        ),
        Endpoint("GET", _ONE, "answer", show_ask, "One ask", answer=Ask),
        Endpoint("GET", f"{_ONE}/wait", "answer", wait_ask, waits, query=AskWaitQuery, answer=Ask),
        Endpoint("GET", f"{_ONE}/files/{{file}}", "answer", show_file, "A file of an ask or its answer", answer="*/*"),
        Endpoint(
            "POST",
            f"{_ONE}/answer",
            "answer",
            answer_ask,
            "Answer an ask; the first answer wins",
            body=AnswerBody,
            answer=Ask,
            max_bytes=large,
            keyed=True,
        ),
        *build_verb_endpoints(ASK_VERBS, dict.fromkeys((SnoozeAsk, DelegateAsk), _build_shown)),
    ]
