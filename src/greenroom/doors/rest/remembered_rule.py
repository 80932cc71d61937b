"""Shows the rule that "remember as a rule" would create, before anybody approves it."""

from typing import Literal

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from greenroom.doors.http.routes import Endpoint
from greenroom.doors.rest.wire import build_json_response, read_query
from greenroom.errors import Refused
from greenroom.log.model import Rows
from greenroom.rules.access.model import Principal
from greenroom.rules.policy.model import JUDGEMENTS
from greenroom.rules.policy.remembered_rule import Axis, Code, RememberedRule, RuleChoice, build_remembered_rule
from greenroom.rules.policy.trials import RuleTrial, try_rule
from greenroom.services.hub import Hub

_LAST = 100
_WORDS: dict[Code, str] = {
    "command": "`{0}`",
    "call": "this exact call of `{0}`",
    "program": "any `{0}` command",
    "safe_program": "any `{0}` command without high risk",
    "read_file": "reading `{0}`",
    "write_file": "writing `{0}`",
    "read_files": "reading any file",
    "write_files": "writing any file",
    "host": "reaching `{0}`",
    "tool": "every call of `{0}`",
    "profiles": "for {0}",
    "all": "for every agent",
    "own": "in its own folder",
    "folder": "in `{0}`",
    "anywhere": "in any folder it works in",
    "run": "for this run",
    "30d": "for 30 days",
    "90d": "for 90 days",
    "always": "until you remove it",
}


class RememberQuery(RuleChoice, frozen=True, kw_only=True):
    decision: Literal["allow", "deny"] = "allow"


class Remembered(RememberedRule, frozen=True, kw_only=True):
    """The rule that an answer would make, what else can be chosen, and what it would have answered before."""

    words: str
    trial: RuleTrial


async def show_rule(hub: Hub, by: Principal, request: Request) -> Response:
    which = read_query(request, RememberQuery)
    found = hub.rows.find(JUDGEMENTS, {"ask_id": request.path_params["ask_id"]}, limit=1)
    if not found:
        raise Refused("not_judged", "not_found")
    choice = RuleChoice(what=which.what, who=which.who, where=which.where, lasts=which.lasts)
    made = build_remembered_rule(found[0], which.decision, choice, hub.log.clock.now())

    def look_back(rows: Rows) -> RuleTrial:
        return try_rule(rows, made.rule, None, _LAST, is_all=False)

    trial = await hub.heavy_work.run_read(lambda: hub.store.read(look_back))
    words = f"Always {which.decision} {_describe_choice(made.axes, made.choice)}."
    return build_json_response(Remembered(**msgspec.structs.asdict(made), words=words, trial=trial))


def _describe_choice(axes: list[Axis], choice: RuleChoice) -> str:
    """What is chosen, in English; the page has words of its own for the codes."""
    chosen = [one for axis in axes for one in axis.options if one.choice == getattr(choice, axis.name)]
    what, who, *rest = [_WORDS[one.code].replace("{0}", one.value) for one in chosen]
    return ", ".join([f"{what} {who}", *rest])


ENDPOINTS = [
    Endpoint(
        "GET",
        "/api/policy/asked/{ask_id}",
        "operate",
        show_rule,
        "The rule that remembering an answer would create",
        query=RememberQuery,
        answer=Remembered,
    ),
]
