"""Compiles rules, and says whether one matches a call: yes, no, or unknown."""

import datetime
import posixpath
import re
import zoneinfo
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Literal

from greenroom.expressions import Expression, ExpressionFailed, compile_expression
from greenroom.link.policy_facts.call_request import CallKind, CallRequest, LineageEntry
from greenroom.link.policy_facts.known_tools import COMMAND_ARGUMENTS
from greenroom.link.policy_facts.shell_parser import ParsedShell, SimpleCommand
from greenroom.log.codec import encode
from greenroom.rules.policy.command_patterns import find_programs, may_stand_inside, parse_command_pattern, words_fit
from greenroom.rules.policy.globs import Glob
from greenroom.rules.policy.model import Rule
from greenroom.runtimes.call_facts import CallFacts, File, build_exact_key

Fit = Literal["yes", "no", "maybe"]
CEL_NAMES = (
    "tool",
    "arguments",
    "paths",
    "hosts",
    "commands",
    "assigns",
    "reads",
    "writes",
    "profile",
    "depth",
    "thread",
    "run",
    "risk",
    "kind",
    "directory",
    "contested",
)
_READ_FROM_TEXT = frozenset({"commands", "paths", "hosts", "assigns", "reads", "writes"})
"""Names whose values are not all known where a call cannot be inspected."""
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
OUTSIDE_PROFILE = "external"
"""What rules call the profile of an agent that came from outside."""
_LONGEST = 20_000
"""A longer text is not searched by a pattern: that could take forever."""
_MOST_WORDS = 400
"""Of a command; more of them are not compared with patterns of paths."""
HOURS = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-4]):([0-5]\d)")


