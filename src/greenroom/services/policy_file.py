"""Rules from policy.toml in the data directory: read, checked, and reloaded when the file changes."""

import asyncio
import datetime
import logging
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from greenroom.errors import Refused, Unavailable
from greenroom.rules.access.model import HUB
from greenroom.rules.policy.commands import LoadRules
from greenroom.rules.policy.decide import MAX_RULES, find_named_rule_problems, find_option_problems
from greenroom.rules.policy.model import Options, Rule
from greenroom.sentences import Sentence, Words, build_sentence
from greenroom.services.hub import Hub
from greenroom.services.period import get_time_left_s
from greenroom.validation import explain_error, get_nearest

logger = logging.getLogger(__name__)
FILE = "policy.toml"
_LOOK_S = 1.0
_KEYS = ("options", "rules")


class PolicyFileProblem(msgspec.Struct, frozen=True):
    """What cannot be used in the file: where it stands, and what to write."""

    file: str
    key: str
    problem: Words
    sentences: dict[str, Sentence] = {}


class PolicyFileContent(NamedTuple):
    """What the file says."""

    rules: list[tuple[str, Rule]]
    options: Options
    wrong: list[PolicyFileProblem]


def read_policy(data: Path) -> PolicyFileContent:
    """The file's rules and options; where anything is wrong, nothing of it is to be used."""
    path = data / FILE
    found = PolicyFileContent([], Options(), [])

    def bad(key: str, problem: Words) -> None:
        found.wrong.append(PolicyFileProblem(str(path), key, problem))

    try:
        if path.stat().st_mode & 0o002:
            bad("", build_sentence("policy_file.writable"))
            return found
        fields = tomllib.loads(path.read_text())
    except FileNotFoundError:
        return found
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError, OSError) as error:
        bad("", build_sentence("policy_file.no_toml", error=error))
        return found
    for key in fields.keys() - set(_KEYS):
        bad(key, _explain_key(key))
    options = _parse_options(fields.get("options", {}), bad)
    entries = fields.get("rules", [])
    if not isinstance(entries, list) or len(entries) > MAX_RULES:
        bad("rules", build_sentence("policy_file.rules", limit=MAX_RULES))
        entries = []
    names: set[str] = set()
    for number, entry in enumerate(entries, 1):
        _take_rule(found, bad, f"rules[{number}]", entry, names)
    return found._replace(options=options)


def _take_rule(found: PolicyFileContent, bad: Any, key: str, entry: Any, names: set[str]) -> None:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        bad(f"{key}.name", build_sentence("policy_file.missing_name"))
        return
    fields = {name: value for name, value in entry.items() if name != "name"}
    if isinstance(fields.get("until"), datetime.datetime):
        fields["until"] = int(fields["until"].astimezone(datetime.UTC).timestamp() * 1000)
    name = entry["name"]
    try:
        rule = msgspec.convert(fields, Rule)
    except msgspec.ValidationError as error:
        where, problem = explain_error(error, Rule)
        bad(f"{key}.{where}" if where else key, problem)
        return
    if name in names:
        bad(f"{key}.name", build_sentence("policy_file.double", name=name))
    names.add(name)
    for problem in find_named_rule_problems(name, rule):
        bad(f"{key}.{problem.params['name']}", problem.params["problem"])
    found.rules.append((name, rule))


def _parse_options(fields: Any, bad: Any) -> Options:
    try:
        options = msgspec.convert(fields, Options)
    except msgspec.ValidationError as error:
        where, problem = explain_error(error, Options)
        bad(f"options.{where}", problem)
        return Options()
    for problem in find_option_problems(options):
        bad(f"options.{problem.params['name']}", problem.params["problem"])
    return options


def _explain_key(key: str) -> Sentence:
    if near := get_nearest(key, _KEYS):
        return build_sentence("policy_file.unknown_key_near", near=near)
    return build_sentence("policy_file.unknown_key", keys=_KEYS)


async def load_policy(hub: Hub) -> None:
    """Update the policy from the file; errors in it are reported, and the last good version stays in force."""
    read = read_policy(hub.data)
    for wrong in read.wrong:
        logger.error("%s: %s%s", wrong.file, f"{wrong.key}: " if wrong.key else "", wrong.problem)
    if not read.wrong:
        await hub.log.do(LoadRules(by=HUB, rules=read.rules, options=read.options))


async def watch_policy(hub: Hub) -> None:
    """Reload the file when it changes; to be run as a task, after it was loaded once."""
    loaded: tuple[int, int] | None = (0, 0)  # what changed between the first load and now is loaded too
    while True:
        await asyncio.sleep(get_time_left_s(_LOOK_S))
        try:
            stamp = _read_stamp(hub.data)
            if stamp != loaded:
                await load_policy(hub)
                loaded = stamp
        except (OSError, Refused, Unavailable) as error:
            logger.warning("%s cannot be taken up now: %s", FILE, error)


def _read_stamp(data: Path) -> tuple[int, int] | None:
    try:
        seen = (data / FILE).stat()
    except FileNotFoundError:
        return None
    return seen.st_mtime_ns, seen.st_size
