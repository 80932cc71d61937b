"""Tries rules on earlier calls, and suggests rules from people's answers."""

from collections import defaultdict

import msgspec

from greenroom.link.policy_facts.call_request import LineageEntry
from greenroom.log.codec import encode
from greenroom.log.copied_fields import copy_fields
from greenroom.log.model import Rows
from greenroom.rules.policy.answer_effects import find_free_rule_name
from greenroom.rules.policy.compiled_rule import CompiledRule
from greenroom.rules.policy.judge import judge_by_rules
from greenroom.rules.policy.model import JUDGEMENTS, TRIED, Decision, Judgement, KeptRule, Rule
from greenroom.rules.policy.remembered_rule import RuleChoice, build_remembered_rule
from greenroom.rules.policy.rule_set import RuleSet, find_rules, get_state, rule_not_found
from greenroom.runtimes.call_facts import read_call_facts
from greenroom.sentences import Sentence, Words, build_sentence

_LOOKED_AT = 1000
_MOST_SUGGESTED = 20
_SUGGESTED: dict[Decision, str] = {"allow": "suggested.approve", "deny": "suggested.deny"}


class TrialLine(msgspec.Struct, frozen=True, kw_only=True):
    """One call that was judged before, and the verdict that it would get now."""

    judgement_id: str
    at: int
    tool: str
    words: str
    profile: str
    run_id: str
    was: str
    """allow, deny or ask, as it was judged then."""
    answer: str | None
    """What a person said, if one was asked."""
    would: str
    fits: str
    """Whether the rule on trial matches the call: yes, no or maybe."""
    rule: str
    why: Words
    sentences: dict[str, Sentence] = {}


class RuleTrial(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule would have answered."""

    judged: int
    fitting: int
    changed: int
    against_people: int
    """Calls that it would have allowed or refused against what a person said."""
    answers: dict[str, int]
    lines: list[TrialLine]


class Suggestion(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that would have given the answers that people gave again and again."""

    name: str
    rule: Rule
    times: int
    words: Words
    sentences: dict[str, Sentence] = {}


def try_rule(rows: Rows, rule: Rule | None, name: str | None, last: int, *, is_all: bool) -> RuleTrial:
    """Judge the last calls again with a rule added, or in the place of the one that has its name."""
    kept = find_rules(rows)
    if rule is not None:
        own = KeptRule(name=name or TRIED, place=0, rule=rule, source="api", changed_at=0, by="")
        places = [number for number, one in enumerate(kept) if one.name == name]
        kept = [own if one.name == name else one for one in kept] if places else [*kept, own]
    elif name is not None and all(one.name != name for one in kept):
        raise rule_not_found(rows, name)
    tried = next((one for one in kept if one.name == (name or TRIED)), None)
    compiled = CompiledRule(tried.name, tried.rule) if tried is not None else None
    book, options = RuleSet(kept), get_state(rows).options
    where = None if is_all else {"decision": "ask"}
    lines = []
    for past in rows.find(JUDGEMENTS, where, order="seq", desc=True, limit=last):
        verdict = judge_by_rules(rows, book, options, past.wanted, past.at)
        fits = "no"
        facts = read_call_facts(past.wanted)
        place = past.wanted.lineage[0] if past.wanted.lineage else LineageEntry(profile=None)
        if compiled is not None and compiled.may_fit(past.wanted.tool, facts.kind, place.profile):
            fits = compiled.fits(past.wanted, facts, place, past.at, options.timezone)
        lines.append(_build_line(past, verdict.decision, fits, verdict.rule, verdict.why))
    return RuleTrial(
        judged=len(lines),
        fitting=sum(line.fits != "no" for line in lines),
        changed=sum(line.would != line.was for line in lines),
        against_people=sum(_is_against(line) for line in lines),
        answers={decision: sum(line.would == decision for line in lines) for decision in ("allow", "deny", "ask")},
        lines=lines,
    )


def _build_line(past: Judgement, would: str, fits: str, rule: str, why: Words) -> TrialLine:
    return copy_fields(
        past,
        TrialLine,
        judgement_id=past.id,
        tool=past.wanted.tool,
        words=summarize_call(past),
        was=past.decision,
        would=would,
        fits=fits,
        rule=rule,
        why=why,
    )


def _is_against(line: TrialLine) -> bool:
    return (line.would, line.answer) in (("allow", "deny"), ("deny", "approve"))


def summarize_call(past: Judgement) -> str:
    """A call in few words: its command, file or address."""
    arguments = past.wanted.arguments
    if not isinstance(arguments, dict):
        return ""
    for name in ("command", "cmd", "file_path", "path", "url", "title", "query"):
        if isinstance(arguments.get(name), str):
            return str(arguments[name])[:200]
    return ""


def find_suggestions(rows: Rows, least: int = 3) -> list[Suggestion]:
    """Rules for what people have answered alike, at least so many times, and never otherwise."""
    alike: dict[bytes, list[Judgement]] = defaultdict(list)
    for past in rows.find(JUDGEMENTS, {"decision": "ask"}, order="seq", desc=True, limit=_LOOKED_AT):
        if past.answer in ("approve", "deny") and not past.verdict.rule.startswith(("loop", "budget.")):
            _, rule = _build_narrowest_rule(past, "allow")
            alike[encode(msgspec.structs.replace(rule, directories=[]))].append(past)
    book, options = RuleSet(find_rules(rows)), get_state(rows).options
    found: list[Suggestion] = []
    for several in alike.values():
        newest = several[0]
        if len(several) < least or len({past.answer for past in several}) > 1:
            continue
        if judge_by_rules(rows, book, options, newest.wanted, newest.at).decision != "ask":
            continue  # a rule answers it already
        if newest.answer == "approve" and newest.verdict.risk == "high":
            continue  # only a person who looks at a high-risk call may allow it permanently
        decision: Decision = "allow" if newest.answer == "approve" else "deny"
        name, rule = _build_narrowest_rule(newest, decision)
        if any(_build_narrowest_rule(past, decision)[1].directories != rule.directories for past in several):
            rule = msgspec.structs.replace(rule, directories=[])
        words = build_sentence(_SUGGESTED[decision], times=len(several))
        found.append(Suggestion(name=find_free_rule_name(rows, name), rule=rule, times=len(several), words=words))
    return sorted(found, key=lambda one: -one.times)[:_MOST_SUGGESTED]


def _build_narrowest_rule(past: Judgement, decision: Decision) -> tuple[str, Rule]:
    """A rule for this call and no other, which holds until it is removed."""
    made = build_remembered_rule(past, decision, RuleChoice(), past.at)
    return made.name, msgspec.structs.replace(made.rule, until=None)
