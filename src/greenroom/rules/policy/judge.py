"""Judges whether a call may run. It is pure, and any error inside it refuses the call."""

import hashlib
import logging

import msgspec

from greenroom.link.policy_facts.call_request import CallRequest, LineageEntry, Risk
from greenroom.link.profile_definition import ProfileDefinition
from greenroom.log.codec import encode
from greenroom.log.model import Rows
from greenroom.rules.agents.profiles import PROFILES
from greenroom.rules.policy.budgets import apply_budget, describe_repeats
from greenroom.rules.policy.compiled_rule import OUTSIDE_PROFILE
from greenroom.rules.policy.globs import Glob
from greenroom.rules.policy.model import GRANTS, STRICTNESS, TRIED, Decision, Options, Rule, Verdict
from greenroom.rules.policy.rule_set import RuleSet, get_rule_set
from greenroom.runtimes.call_facts import CallFacts, read_call_facts
from greenroom.sentences import Sentence, Words, build_sentence

logger = logging.getLogger(__name__)
_MOST_LIKE = 200
_STRICTEST = ProfileDefinition(driver="", approvals="always")
"""How a profile counts that is not there any more."""
_OUTSIDE = ProfileDefinition(driver="")
"""How an agent counts that came from outside and has no profile."""
_BY_RULE: dict[Decision, str] = {
    "allow": "judged.rule_allows",
    "deny": "judged.rule_denies",
    "ask": "judged.rule_asks",
}
_BY_RULE_WITH_NOTE: dict[Decision, str] = {
    "allow": "judged.rule_allows_note",
    "deny": "judged.rule_denies_note",
    "ask": "judged.rule_asks_note",
}
RISKS: dict[Risk, int] = {"low": 0, "medium": 1, "high": 2}


def judge(rows: Rows, wanted: CallRequest, now: int) -> Verdict:
    """What the policy says of a call."""
    try:
        book, options = get_rule_set(rows)
        verdict = judge_by_rules(rows, book, options, wanted, now)
        return _apply_limits(rows, options, wanted, _get_first_entry(wanted), verdict, now)
    except Exception as error:
        logger.exception("the policy failed at a call of %s", wanted.tool[:100])
        why = build_sentence("judged.failed", error=type(error).__name__)
        return Verdict(decision="deny", risk="high", rule="error", why=why)


def is_refused_despite_approval(verdict: Verdict) -> bool:
    """Whether a call must not run although a person approved it; the person saw reasons that come from counting."""
    return verdict.decision == "deny" and not verdict.rule.startswith(("budget.", "loop"))


def judge_by_rules(rows: Rows, book: RuleSet, options: Options, wanted: CallRequest, now: int) -> Verdict:
    """What rules and profiles say, without earlier answers and counts."""
    facts = read_call_facts(wanted)
    lineage = wanted.lineage or [_get_first_entry(wanted)]
    found = [_judge_for_entry(rows, book, options, wanted, facts, place, now) for place in lineage]
    verdict = max(found, key=lambda one: STRICTNESS[one.decision])
    verdict = verdict if verdict is found[0] or found[0].decision != verdict.decision else found[0]
    once = "run" if all(one.once == "run" for one in found if one.decision == "ask") else ""
    risk, why = _raise_tainted_risk(lineage, verdict)
    like, words = _build_like_key(wanted, facts, risk)
    return msgspec.structs.replace(
        verdict,
        risk=risk,
        why=why,
        once=once if verdict.decision == "ask" else "",
        like=like,
        like_words=words,
        kind=facts.kind,
        digest=facts.digest,
    )


def _get_first_entry(wanted: CallRequest) -> LineageEntry:
    return wanted.lineage[0] if wanted.lineage else LineageEntry(profile=None)


