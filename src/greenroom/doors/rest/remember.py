"""What "remember as a rule" would leave behind, shown before anybody says yes to it."""

from typing import Literal

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from greenroom.doors.endpoint import Endpoint
from greenroom.doors.rest.wire import json, query_of
from greenroom.hub import Hub
from greenroom.log.errors import Refused
from greenroom.nouns.access.model import Principal
from greenroom.nouns.policy.answers import suggested_rule
from greenroom.nouns.policy.model import JUDGEMENTS, Rule


class Which(msgspec.Struct, frozen=True):
    decision: Literal["allow", "deny"] = "allow"


class Remembered(msgspec.Struct):
    """The rule that an answer would make, and in words what it covers."""

    name: str
    rule: Rule
    words: str


async def show_rule(hub: Hub, by: Principal, request: Request) -> Response:
    found = hub.rows.find(JUDGEMENTS, {"ask_id": request.path_params["ask_id"]}, limit=1)
    if not found:
        raise Refused("not_judged", "No call was judged for this ask: there is nothing to remember.", "not_found")
    judgement = found[0]
    name, rule = suggested_rule(judgement.wanted, judgement.verdict, query_of(request, Which).decision)
    return json(Remembered(name, rule, judgement.verdict.like_words))


ENDPOINTS = [
    Endpoint(
        "GET",
        "/api/policy/asked/{ask_id}",
        "operate",
        show_rule,
        "The rule that remembering an answer would make",
        query=Which,
        answer=Remembered,
    ),
]
