"""Turns an answer into a rule: the possible scopes, and the rule itself.

The narrowest choice, which is the default, covers the call that was answered and no other.
"""

import posixpath
import re
from typing import Literal

import msgspec

from greenroom.errors import Refused
from greenroom.link.policy_facts.arguments import find_command
from greenroom.link.policy_facts.call_request import CallRequest, Risk
from greenroom.link.policy_facts.known_tools import takes_commands
from greenroom.link.policy_facts.shell_parser import OTHER_SHELLS, SHELLS, SimpleCommand
from greenroom.link.policy_facts.wrappers import find_inner
from greenroom.rules.policy.compiled_rule import OUTSIDE_PROFILE
from greenroom.rules.policy.model import Decision, Judgement, Rule
from greenroom.runtimes.call_facts import CallFacts, build_exact_key, read_call_facts
from greenroom.sentences import Sentence, Words, build_sentence

AxisName = Literal["what", "who", "where", "lasts"]
Code = Literal[
    "command",
    "call",
    "program",
    "safe_program",
    "read_file",
    "write_file",
    "read_files",
    "write_files",
    "host",
    "tool",
    "profiles",
    "all",
    "own",
    "folder",
    "anywhere",
    "run",
    "30d",
    "90d",
    "always",
]
_DAY_MS = 86_400_000
_NOTE = 300
_DAYS = {"30d": 30, "90d": 90}
_READS = ("read", "search")
_SAFE = 'risk != "high"'
"""Other arguments may name files elsewhere, or do lasting harm: those calls still ask."""