class CompiledRule:
    """One rule, ready to be matched."""

    def __init__(self, name: str, rule: Rule) -> None:
        self.name = name
        self.rule = rule
        self.covers = rule.decision == "allow"
        """Whether it must cover all that a call does."""
        self._tools = _build_any_glob(rule.tools)
        self._profiles = _build_any_glob(rule.profiles)
        self._hosts = _build_any_glob([host.lower() for host in rule.hosts])
        self._paths = [(path.startswith("/"), Glob(path.removeprefix("./"), separate="/")) for path in rule.paths]
        self._directories = [Glob(path, separate="/") for path in rule.directories]
        self._commands = [parse_command_pattern(command) for command in rule.commands]
        self._arguments = {name: Glob(pattern) for name, pattern in rule.arguments.items()}
        self._when: Expression | None = compile_expression(rule.when, CEL_NAMES, condition=True) if rule.when else None
        self._is_narrow = bool(rule.paths or rule.hosts or rule.where != "any")
        self._is_for_commands = bool(rule.commands or (rule.kinds and "other" not in rule.kinds))
        self._programs = find_programs(rule.commands)
        self._has_time = bool(rule.until is not None or rule.days or rule.hours)

    def may_fit(self, tool: str, kind: CallKind, profile: str | None) -> bool:
        """Whether it can be about such calls at all."""
        if self._tools is not None and not self._tools(tool):
            return False
        if self.rule.kinds and kind not in self.rule.kinds:
            return False
        return self._profiles is None or self._profiles(profile or OUTSIDE_PROFILE)

    def fits(self, wanted: CallRequest, facts: CallFacts, place: LineageEntry, now: int, zone: str) -> Fit:
        """Whether the rule is about this call, if `may_fit` has said that it can be."""
        rule = self.rule
        if not facts.unsure and self._misses(facts):
            return "no"
        if not self._fits_place(place) or (self._has_time and not _fits_time(rule, now, zone)):
            return "no"
        if self.covers and facts.kind == "execute" and self._is_narrow and not rule.commands:
            return "no"  # the files and hosts in a program's words do not show what it does
        if self.covers and not facts.is_known_shell and not rule.tools and self._is_for_commands:
            return "no"  # what a tool makes of words that look like a command is not known
        if rule.calls and build_exact_key(facts.digest, facts) not in rule.calls:
            return "no"
        found = [self._fits_arguments(wanted, facts), self._fits_directory(wanted)]
        if rule.paths:
            found.append(self._fits_paths(facts, wanted))
        if rule.where != "any":
            found.append(self._fits_files(facts, lambda file: file.inside == (rule.where == "inside")))
        if rule.hosts:
            found.append(self._fits_hosts(facts))
        if rule.commands:
            found.append(self._fits_commands(facts))
        if self.covers and not rule.paths and not rule.calls and facts.get_guarded_file():
            found.append("no")  # what changes what programs and agents may do is allowed by its path or not at all
        if "no" in found:
            return "no"
        if self._when is not None:
            found.append(self._fits_when(wanted, facts, place))
        if "no" in found:
            return "no"
        return "maybe" if "maybe" in found else "yes"

    def _misses(self, facts: CallFacts) -> bool:
        """Whether a call has nothing that the rule is about: a quick test that excludes most rules."""
        rule = self.rule
        if rule.commands and (facts.shell is None or (self._programs and self._programs.isdisjoint(facts.programs))):
            return True
        if rule.hosts and not facts.hosts and not facts.has_unknown_hosts:
            return True
        return bool(rule.paths) and not (facts.files or facts.has_unknown_files or facts.words)

    def _fits_place(self, place: LineageEntry) -> bool:
        rule = self.rule
        if rule.min_depth is not None and place.depth < rule.min_depth:
            return False
        if rule.max_depth is not None and place.depth > rule.max_depth:
            return False
        if rule.threads and place.thread not in rule.threads:
            return False
        return not rule.runs or place.run in rule.runs

    def _fits_directory(self, wanted: CallRequest) -> Fit:
        if not self._directories:
            return "yes"
        if not wanted.directory:
            return "no" if self.covers else "maybe"
        here = posixpath.normpath(wanted.directory)
        return "yes" if any(pattern.fits(here) for pattern in self._directories) else "no"

    def _fits_arguments(self, wanted: CallRequest, facts: CallFacts) -> Fit:
        if not self._arguments:
            return "yes"
        for name, pattern in self._arguments.items():
            value = _get_argument(wanted.arguments, name)
            if value is not None and len(value) > _LONGEST:
                return "no" if self.covers else "maybe"
            if value is None or not pattern.fits(value):
                return "no"
        shell = facts.shell
        by_text = any(name in COMMAND_ARGUMENTS for name in self._arguments)
        if self.covers and shell is not None and by_text and not (shell.is_plain and len(shell.commands) == 1):
            return "no"  # a pattern over the text would allow anything after the part that it matches
        return "yes"

    def _fits_files(self, facts: CallFacts, fits: Callable[[File], bool]) -> Fit:
        if self.covers:
            return "yes" if facts.files and not facts.has_unknown_files and all(map(fits, facts.files)) else "no"
        return "yes" if any(map(fits, facts.files)) else "maybe" if facts.has_unknown_files or facts.doubt else "no"

    def _fits_paths(self, facts: CallFacts, wanted: CallRequest) -> Fit:
        fit = self._fits_files(facts, lambda file: self._fits_path(file, wanted))
        if fit != "no" or self.covers or not facts.words:
            return fit
        if len(facts.words) > _MOST_WORDS:
            return "maybe"
        base = (wanted.directory or "").rstrip("/")
        named = {f"{base}/{name}" for word in facts.words for name in _find_names(word)}
        fits = any(_path_fits(whole, one, path, wanted) for path in named for whole, one in self._paths)
        return "maybe" if fits else "no"

    def _fits_path(self, file: File, wanted: CallRequest) -> bool:
        check = all if self.covers else any
        return check(
            any(_path_fits(whole, pattern, text, wanted) for whole, pattern in self._paths)
            for text in (file.full, file.real)
        )

    def _fits_hosts(self, facts: CallFacts) -> Fit:
        assert self._hosts is not None  # noqa: S101 only asked when there are any
        if self.covers:
            return "yes" if facts.hosts and not facts.has_unknown_hosts and all(map(self._hosts, facts.hosts)) else "no"
        if any(map(self._hosts, facts.hosts)):
            return "yes"
        return "maybe" if facts.has_unknown_hosts or (facts.doubt and facts.shell is not None) else "no"

    def _fits_commands(self, facts: CallFacts) -> Fit:
        shell = facts.shell
        if shell is None:
            return "no"
        if self.covers:
            is_safe = shell.is_plain and not (facts.doubt or shell.assigns or shell.writes or shell.reads)
            outer = [one for one in shell.commands if not one.is_inner]
            return "yes" if is_safe and outer and all(self._fits_command(one) for one in outer) else "no"
        if any(self._fits_command(one) for one in shell.commands):
            return "yes"
        return "maybe" if facts.unsure or may_stand_inside(self._commands, shell) else "no"

    def _fits_command(self, one: SimpleCommand) -> bool:
        names = [one.words]
        if not self.covers and one.program not in ("", one.words[0]):
            names.append((one.program, *one.words[1:]))  # a deny is not escaped by a longer name
        return any(words_fit(pattern, words, sure=self.covers) for pattern in self._commands for words in names)

    def _fits_when(self, wanted: CallRequest, facts: CallFacts, place: LineageEntry) -> Fit:
        assert self._when is not None  # noqa: S101 only asked when there is one
        if self.covers and facts.shell is not None and not _sees_all(self._when, facts.shell):
            return "no"
        values = {
            "tool": wanted.tool,
            "arguments": wanted.arguments if isinstance(wanted.arguments, dict) else {},
            "paths": [file.full for file in facts.files],
            "hosts": list(facts.hosts),
            "commands": [[word or "?" for word in one.words] for one in facts.shell.commands] if facts.shell else [],
            "assigns": list(facts.shell.assigns) if facts.shell else [],
            "reads": [word or "?" for word in facts.shell.reads] if facts.shell else [],
            "writes": [word or "?" for word in facts.shell.writes] if facts.shell else [],
            "profile": place.profile or OUTSIDE_PROFILE,
            "depth": place.depth,
            "thread": place.thread or "",
            "run": place.run or "",
            "risk": facts.risk,
            "kind": facts.kind,
            "directory": wanted.directory or "",
            "contested": bool(wanted.contested),
        }
        try:
            if self._when.holds(values):
                return "yes"
            is_unsure = bool(facts.unsure) and not self.covers and not _READ_FROM_TEXT.isdisjoint(self._when.names)
            return "maybe" if is_unsure else "no"
        except ExpressionFailed:
            return "no" if self.covers else "maybe"  # an error allows nothing, and lets nothing slip past a deny


