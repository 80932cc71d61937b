"""Facts about a call, computed from its arguments: files, hosts, commands, and what cannot be determined."""

import hashlib
import posixpath
import re
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from greenroom.link.policy_facts import known_tools
from greenroom.link.policy_facts.arguments import (
    MOST_FILES,
    asks_for_privileges,
    find_command,
    find_directory,
    find_paths,
    find_secret_pattern,
    find_values,
)
from greenroom.link.policy_facts.call_request import CallKind, CallRequest, Risk
from greenroom.link.policy_facts.hosts import find_hosts, parse_host
from greenroom.link.policy_facts.read_only_programs import READERS, only_reads
from greenroom.link.policy_facts.shell_nodes import Word
from greenroom.link.policy_facts.shell_parser import SHELLS, ParsedShell, parse_shell
from greenroom.link.policy_facts.unknown_programs import find_programs
from greenroom.runtimes.guarded_paths import GUARDED
from greenroom.runtimes.tool_kinds import get_tool_kind
from greenroom.sentences import Sentence, build_sentence

_TOO_LARGE = build_sentence("doubt.arguments_too_large")
_UNTOLD = build_sentence("doubt.untold_files")
_STRANGE = build_sentence("doubt.strange_address")
_OWN_SHELLS = SHELLS | {f"{folder}/{shell}" for folder in ("/bin", "/usr/bin") for shell in SHELLS}
_encode_ordered = msgspec.json.Encoder(order="deterministic").encode
_HARMLESS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "-"})


@dataclass(frozen=True, slots=True)
class File:
    """A file that a call names."""

    text: str
    full: str
    """As a whole path, without dots."""
    real: str
    """The same after links, where the node has looked."""
    inside: bool
    is_written: bool
    is_hubs: bool
    """Whether it belongs to the hub's own state."""


@dataclass(frozen=True, slots=True)
class CallFacts:
    """The known facts about one call."""

    kind: CallKind
    files: tuple[File, ...] = ()
    has_unknown_files: bool = False
    hosts: tuple[str, ...] = ()
    has_unknown_hosts: bool = False
    shell: ParsedShell | None = None
    is_known_shell: bool = True
    """Whether it is sure that its command is run by a shell."""
    doubt: Sentence | None = None
    """Why the call cannot be inspected; None when it can."""
    danger: Sentence | None = None
    secret_glob: str = ""
    """A pattern in it that is made for names of files that hold secrets."""
    risk: Risk = "medium"
    digest: str = ""
    programs: frozenset[str] = frozenset()
    """The programs of a shell call, as they are written and without their folders, and what unknown ones may run."""
    words: tuple[str, ...] = ()
    """Other words of a shell call, any of which may name a file in the working directory."""

    @property
    def is_inside(self) -> bool:
        """Whether all its files are known to be in the working directory."""
        return not self.has_unknown_files and all(file.inside for file in self.files)

    @property
    def only_reads(self) -> bool:
        """Whether a shell call does no more than read files that it names."""
        shell = self.shell
        if (
            shell is None
            or not self.is_known_shell
            or shell.doubt
            or shell.assigns
            or shell.writes
            or not shell.is_plain
            or not shell.commands
        ):
            return False
        return all(not one.is_inner and only_reads(one.words) for one in shell.commands)

    @property
    def unsure(self) -> Sentence | None:
        """Why it may do more than is listed here; None when it may not. Nothing slips past a deny because of that."""
        return self.doubt or (self.shell.unseen if self.shell is not None else None)

    def get_guarded_file(self) -> File | None:
        """A file to be written that changes what programs or agents may do."""
        return next((f for f in self.files if f.is_written and _fits_either(GUARDED, f)), None)

    def get_secret(self) -> str:
        """A file, or a pattern for files, that holds secrets; empty when there is none."""
        return next((f.text for f in self.files if _fits_either(known_tools.SECRET, f)), self.secret_glob)

    def get_hub_file(self) -> File | None:
        """A file of the hub's own state."""
        return next((f for f in self.files if f.is_hubs), None)


