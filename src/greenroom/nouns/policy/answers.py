"""What follows for the policy when a call was judged, and when a person has answered."""

import re

import msgspec

from greenroom.log.codec import encode
from greenroom.log.model import Event, Rows
from greenroom.nouns.policy.book import find_rules
from greenroom.nouns.policy.events import CallJudged, GrantGiven, JudgementAnswered, RulePut
from greenroom.nouns.policy.facts import Facts, facts_of
from greenroom.nouns.policy.match import text_of
from greenroom.nouns.policy.model import JUDGEMENTS, RULES, Decision, Judgement, Rule, Verdict, Wanted
from greenroom.nouns.policy.tables import ADVISORY, COMMAND_ARGUMENTS, kind_of

MAX_KEPT_BYTES = 65_536
BETWEEN = 1000
"""Rules stand so far apart, so that one can be put between two."""
_KEPT_DAYS = 90


def judged_events(judgement_id: str, wanted: Wanted, verdict: Verdict, ask_id: str | None = None) -> list[Event]:
    """Write a judgement down; to be yielded with whatever it leads to. Of long arguments only the digest is kept."""
    if len(encode(wanted.arguments)) > MAX_KEPT_BYTES:
        wanted = msgspec.structs.replace(wanted, arguments={"too_large": True})
    return [CallJudged(judgement_id=judgement_id, wanted=wanted, verdict=verdict, ask_id=ask_id)]


def answered_events(rows: Rows, *, ask_id: str, answer: str, scope: str, seed: str, now: int) -> list[Event]:
    """What a person's answer means for calls to come. `seed` is unique to the answer."""
    found = rows.find(JUDGEMENTS, {"ask_id": ask_id}, limit=1)
    if not found or found[0].answer is not None:
        return []
    judgement = found[0]
    events: list[Event] = [JudgementAnswered(judgement_id=judgement.id, answer=answer)]
    if scope == "rule" and answer in ("approve", "deny"):
        decision: Decision = "allow" if answer == "approve" else "deny"
        name, rule = suggested_rule(judgement.wanted, judgement.verdict, decision, until=now + _KEPT_DAYS * 86_400_000)
        place = next_place(rows)
        events.append(RulePut(name=free_name(rows, name), place=place, rule=rule, source="answer"))
    if answer == "approve":
        wide = "profile" if scope == "profile" and judgement.profile else "run"
        if scope in ("run", "profile") or (scope == "once" and judgement.verdict.once == "run"):
            events.append(_grant(judgement, wide == "profile", f"grt_{seed}", ask_id))
    return events


def _grant(judgement: Judgement, for_profile: bool, grant_id: str, ask_id: str) -> GrantGiven:
    return GrantGiven(
        grant_id=grant_id,
        scope="profile" if for_profile else "run",
        holder=judgement.profile if for_profile else judgement.run_id,
        like=judgement.verdict.like,
        words=judgement.verdict.like_words,
        ask_id=ask_id,
    )


def suggested_rule(wanted: Wanted, verdict: Verdict, decision: Decision, until: int | None = None) -> tuple[str, Rule]:
    """A name and a rule that would answer this call by itself: as narrow as it can be said."""
    facts = facts_of(wanted)
    profile = wanted.lineage[0].profile if wanted.lineage else None
    profiles = [_literal(profile)] if profile else []
    note = f"remembered from an answer about {wanted.tool[:60]}"
    shell = facts.shell if kind_of(wanted.tool) == "execute" and not facts.doubt else None
    if shell is not None and shell.is_plain and not shell.assigns:
        outer = [one for one in shell.commands if not one.is_inner]
        lines = [" ".join(_literal(word or "") for word in one.words) for one in outer]
        if all(" " not in (word or "") and word for one in outer for word in one.words):
            rule = Rule(decision=decision, kinds=["execute"], commands=lines, profiles=profiles, until=until, note=note)
            return _name(decision, lines[0]), rule
    if facts.files and not facts.has_unknown_files and facts.kind in ("read", "search", "write"):
        if facts.is_inside and decision == "allow" and not facts.guarded() and not facts.secret():
            rule = Rule(
                decision=decision, kinds=[facts.kind], where="inside", profiles=profiles, until=until, note=note
            )
            return _name(decision, f"{facts.kind} inside"), rule
        paths = [_literal(file.full) for file in facts.files]
        rule = Rule(decision=decision, kinds=[facts.kind], paths=paths, profiles=profiles, until=until, note=note)
        return _name(decision, f"{facts.kind} {paths[0]}"), rule
    if facts.hosts and facts.kind == "network" and not facts.doubt:
        rule = Rule(
            decision=decision, kinds=["network"], hosts=list(facts.hosts), profiles=profiles, until=until, note=note
        )
        return _name(decision, f"reach {facts.hosts[0]}"), rule
    arguments = _exact(wanted, facts) if facts.shell is not None or facts.doubt or facts.risk == "high" else {}
    rule = Rule(
        decision=decision,
        tools=[_literal(wanted.tool)],
        arguments=arguments,
        profiles=profiles,
        until=until,
        note=note,
    )
    return _name(decision, wanted.tool), rule


def next_place(rows: Rows) -> int:
    """The place behind all other rules."""
    last = rows.find(RULES, order="place", desc=True, limit=1)
    return max(last[0].place if last else 0, 0) + BETWEEN


def place_before(rows: Rows, name: str) -> int | None:
    """A free place before a rule that is not of the file; None when there is none left."""
    own = [kept for kept in find_rules(rows) if kept.source != "file"]
    for number, kept in enumerate(own):
        if kept.name == name:
            low = own[number - 1].place if number else kept.place - 2 * BETWEEN
            middle = (low + kept.place) // 2
            return middle if low < middle < kept.place and middle > 0 else None
    return None


def free_name(rows: Rows, name: str) -> str:
    """The name, or the first like it that no rule has."""
    number, free = 1, name
    while rows.get(RULES, free) is not None:
        number += 1
        free = f"{name}-{number}"
    return free


def _exact(wanted: Wanted, facts: Facts) -> dict[str, str]:
    """Every argument as it is; words that are only for people make no other call of a command."""
    arguments = wanted.arguments if isinstance(wanted.arguments, dict) else {}
    said = ADVISORY if facts.shell is not None and any(name in arguments for name in COMMAND_ARGUMENTS) else frozenset()
    return {name: _literal(text_of(value)) for name, value in arguments.items() if name not in said}


def _literal(text: str) -> str:
    """A pattern that stands for a text and for nothing else."""
    return re.sub(r"([*?\\])", r"\\\1", text)


def _name(decision: str, words: str) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")[:40].strip("-")
    return f"{decision}-{slug or 'call'}"
