"""The policy over REST: rules, trials on earlier calls, suggestions, templates and grants."""

from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from greenroom.doors.http.routes import Endpoint
from greenroom.doors.rest.verbs import build_verb_endpoints
from greenroom.doors.rest.wire import (
    Number,
    build_json_response,
    read_body,
    read_json_response,
    read_query,
)
from greenroom.errors import Refused
from greenroom.json_types import JsonObject
from greenroom.log.model import Rows
from greenroom.log.pages import find_page
from greenroom.rules.access.model import Principal
from greenroom.rules.policy.answer_effects import find_free_rule_name
from greenroom.rules.policy.commands import PutRule
from greenroom.rules.policy.decide import find_named_rule_problems
from greenroom.rules.policy.model import GRANTS, JUDGEMENTS, RULES, Grant, Judgement, KeptRule, Options, Rule
from greenroom.rules.policy.rule_problems import find_rule_problems
from greenroom.rules.policy.rule_set import find_rules, get_state
from greenroom.rules.policy.templates import TEMPLATES, RuleTemplate, get_template
from greenroom.rules.policy.trials import RuleTrial, Suggestion, find_suggestions, try_rule
from greenroom.rules.policy.verbs import POLICY_VERBS
from greenroom.sentences import Sentence
from greenroom.services.hub import Hub
from greenroom.services.policy_file import PolicyFileProblem, read_policy
from greenroom.validation import build_named_problem, get_nearest

Count = Annotated[int, Meta(ge=1, le=1000)]


class Policy(msgspec.Struct):
    """All that judges. `wrong` is what cannot be used in policy.toml; its last good version holds meanwhile."""

    version: int
    options: Options
    rules: list[KeptRule]
    grants: list[Grant]
    wrong: list[PolicyFileProblem]


async def show_policy(hub: Hub, by: Principal, request: Request) -> Response:
    def read(rows: Rows) -> Policy:
        state = get_state(rows)
        grants = rows.find(GRANTS, order="at", desc=True, limit=500)
        return Policy(state.version, state.options, find_rules(rows), grants, read_policy(hub.data).wrong)

    return await read_json_response(hub, read)


class PolicyTrialBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    rule: Rule | None = None
    """Left out, the policy as it stands is tried."""
    name: str | None = None
    """The rule in whose place it is tried; else behind all others."""
    last: Count = 100
    all: bool = False
    """All calls that were judged, not only those about which a person was asked."""


async def try_policy(hub: Hub, by: Principal, request: Request) -> Response:
    body = await read_body(request, PolicyTrialBody)
    wrong = find_rule_problems(body.rule) if body.rule is not None else []
    if wrong:
        raise Refused("bad_rule.judged", details={"problems": list(map(str, wrong))}, problems=wrong)

    def look_back(rows: Rows) -> RuleTrial:
        return try_rule(rows, body.rule, body.name, body.last, is_all=body.all)

    return build_json_response(await hub.heavy_work.run_read(lambda: hub.store.read(look_back)))


class RuleDraft(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A rule that is still being written, and may be wrong in any way."""

    name: str
    rule: JsonObject


class RuleCheck(msgspec.Struct):
    """What is wrong with a rule: each problem begins with the key that it is about."""

    ok: bool
    problems: list[str]
    sentences: list[Sentence]
    """The same problems, for a reader of another language."""


async def check_rule(hub: Hub, by: Principal, request: Request) -> Response:
    body = await read_body(request, RuleDraft)
    try:
        wrong = find_named_rule_problems(body.name, msgspec.convert(body.rule, Rule))
    except msgspec.ValidationError as error:
        wrong = [build_named_problem("rule", str(error))]
    return build_json_response(RuleCheck(not wrong, list(map(str, wrong)), wrong))


class JudgementQuery(msgspec.Struct, frozen=True):
    limit: Count = 100
    before: Number | None = None
    decision: str | None = None
    run_id: str | None = None


class Judgements(msgspec.Struct):
    """Calls that were judged, newest first; the next page is before `next_before`."""

    judgements: list[Judgement]
    next_before: int | None


async def list_judgements(hub: Hub, by: Principal, request: Request) -> Response:
    page = read_query(request, JudgementQuery)
    given = {"decision": page.decision, "run_id": page.run_id}
    where = {name: value for name, value in given.items() if value is not None}

    def read(rows: Rows) -> Judgements:
        found = find_page(rows, JUDGEMENTS, where, before=page.before, limit=page.limit + 1, at="at")
        shown = found[: page.limit]
        return Judgements(shown, shown[-1].seq if len(found) > page.limit else None)

    return await read_json_response(hub, read)


class SuggestQuery(msgspec.Struct, frozen=True):
    times: Annotated[int, Meta(ge=2, le=100)] = 3


async def list_suggestions(hub: Hub, by: Principal, request: Request) -> Response:
    least = read_query(request, SuggestQuery).times
    return build_json_response(
        await hub.heavy_work.run_read(lambda: hub.store.read(lambda rows: find_suggestions(rows, least)))
    )


async def list_templates(hub: Hub, by: Principal, request: Request) -> Response:
    return build_json_response(TEMPLATES)


class AppliedRules(msgspec.Struct):
    names: list[str]


def _build_template_not_found(name: str) -> Refused:
    known = [one.name for one in TEMPLATES]
    if near := get_nearest(name, known):
        return Refused("template_not_found.near", "not_found", name=name[:64], near=near)
    listed = ", ".join(known)
    return Refused("template_not_found.policy", "not_found", name=name[:64], names=listed)


async def apply_template(hub: Hub, by: Principal, request: Request) -> Response:
    name = request.path_params["template"]
    template = get_template(name)
    if template is None:
        raise _build_template_not_found(name)
    names = []
    for wanted, rule in template.rules:
        kept = hub.rows.get(RULES, wanted)
        free = wanted if kept is None or kept.source == "template" else find_free_rule_name(hub.rows, wanted)
        await hub.log.do(PutRule(by=by, name=free, rule=rule, source="template"))
        names.append(free)
    return build_json_response(AppliedRules(names))


ENDPOINTS = [
    Endpoint("GET", "/api/policy", "operate", show_policy, "Rules, options and grants", answer=Policy),
    *build_verb_endpoints(POLICY_VERBS),
    Endpoint(
        "POST",
        "/api/policy/try",
        "operate",
        try_policy,
        "Try a rule on earlier calls",
        body=PolicyTrialBody,
        answer=RuleTrial,
    ),
    Endpoint(
        "POST",
        "/api/policy/check",
        "operate",
        check_rule,
        "Check a rule",
        body=RuleDraft,
        answer=RuleCheck,
    ),
    Endpoint(
        "GET",
        "/api/policy/judgements",
        "operate",
        list_judgements,
        "Calls that were judged, newest first",
        query=JudgementQuery,
        answer=Judgements,
    ),
    Endpoint(
        "GET",
        "/api/policy/suggestions",
        "operate",
        list_suggestions,
        "Rules that people's answers suggest",
        query=SuggestQuery,
        answer=list[Suggestion],
    ),
    Endpoint(
        "GET",
        "/api/policy/templates",
        "operate",
        list_templates,
        "Ready-made sets of rules",
        answer=list[RuleTemplate],
    ),
    Endpoint(
        "POST",
        "/api/policy/templates/{template}",
        "operate",
        apply_template,
        "Add the rules of a template",
        answer=AppliedRules,
    ),
]