def _judge_for_entry(
    rows: Rows, book: RuleSet, options: Options, wanted: CallRequest, facts: CallFacts, place: LineageEntry, now: int
) -> Verdict:
    """What holds for one run of the line: as if it made the call itself."""
    definition = _get_definition(rows, place)
    name = f"profile.{place.profile or OUTSIDE_PROFILE}"
    refused = _explain_refusal(wanted, facts, place, definition)
    if refused:
        return _build_verdict("deny", facts, name, refused)
    found = book.find(wanted, facts, place, now, options.timezone)
    if found is not None and found.rule.rule.decision == "deny" and found.is_sure:
        return _build_rule_verdict(facts, found.rule.name, found.rule.rule)
    if definition.approvals == "always":
        return _build_verdict("ask", facts, name, build_sentence("judged.always"))
    if found is not None and not found.is_sure:
        doubt = facts.unsure or build_sentence("doubt.partly_unknown")
        why = build_sentence("judged.rule_unsure", rule=_name_rule(found.rule.name), doubt=doubt)
        return Verdict(decision="ask", risk="high", rule=found.rule.name, why=why)
    if found is not None:
        rule = found.rule.rule
        verdict = _build_rule_verdict(facts, found.rule.name, rule)
        return msgspec.structs.replace(verdict, once=rule.once if rule.decision == "ask" else "")
    if _is_named(definition.allowed_tools, wanted.tool):
        return _build_verdict("allow", facts, name, build_sentence("judged.profile_allows"))
    if definition.approvals == "never":
        return _build_verdict("allow", facts, name, build_sentence("judged.never"))
    return _judge_by_default(facts, wanted.contested)


def _get_definition(rows: Rows, place: LineageEntry) -> ProfileDefinition:
    if place.profile is None:
        return _OUTSIDE
    profile = rows.get(PROFILES, place.profile)
    return profile.definition if profile is not None else _STRICTEST


def _explain_refusal(
    wanted: CallRequest, facts: CallFacts, place: LineageEntry, definition: ProfileDefinition
) -> Sentence | None:
    """Why a call is out of the question, whatever the rules allow; None when it is not."""
    if wanted.own or facts.get_hub_file():
        return build_sentence("judged.hub_files")
    if definition.approvals == "deny":
        return build_sentence("judged.profile_denies_all")
    if _is_named(definition.denied_tools, wanted.tool):
        return build_sentence("judged.profile_denies")
    if place.allowed_tools is not None and not _is_named(place.allowed_tools, wanted.tool):
        return build_sentence("judged.narrowed")
    does = facts.kind
    if not definition.may_write and (does == "write" or (does == "execute" and facts.shell and facts.shell.writes)):
        return build_sentence("judged.no_write")
    if not definition.may_execute and does == "execute":
        return build_sentence("judged.no_execute")
    if not definition.may_network and (does == "network" or facts.hosts or facts.has_unknown_hosts):
        return build_sentence("judged.no_network")
    return None


def _judge_by_default(facts: CallFacts, contested: Words) -> Verdict:
    """What holds where no rule says anything: safe, and quiet where it can be."""
    guarded, secret = facts.get_guarded_file(), facts.get_secret()
    if facts.doubt:
        return _build_verdict(
            "ask", facts, "default.uninspectable", build_sentence("judged.uninspectable", doubt=facts.doubt)
        )
    match facts.kind:
        case "hub":
            return _build_verdict("allow", facts, "default.hub", build_sentence("judged.hub"))
        case "plan":
            return _build_verdict("allow", facts, "default.plan", build_sentence("judged.plan"))
        case "read" | "search" if secret:
            return _build_verdict("ask", facts, "default.secret", build_sentence("judged.secret", file=secret))
        case "read" | "search" if facts.is_inside:
            return _build_verdict("allow", facts, "default.read", build_sentence("judged.read"))
        case "read" | "search":
            return _build_verdict("ask", facts, "default.read_outside", build_sentence("judged.read_outside"))
        case "write" if guarded:
            return _build_verdict("ask", facts, "default.guarded", build_sentence("judged.guarded", file=guarded.text))
        case "write" if facts.is_inside and contested:
            return _build_verdict(
                "ask", facts, "default.contested", build_sentence("judged.contested", conflict=contested)
            )
        case "write" if facts.is_inside:
            verdict = _build_verdict("ask", facts, "default.write", build_sentence("judged.write"))
            return msgspec.structs.replace(verdict, once="run")
        case "write":
            return _build_verdict("ask", facts, "default.write_outside", build_sentence("judged.write_outside"))
        case "execute" if facts.only_reads and facts.is_inside and not secret:
            return _build_verdict("allow", facts, "default.read", build_sentence("judged.only_reads"))
        case "execute":
            return _build_verdict("ask", facts, "default.execute", facts.danger or build_sentence("judged.execute"))
        case "network":
            return _build_verdict("ask", facts, "default.network", build_sentence("judged.network"))
    if facts.risk == "low":
        return _build_verdict("allow", facts, "default.low", build_sentence("judged.harmless"))
    return _build_verdict("ask", facts, "default.unknown", build_sentence("judged.unknown"))


