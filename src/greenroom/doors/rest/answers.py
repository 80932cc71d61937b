"""Answers to asks over REST: to one, or to many by their ids."""

import asyncio
from typing import Any, Literal

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from greenroom.doors.page import is_outdated
from greenroom.doors.rest.wire import body_of, json, key_of
from greenroom.hub import Hub
from greenroom.log.errors import Refused
from greenroom.nouns.access.model import Principal
from greenroom.nouns.asks.commands import AnswerAsk
from greenroom.nouns.asks.contents import Given, kept
from greenroom.nouns.asks.model import Ask
from greenroom.nouns.asks.queries import need_ask
from greenroom.nouns.policy.remember import RuleChoice

_BATCH = 200
_PAGE = "x-greenroom-page"
"""The header in which the page names its build."""


class Answering(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    verdict: str
    """approve, deny or answer."""
    text: str = ""
    options: list[list[str]] = []
    arguments: Any = None
    contents: list[Given] = []
    form: Any = None
    scope: str = "once"
    remember: RuleChoice | None = None
    """How far the rule reaches, where the scope is `rule`: see `GET /api/policy/asked/{ask_id}`."""
    digest: str | None = None
    """The digest of what was shown: needed to approve a permission, and refused when it is not what is asked."""
    name: str = ""


async def answer_ask(hub: Hub, by: Principal, request: Request) -> Response:
    _need_current_page(request)
    body = await body_of(request, Answering)
    return json(await _answered(hub, by, request.path_params["ask_id"], body, key_of(request)))


def _need_current_page(request: Request) -> None:
    """A page that is older than the hub may not show what it should: it is to be loaded again first."""
    if is_outdated(request.headers.get(_PAGE)):
        raise Refused(
            "page_outdated", "Greenroom was updated after this page was loaded. Reload it, then answer.", "conflict"
        )


async def _answered(
    hub: Hub,
    by: Principal,
    ask_id: str,
    given: Answering,
    key: str | None = None,
    way: Literal["alone", "batch"] = "alone",
) -> Ask:
    need_ask(hub.rows, by, ask_id)
    async with kept(hub.blobs, given.contents, hub.settings.max_upload_bytes) as contents:
        return await hub.asks.answer(
            AnswerAsk(
                by=by,
                key=key,
                ask_id=ask_id,
                verdict=given.verdict,
                text=given.text,
                options=given.options,
                arguments=given.arguments,
                contents=contents,
                form=given.form,
                scope=given.scope,
                remember=given.remember,
                digest=given.digest,
                way=way,
                name=given.name,
            )
        )


class OneOfMany(Answering, frozen=True, kw_only=True, forbid_unknown_fields=True):
    ask_id: str


class Batch(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    answers: list[OneOfMany]


class Result(msgspec.Struct, kw_only=True, omit_defaults=True):
    ask_id: str
    ok: bool
    state: str = ""
    code: str = ""
    message: str = ""
    """Why not; or, of an answer that was taken, why it reaches nobody."""
    name: str = ""
    """Who was quicker."""
    at: int = 0


class Results(msgspec.Struct):
    results: list[Result]


async def answer_asks(hub: Hub, by: Principal, request: Request) -> Response:
    _need_current_page(request)
    batch = await body_of(request, Batch)
    if not 1 <= len(batch.answers) <= _BATCH:
        raise Refused("bad_batch", f"Answer 1 to {_BATCH} asks at once, each by its id.")
    return json(Results(list(await asyncio.gather(*(_result(hub, by, one) for one in batch.answers)))))


async def _result(hub: Hub, by: Principal, one: OneOfMany) -> Result:
    try:
        ask = await _answered(hub, by, one.ask_id, one, way="batch")
    except Refused as no:
        late = {name: no.details[name] for name in ("name", "at") if name in no.details}
        return Result(ask_id=one.ask_id, ok=False, code=no.code, message=no.message, **late)
    return Result(ask_id=ask.id, ok=True, state=ask.state, message=ask.reason)
