"""The projection of the policy."""

import hashlib

import msgspec

from greenroom.log.codec import encode
from greenroom.log.copied_fields import copy_fields
from greenroom.log.model import Event, Noun, Project, Recorded, Tx
from greenroom.rules.policy.budgets import get_holder
from greenroom.rules.policy.decide import DECIDE
from greenroom.rules.policy.events import (
    CallJudged,
    GrantGiven,
    GrantRevoked,
    JudgementAnswered,
    MoneySpent,
    OptionsSet,
    RulePut,
    RuleRemoved,
)
from greenroom.rules.policy.model import (
    DAY_COSTS,
    GRANTS,
    JUDGEMENTS,
    RULES,
    STATE,
    DayCost,
    Grant,
    Judgement,
    KeptRule,
    Options,
)
from greenroom.rules.policy.rule_set import get_state

replace = msgspec.structs.replace


def rule_put(tx: Tx, event: RulePut, record: Recorded) -> None:
    kept = copy_fields(event, KeptRule, changed_at=record.at, by=record.by)
    tx.put(RULES, kept)
    _put_next_version(tx, encode(kept))


def rule_removed(tx: Tx, event: RuleRemoved, record: Recorded) -> None:
    tx.drop(RULES, event.name)
    _put_next_version(tx, event.name.encode())


def options_set(tx: Tx, event: OptionsSet, record: Recorded) -> None:
    _put_next_version(tx, encode(event.options), event.options)


def _put_next_version(tx: Tx, change: bytes, options: Options | None = None) -> None:
    """Another version of the policy. Its digest follows from the one before and the change, so no two are alike."""
    state = get_state(tx)
    digest = hashlib.sha256(state.digest.encode() + change).hexdigest()
    tx.put(STATE, replace(state, digest=digest, version=state.version + 1, options=options or state.options))


def call_judged(tx: Tx, event: CallJudged, record: Recorded) -> None:
    wanted, verdict = event.wanted, event.verdict
    judgement = Judgement(
        id=event.judgement_id,
        at=record.at,
        seq=record.seq,
        wanted=wanted,
        verdict=verdict,
        decision=verdict.decision,
        run_id=get_holder(wanted),
        profile=(wanted.lineage[0].profile if wanted.lineage else None) or "",
        digest=verdict.digest,
        ask_id=event.ask_id,
    )
    tx.put(JUDGEMENTS, judgement)


def judgement_answered(tx: Tx, event: JudgementAnswered, record: Recorded) -> None:
    found = tx.get(JUDGEMENTS, event.judgement_id)
    if found is not None:
        tx.put(JUDGEMENTS, replace(found, answer=event.answer, answered_by=record.by, answered_at=record.at))


def grant_given(tx: Tx, event: GrantGiven, record: Recorded) -> None:
    grant = copy_fields(event, Grant, id=event.grant_id, at=record.at, by=record.by)
    tx.put(GRANTS, grant)


def grant_revoked(tx: Tx, event: GrantRevoked, record: Recorded) -> None:
    tx.drop(GRANTS, event.grant_id)


def money_spent(tx: Tx, event: MoneySpent, record: Recorded) -> None:
    before = tx.get(DAY_COSTS, event.day) or DayCost(day=event.day, usd=0.0)
    tx.put(DAY_COSTS, DayCost(day=event.day, usd=before.usd + event.usd, tokens=before.tokens + event.tokens))


PROJECT: dict[type[Event], Project] = {
    RulePut: rule_put,
    RuleRemoved: rule_removed,
    OptionsSet: options_set,
    CallJudged: call_judged,
    JudgementAnswered: judgement_answered,
    GrantGiven: grant_given,
    GrantRevoked: grant_revoked,
    MoneySpent: money_spent,
}

POLICY_NOUN = Noun(
    name="policy",
    tables=(RULES, STATE, JUDGEMENTS, GRANTS, DAY_COSTS),
    events=tuple(PROJECT),
    decide=DECIDE,
    project=PROJECT,
    sources=(
        "greenroom.rules.policy.model",
        "greenroom.rules.policy.project",
        "greenroom.rules.policy.answer_effects",
        "greenroom.rules.policy.budgets",
    ),
)