def _apply_limits(
    rows: Rows, options: Options, wanted: CallRequest, place: LineageEntry, verdict: Verdict, now: int
) -> Verdict:
    """A verdict after earlier answers, loops and budgets."""
    if verdict.decision == "deny":
        return verdict
    looping = describe_repeats(rows, options, wanted, verdict.digest, now)
    if looping:
        return msgspec.structs.replace(verdict, decision="ask", risk="high", rule="loop", why=looping, once="")
    over = apply_budget(rows, options, wanted, place, verdict, now)
    if over is not None:
        return over
    if verdict.decision != "ask":
        return verdict
    for holder in (wanted.agent_id if place.run is None else place.run, place.profile):
        granted = rows.find(GRANTS, {"holder": holder, "like": verdict.like}, limit=1) if holder else []
        if granted:
            grant = granted[0]
            why = (
                build_sentence("judged.granted_run", name=grant.by, calls=grant.words)
                if grant.scope == "run"
                else build_sentence("judged.granted_profile", name=grant.by, profile=grant.holder, calls=grant.words)
            )
            return msgspec.structs.replace(verdict, decision="allow", rule=f"grant.{grant.id}", why=why, once="")
    return verdict


def _raise_tainted_risk(lineage: list[LineageEntry], verdict: Verdict) -> tuple[Risk, Words]:
    """The risk of a call, and why: a level higher if the run, or one above it, is tainted."""
    taint = next((place.taint for place in lineage if place.taint), "")
    if not taint:
        return verdict.risk, verdict.why
    risk: Risk = "high" if RISKS[verdict.risk] else "medium"
    return risk, build_sentence("judged.tainted", why=verdict.why, source=taint)


def _build_like_key(wanted: CallRequest, facts: CallFacts, risk: Risk) -> tuple[str, Sentence]:
    """The key of all calls that one approval would cover, and a description of them."""
    subject: list[object]
    words: Sentence
    if (
        facts.doubt
        or wanted.contested
        or facts.get_guarded_file()
        or facts.get_secret()
        or "high" in (facts.risk, risk)
    ):
        subject, words = _build_exact_subject(wanted, facts), build_sentence("like.call")
    elif facts.kind == "write" and facts.is_inside:
        subject, words = ["write", wanted.directory], build_sentence("like.write_inside")
    elif facts.kind in ("read", "search") and facts.files:
        names = sorted(file.real for file in facts.files)
        subject, words = ["read", *names], build_sentence("like.read", files=names)
    elif facts.kind == "network" and facts.hosts:
        subject, words = ["network", *sorted(facts.hosts)], build_sentence("like.hosts", hosts=sorted(facts.hosts))
    elif facts.kind in ("other", "network"):
        subject, words = ["tool", wanted.server, wanted.tool], build_sentence("like.tool", tool=wanted.tool)
    else:
        subject, words = _build_exact_subject(wanted, facts), build_sentence("like.call")
    if len(str(words)) > _MOST_LIKE:  # nobody would see all that they allow
        subject, words = _build_exact_subject(wanted, facts), build_sentence("like.call")
    return hashlib.sha256(encode(subject)).hexdigest()[:32], words


def _build_exact_subject(wanted: CallRequest, facts: CallFacts) -> list[object]:
    """One call, where it runs, and where the paths in it lead that say something else."""
    elsewhere = sorted({(file.full, file.real) for file in facts.files if file.real != file.full})
    return ["call", facts.digest, wanted.directory, *elsewhere]


def _is_named(patterns: list[str], tool: str) -> bool:
    return any(pattern == tool or Glob(pattern).fits(tool) for pattern in patterns)


def _build_verdict(decision: Decision, facts: CallFacts, rule: str, why: Words) -> Verdict:
    return Verdict(decision=decision, risk=facts.risk, rule=rule, why=why)


def _build_rule_verdict(facts: CallFacts, name: str, rule: Rule) -> Verdict:
    note = rule.note.rstrip(".") if isinstance(rule.note, str) else rule.note
    why = (
        build_sentence(_BY_RULE_WITH_NOTE[rule.decision], rule=_name_rule(name), note=note)
        if note
        else build_sentence(_BY_RULE[rule.decision], rule=_name_rule(name))
    )
    return Verdict(decision=rule.decision, risk=rule.risk or facts.risk, rule=name, why=why)


def _name_rule(name: str) -> Words:
    return build_sentence("judged.tried_rule") if name == TRIED else name
