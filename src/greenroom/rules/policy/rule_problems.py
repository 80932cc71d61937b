"""What is wrong with a rule as it is written, before any call is compared with it."""

from greenroom.expressions import BadExpression, compile_expression
from greenroom.link.policy_facts.known_tools import KINDS
from greenroom.rules.policy.compiled_rule import CEL_NAMES, DAYS, HOURS
from greenroom.rules.policy.model import Rule
from greenroom.sentences import Sentence, build_sentence
from greenroom.validation import build_named_problem

_MOST_PATTERNS = 500
_LONGEST_PATTERN = 1000


def find_rule_problems(rule: Rule) -> list[Sentence]:
    """What is wrong with a rule, each with its key and what to write instead."""
    out: list[Sentence] = []
    if rule.when:
        try:
            compile_expression(rule.when, CEL_NAMES, condition=True)
        except BadExpression as error:
            out.append(build_named_problem("when", error.said))
    out += [_build_unknown("kinds", kind, KINDS) for kind in rule.kinds if kind not in KINDS]
    out += [_build_unknown("days", day, DAYS) for day in rule.days if day not in DAYS]
    for name in ("min_depth", "max_depth"):
        if (getattr(rule, name) or 0) < 0:
            out.append(build_named_problem(name, build_sentence("rule_problem.from_zero")))
    if rule.hours and not HOURS.fullmatch(rule.hours):
        out.append(build_named_problem("hours", build_sentence("rule_problem.hours")))
    if rule.once and rule.decision != "ask":
        out.append(build_named_problem("once", build_sentence("rule_problem.once")))
    wrong = (_find_command_problem(rule, pattern) for pattern in rule.commands)
    out += [build_named_problem("commands", one) for one in wrong if one is not None]
    for name in ("tools", "profiles", "hosts", "paths", "directories", "calls", "threads", "runs"):
        empty = build_named_problem(name, build_sentence("rule_problem.empty_text"))
        out += [empty for one in getattr(rule, name) if not one.strip()]
    return out + _find_excess(rule)


def _build_unknown(name: str, value: str, choices: tuple[str, ...]) -> Sentence:
    return build_named_problem(name, build_sentence("rule_problem.unknown_kind", value=value, choices=choices))


def _find_command_problem(rule: Rule, pattern: str) -> Sentence | None:
    words = pattern.split()
    if not words:
        return build_sentence("rule_problem.empty_command")
    if "**" in words[:-1] or words[0] == "**":
        return build_sentence("rule_problem.wildcard_last", pattern=pattern)
    if rule.decision == "allow" and not set(words[0]).isdisjoint("*?["):
        return build_sentence("rule_problem.needs_program", pattern=pattern)
    return None


def _find_excess(rule: Rule) -> list[Sentence]:
    """Lists and patterns that are too long: every call is compared with all of them."""
    out = []
    for name in rule.__struct_fields__:
        value = getattr(rule, name)
        texts = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
        if len(texts) > _MOST_PATTERNS:
            out.append(build_named_problem(name, build_sentence("rule_problem.too_many", limit=_MOST_PATTERNS)))
        elif any(len(text) > _LONGEST_PATTERN for text in texts):
            out.append(build_named_problem(name, build_sentence("rule_problem.too_long", limit=_LONGEST_PATTERN)))
    return out
