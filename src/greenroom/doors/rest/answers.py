"""Answers to asks over REST: to one ask, or to several by their ids."""

import asyncio
from typing import Any, Literal

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from greenroom.doors.page import is_outdated
from greenroom.doors.rest.wire import build_json_response, get_idempotency_key, read_body
from greenroom.errors import Refused
from greenroom.link.ask_kinds import AnswerScope, AnswerVerdict, AskState
from greenroom.log.copied_fields import copy_fields
from greenroom.rules.access.model import Principal
from greenroom.rules.asks.commands import AnswerAsk
from greenroom.rules.asks.model import Ask
from greenroom.rules.asks.queries import need_ask
from greenroom.rules.policy.remembered_rule import RuleChoice
from greenroom.sentences import list_wire_fields
from greenroom.services.ask_contents import ContentInput, keep_contents
from greenroom.services.hub import Hub
from greenroom.validation import Sent

_BATCH = 200
_PAGE = "x-greenroom-page"
"""The header in which the page names its build."""


class AnswerBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    verdict: Sent[AnswerVerdict]
    text: str = ""
    options: list[list[str]] = []
    arguments: Any = None
    contents: list[ContentInput] = []
    form: Any = None
    scope: Sent[AnswerScope] = "once"
    remember: RuleChoice | None = None
    """How far the rule reaches, where the scope is `rule`: see `GET /api/policy/asked/{ask_id}`."""
    digest: str | None = None
    """The digest of what was shown: needed to approve a permission, and refused when it is not what is asked."""
    name: str = ""


async def answer_ask(hub: Hub, by: Principal, request: Request) -> Response:
    _need_current_page(request)
    body = await read_body(request, AnswerBody)
    return build_json_response(
        await _submit_answer(hub, by, request.path_params["ask_id"], body, get_idempotency_key(request))
    )


def _need_current_page(request: Request) -> None:
    """A page that is older than the hub may not show what it should: it is to be loaded again first."""
    if is_outdated(request.headers.get(_PAGE)):
        raise Refused("page_outdated", "conflict")


async def _submit_answer(
    hub: Hub,
    by: Principal,
    ask_id: str,
    given: AnswerBody,
    key: str | None = None,
    way: Literal["alone", "batch"] = "alone",
) -> Ask:
    need_ask(hub.rows, by, ask_id)
    async with keep_contents(hub.blobs, given.contents, hub.settings.max_upload_bytes) as contents:
        return await hub.asks.answer(
            copy_fields(
                given,
                AnswerAsk,
                by=by,
                key=key,
                ask_id=ask_id,
                verdict=given.verdict,
                scope=given.scope,
                contents=contents,
                way=way,
            )
        )


class BatchAnswer(AnswerBody, frozen=True, kw_only=True, forbid_unknown_fields=True):
    ask_id: str


class AnswerBatch(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    answers: list[BatchAnswer]


class AnswerResult(msgspec.Struct, kw_only=True, omit_defaults=True):
    ask_id: str
    ok: bool
    state: AskState | Literal[""] = ""
    code: str = ""
    message: str = ""
    """Why not; or, for an accepted answer, why it reaches nobody."""
    name: str = ""
    """Who answered first."""
    at: int = 0
    key: str = ""
    params: dict[str, Any] = {}
    """The message for another language, as in every refusal."""


class AnswerResults(msgspec.Struct):
    results: list[AnswerResult]


async def answer_asks(hub: Hub, by: Principal, request: Request) -> Response:
    _need_current_page(request)
    batch = await read_body(request, AnswerBatch)
    if not 1 <= len(batch.answers) <= _BATCH:
        raise Refused("bad_batch", limit=_BATCH)
    return build_json_response(
        AnswerResults(list(await asyncio.gather(*(_submit_batch_answer(hub, by, one) for one in batch.answers))))
    )


async def _submit_batch_answer(hub: Hub, by: Principal, one: BatchAnswer) -> AnswerResult:
    try:
        ask = await _submit_answer(hub, by, one.ask_id, one, way="batch")
    except Refused as no:
        late = {name: no.details[name] for name in ("name", "at") if name in no.details}
        return AnswerResult(
            ask_id=one.ask_id, ok=False, code=no.code, message=no.message, **list_wire_fields(no.said), **late
        )
    return AnswerResult(ask_id=ask.id, ok=True, state=ask.state, message=str(ask.reason))