class RuleChoice(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The scope of a remembered answer. By default it is as narrow as the call, for 90 days."""

    what: Literal["exact", "program", "files", "host", "tool"] = "exact"
    """This call; its program with other arguments; any file of the folder; its host; every call of its tool."""
    who: Literal["profile", "all"] = "profile"
    where: Literal["folder", "anywhere"] = "folder"
    lasts: Literal["run", "30d", "90d", "always"] = "90d"
    risk: Literal["", "high"] = ""
    """`high` says that you have seen the risk; without it a call of high risk becomes no rule that allows."""


class Phrase(msgspec.Struct, frozen=True):
    """One choice, and its wording: the code of its words, and their parameters."""

    choice: str
    code: Code
    value: str = ""


class Axis(msgspec.Struct, frozen=True):
    """What can be chosen in one respect, narrowest first."""

    name: AxisName
    options: list[Phrase]


class RememberedRule(msgspec.Struct, frozen=True, kw_only=True):
    """The rule that an answer would make."""

    name: str
    rule: Rule
    choice: RuleChoice
    axes: list[Axis]
    risk: Risk
    """The risk of the call; a call of high risk becomes a rule that allows only when the choice names the risk."""
    why: Words
    sentences: dict[str, Sentence] = {}


def build_remembered_rule(past: Judgement, decision: Decision, choice: RuleChoice, now: int) -> RememberedRule:
    """The rule for an answer to a judged call; refuses a choice that the call does not offer."""
    facts = read_call_facts(past.wanted)
    what = Axis("what", _find_whats(past, facts, decision))
    choice = _apply_choice(what, choice)
    others = [
        Axis("who", _find_whos(past, decision)),
        Axis("where", _find_wheres(past, facts, decision, choice)),
        Axis("lasts", _find_spans(past, decision)),
    ]
    axes = [axis for axis in (what, *others) if axis.options]
    for axis in others:
        choice = _apply_choice(axis, choice)
    bare = _build_condition(past, facts, decision, choice)
    call = _shorten(what.options[0].value if bare.calls else past.wanted.tool)
    rule = msgspec.structs.replace(
        bare,
        profiles=[_escape_pattern(name) for name in _find_profiles(past.wanted)] if choice.who == "profile" else [],
        directories=_find_directories(past.wanted) if others[1].options and choice.where == "folder" else [],
        runs=[place.run for place in past.wanted.lineage if place.run] if choice.lasts == "run" else [],
        until=now + _DAYS[choice.lasts] * _DAY_MS if choice.lasts in _DAYS else None,
        note=build_sentence("rule_note.remembered", call=call),
    )
    return RememberedRule(
        name=_build_rule_name(decision, next(one for one in what.options if one.choice == choice.what)),
        rule=rule,
        choice=choice,
        axes=axes,
        risk=past.verdict.risk,
        why=past.verdict.why,
    )


def need_seen_risk(past: Judgement, decision: Decision, choice: RuleChoice) -> None:
    """Refuse to allow calls of high risk forever by a choice that does not name the risk."""
    if decision == "allow" and past.verdict.risk == "high" and choice.risk != "high":
        raise Refused("risk_not_named", "conflict")


def _apply_choice(axis: Axis, choice: RuleChoice) -> RuleChoice:
    """The choice on this axis. The default is the narrowest that there is."""
    given = getattr(choice, axis.name)
    offered = [one.choice for one in axis.options]
    if given in offered or not offered:
        return choice
    if given == getattr(RuleChoice(), axis.name):
        return msgspec.structs.replace(choice, **{axis.name: offered[0]})
    raise Refused("bad_choice", name=axis.name, given=given, offered=offered)


def _find_whats(past: Judgement, facts: CallFacts, decision: Decision) -> list[Phrase]:
    wanted = past.wanted
    found = [_build_exact_phrase(wanted, facts)]
    if decision == "allow" and (past.verdict.risk == "high" or facts.doubt):
        return found
    one = _get_only_command(facts)
    if one is not None and (decision == "deny" or _is_bounded(one)):
        found.append(Phrase("program", "safe_program" if decision == "allow" else "program", one.words[0] or ""))
    if _tells_files(facts) and facts.is_inside and not facts.get_guarded_file() and not facts.get_secret():
        found.append(Phrase("files", "read_files" if facts.kind in _READS else "write_files"))
    if facts.kind == "network" and facts.hosts and not facts.has_unknown_hosts:
        found.append(Phrase("host", "host", ", ".join(facts.hosts)))
    if decision == "deny" or facts.kind in ("other", "network", "plan", "hub"):
        found.append(Phrase("tool", "tool", wanted.tool))
    return found


def _build_exact_phrase(wanted: CallRequest, facts: CallFacts) -> Phrase:
    """The call as the sentence names it, in full: nobody should allow what they have not seen."""
    text = find_command(wanted.tool, facts.kind, wanted.arguments)[0] if facts.shell is not None else ""
    if text:
        return Phrase("exact", "command", text.strip())
    if _has_files(facts):
        return Phrase("exact", "read_file" if facts.kind in _READS else "write_file", ", ".join(_find_paths(facts)))
    return Phrase("exact", "call", wanted.tool)


def _find_whos(past: Judgement, decision: Decision) -> list[Phrase]:
    narrow = Phrase("profile", "profiles", " and ".join(_find_profiles(past.wanted)))
    return [narrow] if _is_risky(past, decision) else [narrow, Phrase("all", "all")]


def _find_wheres(past: Judgement, facts: CallFacts, decision: Decision, choice: RuleChoice) -> list[Phrase]:
    """Nothing to choose where the directory is not known, or where files are named by their whole path."""
    if not past.wanted.directory or (choice.what == "exact" and _has_files(facts)):
        return []
    own = _get_own_folder_pattern(past.wanted) is not None
    narrow = Phrase("folder", "own") if own else Phrase("folder", "folder", past.wanted.directory)
    return [narrow] if _is_risky(past, decision) else [narrow, Phrase("anywhere", "anywhere")]


def _find_spans(past: Judgement, decision: Decision) -> list[Phrase]:
    in_run = bool(past.wanted.lineage) and all(place.run for place in past.wanted.lineage)
    spans: list[Literal["run", "30d", "90d", "always"]] = ["run"] if in_run else []
    spans += ["30d", "90d"] if _is_risky(past, decision) else ["30d", "90d", "always"]
    return [Phrase(one, one) for one in spans]


def _is_risky(past: Judgement, decision: Decision) -> bool:
    return decision == "allow" and past.verdict.risk == "high"


def _build_condition(past: Judgement, facts: CallFacts, decision: Decision, choice: RuleChoice) -> Rule:
    """What the rule is about, without who, where and when."""
    match choice.what:
        case "program":
            one = _get_only_command(facts)
            assert one is not None and one.words[0]  # noqa: S101 it is offered for such commands only
            safe = _SAFE if decision == "allow" else ""
            return Rule(
                decision=decision, kinds=["execute"], commands=[f"{_escape_pattern(one.words[0])} **"], when=safe
            )
        case "files":
            return Rule(decision=decision, kinds=[facts.kind], where="inside")
        case "host":
            return Rule(decision=decision, kinds=["network"], hosts=[_escape_pattern(host) for host in facts.hosts])
        case "tool":
            return Rule(decision=decision, tools=[_escape_pattern(past.wanted.tool)])
    one = _get_only_command(facts)
    if one is not None and all(word and not word.split()[1:] for word in one.words) and not facts.files:
        words = " ".join(_escape_pattern(word or "") for word in one.words)
        return Rule(decision=decision, kinds=["execute"], commands=[words])
    if _has_files(facts):
        paths = [_escape_pattern(path) for path in _find_paths(facts)]
        return Rule(decision=decision, tools=[_escape_pattern(past.wanted.tool)], paths=paths)
    key = build_exact_key(past.verdict.digest or facts.digest, facts)
    return Rule(decision=decision, tools=[_escape_pattern(past.wanted.tool)], calls=[key])


def _get_only_command(facts: CallFacts) -> SimpleCommand | None:
    """The command of a call that is one command and nothing beside it."""
    shell = facts.shell
    if facts.kind != "execute" or not facts.is_known_shell or facts.doubt or shell is None or not shell.is_plain:
        return None
    outer = [one for one in shell.commands if not one.is_inner]
    is_bare = not (shell.assigns or shell.reads or shell.writes)
    return outer[0] if is_bare and len(outer) == 1 and outer[0].words[0] else None


def _is_bounded(one: SimpleCommand) -> bool:
    """Whether any arguments leave a program the same program: not a shell, and none that runs its arguments."""
    name = one.program
    runs_others = find_inner(name, (name, "x", "-exec", "x", ";")) != find_inner("", ())
    return not (name in SHELLS | OTHER_SHELLS or runs_others or takes_commands(name))


def _tells_files(facts: CallFacts) -> bool:
    """Whether it is a tool for files, and all of them are known."""
    is_for_files = facts.kind in (*_READS, "write") and facts.shell is None
    return is_for_files and bool(facts.files) and not facts.has_unknown_files and not facts.doubt


def _has_files(facts: CallFacts) -> bool:
    """Whether the files that a call names describe it. They do not for a search: it can look for anything there."""
    return facts.kind != "search" and _tells_files(facts)


def _find_paths(facts: CallFacts) -> list[str]:
    """Whole paths of the files that a call names, and where links in them lead."""
    return list(dict.fromkeys(path for file in facts.files for path in (file.full, file.real)))


def _find_profiles(wanted: CallRequest) -> list[str]:
    """Whose call it was: a child may do only what all above it may, so that they are named too."""
    names = [place.profile or OUTSIDE_PROFILE for place in wanted.lineage] or [OUTSIDE_PROFILE]
    return list(dict.fromkeys(names))


def _get_own_folder_pattern(wanted: CallRequest) -> str | None:
    """A pattern for the folders that the node makes for agents, if the call was in such a one."""
    if not wanted.directory or not wanted.agent_id:
        return None
    found = re.fullmatch(rf"(.*/(?:work|worktrees)/){re.escape(wanted.agent_id)}(/.*)?", wanted.directory)
    return f"{_escape_pattern(found[1])}*{_escape_pattern(found[2] or '')}" if found else None


def _find_directories(wanted: CallRequest) -> list[str]:
    return [_get_own_folder_pattern(wanted) or _escape_pattern(posixpath.normpath(wanted.directory or "/"))]


def _escape_pattern(text: str) -> str:
    """A pattern that matches a text and nothing else."""
    return re.sub(r"([*?\\])", r"\\\1", text)


def _shorten(text: str) -> str:
    """A text for a note: a rule with the key of a call does not show the call itself."""
    line = " ".join(text.split())
    return line if len(line) <= _NOTE else f"{line[:_NOTE]}…"


def _build_rule_name(decision: str, what: Phrase) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", f"{what.value or what.code}".lower()).strip("-")[:40].strip("-")
    return f"{decision}-{slug or 'call'}"