def read_call_facts(wanted: CallRequest) -> CallFacts:
    """Everything that is known of a call without running anything."""
    kind = "hub" if wanted.is_passed_on else "other" if wanted.server else get_tool_kind(wanted.tool)
    values, is_cut = find_values(wanted.arguments)
    is_plain = wanted.server or kind == "hub"
    text, doubt = ("", None) if is_plain else find_command(wanted.tool, kind, wanted.arguments)
    if kind == "execute" or (text and kind not in ("write", "network")):
        facts = _read_shell_facts(wanted, kind, text, doubt)
        if kind != "execute":
            facts = _merge_plain_facts(
                facts, _read_plain_facts(wanted, kind, values), is_shell=kind in ("read", "search")
            )
    else:
        facts = _read_plain_facts(wanted, kind, values)
        if text and text not in known_tools.EDITOR_WORDS:
            facts = replace(facts, shell=_unwrap_shell(parse_shell(text)), doubt=build_sentence("doubt.command_beside"))
    if is_cut or len(facts.files) > MOST_FILES:
        facts = replace(facts, doubt=_TOO_LARGE, has_unknown_files=True)
    facts = replace(facts, digest=hash_call_request(wanted, facts.kind))
    return replace(facts, risk=wanted.risk or _rate_risk(facts))


def hash_call_request(wanted: CallRequest, kind: CallKind) -> str:
    """A digest that the same call has again; words that are only for people make no difference to a shell call."""
    arguments = wanted.arguments
    if (
        kind == "execute"
        and isinstance(arguments, dict)
        and any(name in arguments for name in known_tools.COMMAND_ARGUMENTS)
    ):
        arguments = {name: value for name, value in arguments.items() if name not in known_tools.ADVISORY}
    subject = [wanted.server, wanted.tool, arguments]
    return hashlib.sha256(_encode_ordered(subject)).hexdigest()


def build_exact_key(digest: str, facts: CallFacts) -> str:
    """The key of a call and no other: by its digest, and by where the paths in it lead that say something else."""
    elsewhere = sorted({(file.full, file.real) for file in facts.files if file.real != file.full})
    return hashlib.sha256(msgspec.json.encode(["call", digest, *elsewhere])).hexdigest()[:32]


def find_path_texts(tool: str, arguments: Any) -> list[str]:
    """The paths in a call as they are written, which the node then resolves."""
    facts = read_call_facts(CallRequest(tool=tool, arguments=arguments, directory="/"))
    return [file.text for file in facts.files]


def _read_plain_facts(wanted: CallRequest, kind: CallKind, values: list[tuple[str, str]]) -> CallFacts:
    texts, is_cut = find_paths(wanted.tool, kind, wanted.arguments, values)
    urls = [text for name, text in values if name in known_tools.URL_ARGUMENTS]
    found = {text: parse_host(text) for text in urls}
    hosts = tuple(dict.fromkeys(host for host in found.values() if host))
    strange = any(host is None and (kind == "network" or "://" in text) for text, host in found.items())
    unknown = kind in ("read", "search", "write") and not texts
    return CallFacts(
        kind,
        files=tuple(_build_file(wanted, text, kind == "write") for text in texts if text not in _HARMLESS),
        has_unknown_files=unknown or is_cut,
        hosts=hosts,
        has_unknown_hosts=strange or (kind == "network" and not hosts),
        doubt=_TOO_LARGE if is_cut else _UNTOLD if unknown and kind == "write" else _STRANGE if strange else None,
        secret_glob=find_secret_pattern(wanted.tool, kind, values),
    )


def _merge_plain_facts(facts: CallFacts, plain: CallFacts, *, is_shell: bool) -> CallFacts:
    """A command in the arguments of a tool that is not known to run any: what else it names counts as well.

    Some runtimes call a command that reads a tool that reads; with all others nobody knows what they make of it.
    """
    return replace(
        facts,
        files=tuple(dict.fromkeys((*facts.files, *plain.files))),
        hosts=tuple(dict.fromkeys((*facts.hosts, *plain.hosts))),
        has_unknown_hosts=facts.has_unknown_hosts or plain.has_unknown_hosts,
        doubt=facts.doubt or plain.doubt,
        is_known_shell=is_shell,
    )


