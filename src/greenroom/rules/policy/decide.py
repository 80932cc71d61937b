"""The rules for changing the policy: only an operator may."""

import re
import zoneinfo

import msgspec

from greenroom.errors import Refused
from greenroom.log.copied_fields import copy_fields
from greenroom.log.model import Command, Context, Decide, Event, Rows
from greenroom.rules.access.decide import need_principal
from greenroom.rules.access.queries import need_right
from greenroom.rules.policy.answer_effects import (
    PLACE_GAP,
    build_judgement_events,
    compute_last_place,
    get_place_before,
)
from greenroom.rules.policy.commands import JudgeCall, LoadRules, PutRule, RemoveRule, RevokeGrant
from greenroom.rules.policy.events import GrantRevoked, OptionsSet, RulePut, RuleRemoved
from greenroom.rules.policy.judge import judge
from greenroom.rules.policy.model import GRANTS, RULES, KeptRule, Options, Rule
from greenroom.rules.policy.rule_problems import find_rule_problems
from greenroom.rules.policy.rule_set import find_rules, get_state, rule_not_found
from greenroom.sentences import Sentence, build_sentence
from greenroom.validation import build_named_problem

MAX_RULES = 5000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_FILE_PLACE = -10_000_000
"""Rules of the file come before all others, in the order of the file."""


def find_named_rule_problems(name: str, rule: Rule) -> list[Sentence]:
    """What is wrong with a rule and its name."""
    out = [] if _NAME.fullmatch(name) else [build_named_problem("name", build_sentence("rule_problem.name"))]
    if name.startswith(("default.", "profile.", "budget.", "grant.")) or name in ("loop", "error"):
        out.append(build_named_problem("name", build_sentence("rule_problem.own_name", name=name)))
    return out + find_rule_problems(rule)


def find_option_problems(options: Options) -> list[Sentence]:
    """What is wrong with the policy's options."""
    out = []
    try:
        zoneinfo.ZoneInfo(options.timezone)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        said = build_sentence("rule_problem.timezone", name=options.timezone[:60])
        out.append(build_named_problem("timezone", said))
    if options.loop_times < 0 or options.loop_times == 1:
        out.append(build_named_problem("loop_times", build_sentence("rule_problem.loop_times")))
    if options.loop_window_s < 1:
        out.append(build_named_problem("loop_window_s", build_sentence("rule_problem.from_one")))
    if options.contested_s < 0:
        out.append(build_named_problem("contested_s", build_sentence("rule_problem.contested_s")))
    budget = msgspec.structs.asdict(options.budget)
    from_zero = build_sentence("rule_problem.from_zero")
    return out + [build_named_problem(f"budget.{name}", from_zero) for name, most in budget.items() if (most or 0) < 0]


def put_rule(rows: Rows, command: PutRule, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    wrong = find_named_rule_problems(command.name, command.rule)
    if wrong:
        raise Refused("bad_rule", details={"problems": list(map(str, wrong))}, name=command.name[:64], problems=wrong)
    found = rows.get(RULES, command.name)
    if found is not None and found.source == "file":
        raise Refused("rule_in_file.change", "conflict", name=command.name)
    if found is not None and command.before is None:
        if found.rule == command.rule:
            return []
        return [copy_fields(command, RulePut, place=found.place)]
    if found is None and rows.count(RULES) >= MAX_RULES:
        raise Refused("too_many_rules", "limited", limit=MAX_RULES)
    return _place_rule(rows, command)


def _place_rule(rows: Rows, command: PutRule) -> list[Event]:
    """The rule in a place of its own; where there is none left, the rules are renumbered."""
    put = copy_fields(command, RulePut, place=compute_last_place(rows))
    if not command.before:
        return [put]
    if _need_rule(rows, command.before).source == "file":
        raise Refused("no_place", "conflict", before=command.before)
    place = get_place_before(rows, command.before)
    if place is not None:
        return [msgspec.structs.replace(put, place=place)]
    order: list[KeptRule | RulePut] = []
    for kept in find_rules(rows):
        if kept.name == command.before:
            order.append(put)
        if kept.source != "file" and kept.name != command.name:
            order.append(kept)
    apart = [(one, (number + 1) * PLACE_GAP) for number, one in enumerate(order)]
    return [copy_fields(one, RulePut, place=place) for one, place in apart if one is put or one.place != place]


def remove_rule(rows: Rows, command: RemoveRule, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    found = _need_rule(rows, command.name)
    if found.source == "file":
        raise Refused("rule_in_file.remove", "conflict", name=command.name)
    return [RuleRemoved(name=found.name)]


def load_rules(rows: Rows, command: LoadRules, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    events: list[Event] = []
    if get_state(rows).options != command.options:
        events.append(OptionsSet(options=command.options))
    known = {kept.name: kept for kept in find_rules(rows)}
    wanted = {name for name, _ in command.rules}
    events += [
        RuleRemoved(name=kept.name) for kept in known.values() if kept.source == "file" and kept.name not in wanted
    ]
    for number, (name, rule) in enumerate(command.rules):
        put = RulePut(name=name, place=_FILE_PLACE + number, rule=rule, source="file")
        found = known.get(name)
        if found is None or (found.place, found.rule, found.source) != (put.place, put.rule, put.source):
            events.append(put)
    return events


def revoke_grant(rows: Rows, command: RevokeGrant, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    if rows.get(GRANTS, command.grant_id) is None:
        raise Refused("grant_not_found", "not_found")
    return [GrantRevoked(grant_id=command.grant_id)]


def judge_call(rows: Rows, command: JudgeCall, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    return build_judgement_events(command.judgement_id, command.wanted, judge(rows, command.wanted, context.now))


def _need_rule(rows: Rows, name: str) -> KeptRule:
    found = rows.get(RULES, name)
    if found is None:
        raise rule_not_found(rows, name)
    return found


DECIDE: dict[type[Command], Decide] = {
    PutRule: put_rule,
    RemoveRule: remove_rule,
    LoadRules: load_rules,
    RevokeGrant: revoke_grant,
    JudgeCall: judge_call,
}
