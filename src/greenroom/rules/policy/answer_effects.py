"""What changes in the policy after a call was judged, and after a person answered."""

from typing import Any, Literal

import msgspec

from greenroom.link.ask_kinds import AnswerScope, AnswerVerdict
from greenroom.link.policy_facts.call_request import CallRequest
from greenroom.log.codec import encode
from greenroom.log.model import Event, Rows
from greenroom.rules.access.secrets import mask_secrets
from greenroom.rules.policy.events import CallJudged, GrantGiven, JudgementAnswered, RulePut
from greenroom.rules.policy.model import JUDGEMENTS, RULES, Decision, Judgement, Verdict
from greenroom.rules.policy.remembered_rule import RuleChoice, build_remembered_rule, need_seen_risk
from greenroom.rules.policy.rule_set import find_rules
from greenroom.sentences import Sentence

MAX_KEPT_BYTES = 65_536
PLACE_GAP = 1000
"""Rules stand so far apart, so that one can be put between two."""


def build_judgement_events(
    judgement_id: str, wanted: CallRequest, verdict: Verdict, ask_id: str | None = None
) -> list[Event]:
    """Write a judgement down, without secrets; to be yielded with whatever it leads to. Of long arguments only the
    digest is kept."""
    if len(encode(wanted.arguments)) > MAX_KEPT_BYTES:
        wanted = msgspec.structs.replace(wanted, arguments={"too_large": True})
    elif (arguments := mask_secrets(wanted.arguments)) != wanted.arguments:
        wanted = msgspec.structs.replace(wanted, arguments=arguments, resolved=mask_secrets(wanted.resolved))
        words = {"why": mask_secrets(verdict.why), "like_words": mask_secrets(verdict.like_words)}
        verdict = msgspec.structs.replace(verdict, **words)
    return [CallJudged(judgement_id=judgement_id, wanted=wanted, verdict=verdict, ask_id=ask_id)]


def build_answer_events(
    rows: Rows,
    *,
    ask_id: str,
    answer: AnswerVerdict,
    scope: AnswerScope | Literal["changed"],
    seed: str,
    now: int,
    remember: RuleChoice | None = None,
) -> list[Event]:
    """What a person's answer means for calls to come. `seed` is unique to the answer."""
    found = rows.find(JUDGEMENTS, {"ask_id": ask_id}, limit=1)
    if not found or found[0].answer is not None:
        return []
    judgement = found[0]
    events: list[Event] = [JudgementAnswered(judgement_id=judgement.id, answer=answer)]
    if scope == "rule" and answer in ("approve", "deny"):
        decision: Decision = "allow" if answer == "approve" else "deny"
        choice = remember or RuleChoice()
        need_seen_risk(judgement, decision, choice)
        made = build_remembered_rule(judgement, decision, choice, now)
        place = compute_last_place(rows)
        events.append(RulePut(name=find_free_rule_name(rows, made.name), place=place, rule=made.rule, source="answer"))
    if answer == "approve":
        wide = "profile" if scope == "profile" and judgement.profile else "run"
        if scope in ("run", "profile") or (scope == "once" and judgement.verdict.once == "run"):
            events.append(_build_grant(judgement, wide == "profile", f"grt_{seed}", ask_id))
    return events


def build_reach_fields(verdict: Verdict) -> dict[str, Any]:
    """The calls that a wider approval of an ask would cover, and whether a plain approval covers the run."""
    if not isinstance(verdict.like_words, Sentence):
        return {}
    reach = {"reach": "run"} if verdict.once == "run" else {}
    return {"like": verdict.like_words, "labels": {"like": str(verdict.like_words), **reach}}


def _build_grant(judgement: Judgement, for_profile: bool, grant_id: str, ask_id: str) -> GrantGiven:
    return GrantGiven(
        grant_id=grant_id,
        scope="profile" if for_profile else "run",
        holder=judgement.profile if for_profile else judgement.run_id,
        like=judgement.verdict.like,
        words=judgement.verdict.like_words,
        ask_id=ask_id,
    )


def compute_last_place(rows: Rows) -> int:
    """The place behind all other rules."""
    last = rows.find(RULES, order="place", desc=True, limit=1)
    return max(last[0].place if last else 0, 0) + PLACE_GAP


def get_place_before(rows: Rows, name: str) -> int | None:
    """A free place before a rule that is not of the file; None when there is none left."""
    own = [kept for kept in find_rules(rows) if kept.source != "file"]
    for number, kept in enumerate(own):
        if kept.name == name:
            low = own[number - 1].place if number else kept.place - 2 * PLACE_GAP
            middle = (low + kept.place) // 2
            return middle if low < middle < kept.place and middle > 0 else None
    return None


def find_free_rule_name(rows: Rows, name: str) -> str:
    """The name, or the first like it that no rule has."""
    number, free = 1, name
    while rows.get(RULES, free) is not None:
        number += 1
        free = f"{name}-{number}"
    return free