def _read_shell_facts(wanted: CallRequest, kind: CallKind, text: str, doubt: Sentence | None) -> CallFacts:
    shell = (
        _unwrap_shell(parse_shell(text)) if text else ParsedShell(doubt=doubt or build_sentence("doubt.untold_command"))
    )
    asked = find_directory(kind, wanted.arguments)
    words: list[tuple[Word, bool]] = [(word, False) for word in shell.reads] + [(word, True) for word in shell.writes]
    hosts: list[str] = []
    is_unknown = networks = False
    for one in shell.commands:
        is_network = known_tools.is_network(one.program, one.words)
        networks = networks or is_network
        is_reader = one.program in READERS
        for word in one.words[1:]:
            if word is None:
                words.append((None, False))
                continue
            reached, unsure = ([], False) if is_reader else find_hosts(word, is_network=is_network)
            hosts += reached
            is_unknown = is_unknown or unsure
            if not reached:
                words += [(part, not is_reader) for part in _find_path_parts(word, is_reader)]
    files = [_build_file(wanted, word, writes) for word, writes in words if word is not None and word not in _HARMLESS]
    if asked:
        files.append(_build_file(wanted, asked, False))
    told = (known_tools.describe_danger(one.words, one.program) for one in shell.commands)
    danger = next((said for said in told if said), None)
    moved = any(one.program in ("cd", "pushd", "popd", "chdir") for one in shell.commands)
    if doubt or (asked and _get_base(wanted) != files[-1].real) or asks_for_privileges(wanted.arguments):
        # Its words show what it does only by themselves, in its own directory, and with the usual limits.
        shell = shell._replace(is_plain=False)
    moved = moved or bool(asked and not _get_base(wanted) == files[-1].full == files[-1].real)
    return CallFacts(
        "execute",
        files=tuple(dict.fromkeys(files)),
        has_unknown_files=moved or any(word is None for word, _ in words),
        hosts=tuple(dict.fromkeys(hosts)),
        has_unknown_hosts=is_unknown or (networks and not hosts),
        shell=shell,
        doubt=doubt or shell.doubt,
        danger=danger,
        programs=frozenset(name for one in shell.commands for name in find_programs(one.program, one.words)),
        words=tuple(dict.fromkeys(word for one in shell.commands for word in one.words[1:] if word)),
    )


def _unwrap_shell(shell: ParsedShell) -> ParsedShell:
    """Many agents wrap every command in a shell of their own: only the inner command counts."""
    outer = [one for one in shell.commands if not one.is_inner]
    if len(outer) != 1 or shell.reads or shell.writes or shell.assigns or outer[0].program not in SHELLS:
        return shell
    match outer[0].words:
        case (str(program), "-c" | "-lc", str(inner)) if program in _OWN_SHELLS:
            return parse_shell(inner)
    return shell


def _find_path_parts(word: str, is_reader: bool) -> list[str]:
    """What of a word can name a file."""
    if word.startswith("-"):
        tail = word.partition("=")[2] or (word[word.index("/") :] if "/" in word else "")
        return [tail] if "/" in tail or tail.startswith("~") else []
    if is_reader or "/" in word or word.startswith(("~", ".")):
        return [word]
    return []


def _get_base(wanted: CallRequest) -> str:
    return posixpath.normpath(wanted.directory) if wanted.directory else "/"


def _build_file(wanted: CallRequest, text: str, is_written: bool) -> File:
    base = _get_base(wanted)
    clean = text.removeprefix("file://")
    at_home = clean.startswith("~")
    full = posixpath.normpath(clean if at_home else posixpath.join(base, clean))
    real = wanted.resolved.get(text, full)
    inside = (
        bool(wanted.directory)
        and not at_home
        and "\x00" not in text
        and _is_within(base, full)
        and _is_within(base, real)
    )
    start = (
        len(base) if inside and known_tools.DESK.search(base) else 0
    )  # an agent's desk is among the hub's files, and its own
    is_hubs = any(known_tools.HUB_OWN.search(path, start) for path in (full, real))
    return File(text, full, real, inside, is_written, is_hubs)


def _is_within(base: str, path: str) -> bool:
    return path == base or path.startswith(base.rstrip("/") + "/")


def _fits_either(pattern: re.Pattern[str], file: File) -> bool:
    return pattern.search(file.full) is not None or pattern.search(file.real) is not None


def _rate_risk(facts: CallFacts) -> Risk:
    if facts.doubt or facts.danger or facts.get_guarded_file() or facts.get_hub_file():
        return "high"
    match facts.kind:
        case "hub" | "plan":
            return "low"
        case "read" | "search":
            return "low" if facts.is_inside and not facts.get_secret() else "medium"
        case "write":
            return "medium" if facts.is_inside else "high"
        case "execute":
            if facts.only_reads and facts.is_inside and not facts.get_secret():
                return "low"
            outside = any(not file.inside for file in facts.files)
            return "high" if outside or facts.hosts or facts.has_unknown_hosts else "medium"
    return "medium"
