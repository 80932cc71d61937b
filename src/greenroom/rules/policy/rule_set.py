"""All rules together, compiled once for each version of the policy."""

from collections import OrderedDict
from typing import NamedTuple

from greenroom.errors import Refused
from greenroom.link.policy_facts.call_request import CallKind, CallRequest, LineageEntry
from greenroom.log.codec import encode
from greenroom.log.model import Rows
from greenroom.rules.policy.compiled_rule import CompiledRule
from greenroom.rules.policy.model import RULES, STATE, THE, KeptRule, Options, PolicyState
from greenroom.runtimes.call_facts import CallFacts
from greenroom.validation import get_nearest

_books: "OrderedDict[str, RuleSet]" = OrderedDict()
_MOST_BOOKS = 8
_compiled: dict[tuple[str, bytes], CompiledRule] = {}
_MOST_COMPILED = 10_000
_MOST_SUCH = 1000


class RuleMatch(NamedTuple):
    """The rule that decides, and whether it only might be about the call."""

    rule: CompiledRule
    is_sure: bool


class RuleSet:
    """The rules in their order. A deny that matches wins over every rule before it."""

    def __init__(self, rules: list[KeptRule]) -> None:
        self._rules = [_compile(kept) for kept in rules]
        self._about_such: dict[tuple[str, str, str | None], list[CompiledRule]] = {}

    def find(self, wanted: CallRequest, facts: CallFacts, place: LineageEntry, now: int, zone: str) -> RuleMatch | None:
        """What the rules say of a call; None when none is about it."""
        first: CompiledRule | None = None
        doubtful: CompiledRule | None = None
        for one in self._find_candidates(wanted.tool, facts.kind, place.profile):
            if one.rule.decision != "deny" and (first is not None or doubtful is not None):
                continue
            fit = one.fits(wanted, facts, place, now, zone)
            if one.rule.decision == "deny":
                if fit == "yes":
                    return RuleMatch(one, True)
                if fit == "maybe" and (doubtful is None or doubtful.rule.decision != "deny"):
                    doubtful = one
            elif fit == "yes":
                first = one
            elif fit == "maybe":
                doubtful = doubtful or one
        if doubtful is not None:
            return RuleMatch(doubtful, False)
        return None if first is None else RuleMatch(first, True)

    def _find_candidates(self, tool: str, kind: CallKind, profile: str | None) -> list[CompiledRule]:
        such = (tool, kind, profile)
        found = self._about_such.get(such)
        if found is None:
            if len(self._about_such) >= _MOST_SUCH:
                self._about_such.clear()
            found = self._about_such[such] = [rule for rule in self._rules if rule.may_fit(*such)]
        return found


def _compile(kept: KeptRule) -> CompiledRule:
    """A rule made ready. Those of earlier versions are kept: of hundreds of rules one has changed."""
    content = (kept.name, encode(kept.rule))
    found = _compiled.get(content)
    if found is None:
        while len(_compiled) >= _MOST_COMPILED:
            del _compiled[next(iter(_compiled))]
        found = _compiled[content] = CompiledRule(kept.name, kept.rule)
    return found


def get_state(rows: Rows) -> PolicyState:
    """The policy as a whole."""
    return rows.get(STATE, THE) or PolicyState(id=THE, digest="")


def get_rule_set(rows: Rows) -> tuple[RuleSet, Options]:
    """The rules as they stand. The digest names their content, so that a book is made once for each."""
    state = get_state(rows)
    book = _books.get(state.digest)
    if book is None:
        book = RuleSet(find_rules(rows))
        _books[state.digest] = book
        while len(_books) > _MOST_BOOKS:
            _books.popitem(last=False)
    return book, state.options


def find_rules(rows: Rows) -> list[KeptRule]:
    """All rules in their order."""
    return rows.find(RULES, order="place")


def rule_not_found(rows: Rows, name: str) -> Refused:
    """The refusal of a name that no rule has, with the one that was probably meant."""
    near = get_nearest(name, [one.name for one in find_rules(rows)])
    if near is not None:
        return Refused("rule_not_found.near", "not_found", name=name[:80], near=near)
    return Refused("rule_not_found", "not_found", name=name[:80])