def _find_names(word: str) -> set[str]:
    """What of a word can be the name of a file: `name`, `--file=name`, `if=name`, `@name`, `-fname`."""
    names = {part for part in re.split("[=@:,]", word) if part} | {word}
    return names | ({word[2:]} if word.startswith("-") and len(word) > 2 else set())


def _sees_all(condition: Expression, shell: ParsedShell) -> bool:
    """Whether a condition that looks at the commands of a call knows of the rest of it too."""
    if "commands" not in condition.names:
        return True
    beside = {"assigns": shell.assigns, "reads": shell.reads, "writes": shell.writes}
    return not any(there and name not in condition.names for name, there in beside.items())


def _build_any_glob(globs: list[str]) -> Callable[[str], bool] | None:
    if not globs:
        return None
    patterns = [Glob(glob) for glob in globs]
    return lambda text: any(pattern.fits(text) for pattern in patterns)


def _path_fits(whole: bool, pattern: Glob, path: str, wanted: CallRequest) -> bool:
    if whole:
        return pattern.fits(path)
    base = (wanted.directory or "").rstrip("/") + "/"
    return bool(wanted.directory) and path.startswith(base) and pattern.fits(path[len(base) :])


def _get_argument(arguments: Any, name: str) -> str | None:
    if isinstance(arguments, dict) and name in arguments:
        return render_argument(arguments[name])
    value = arguments
    for part in name.split("."):
        if not isinstance(value, dict) or part not in value:
            return None
        value = value[part]
    return render_argument(value)


def render_argument(value: Any) -> str:
    """An argument as patterns see it: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else encode(value).decode()


@lru_cache(maxsize=64)
def _load_zone(name: str) -> zoneinfo.ZoneInfo:
    return zoneinfo.ZoneInfo(name)


def _fits_time(rule: Rule, now: int, zone: str) -> bool:
    if rule.until is not None and now >= rule.until:
        return False
    if not rule.days and not rule.hours:
        return True
    there = datetime.datetime.fromtimestamp(now / 1000, _load_zone(zone))
    if rule.days and DAYS[there.weekday()] not in rule.days:
        return False
    if not rule.hours:
        return True
    found = HOURS.fullmatch(rule.hours)
    if found is None:
        return False
    minute = there.hour * 60 + there.minute
    begin, end = int(found[1]) * 60 + int(found[2]), int(found[3]) * 60 + int(found[4])
    return begin <= minute < end if begin <= end else minute >= begin or minute < end
