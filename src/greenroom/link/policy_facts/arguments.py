"""Finds the files, addresses and command in a call's arguments, and decoys beside them."""

import itertools
import re
from collections.abc import Iterator
from typing import Any

from greenroom.link.policy_facts import known_tools
from greenroom.link.policy_facts.call_request import CallKind
from greenroom.sentences import Sentence, build_sentence

_PATCHED = re.compile(r"^[^\S\n]*\*\*\*\s*\w+\s*(?:File|to|from)\s*:(.+)$", re.M | re.I)
_DIFFED = re.compile(
    r"^[^\S\n]*(?:\+\+\+|---|(?:rename|copy)[^\S\n]+(?:from|to)|Index:)[^\S\n]*([^\t\n]+)", re.MULTILINE
)
_DIFFED_BOTH = re.compile(r"^[^\S\n]*diff --git[^\S\n]+([^\n]{1,4096}?)[^\S\n]+(\"?b/[^\n]+)$", re.MULTILINE)
_PRIVILEGES = re.compile(r"sandbox|permission|privileg|escalat|elevat|bypass|danger|unsafe", re.IGNORECASE)
_PATCHES = frozenset({"patch", "diff", "patch_text", "patchText"})
_GLOBS = frozenset({"glob", "include", "pattern", "globs", "file_pattern"})
_GLOB_PARTS = re.compile(r"[{},]")
MOST_FILES = 200
"""A call that names more is not looked through: the node follows the links of so many."""
LONGEST_PATH = 4096
"""No system takes a longer one."""
_SPREADS_OUT = re.compile(r"[{,][/~]|\.\.")
_TITLED = frozenset({"title", "content"})
_KNOWN = known_tools.PATH_ARGUMENTS | known_tools.URL_ARGUMENTS | known_tools.CONTENT_ARGUMENTS | {"pattern"}
_MOST_VALUES = 2000
_MOST_DEEP = 16
_MOST_LOOKED_AT = 10_000
"""Values of any kind."""


def find_values(arguments: Any) -> tuple[list[tuple[str, str]], bool]:
    """Every text in the arguments with the name it stands under; and whether there were too many."""
    found: list[tuple[str, str]] = []
    left, is_cut = _MOST_LOOKED_AT, False
    waiting: list[tuple[Any, str, int]] = [(arguments, "", 0)]
    while waiting:
        value, name, depth = waiting.pop()
        if depth > _MOST_DEEP or len(found) >= _MOST_VALUES:
            return found, True
        if isinstance(value, str):
            found.append((name, value))
        elif isinstance(value, dict | list | tuple):
            pairs = value.items() if isinstance(value, dict) else ((name, inner) for inner in value)
            is_cut = is_cut or len(value) > left
            below = [(inner, str(key), depth + 1) for key, inner in itertools.islice(pairs, left)]
            left -= len(below)
            waiting += reversed(below)
    return found, is_cut


def find_paths(tool: str, kind: CallKind, arguments: Any, values: list[tuple[str, str]]) -> tuple[list[str], bool]:
    """The files that a tool call names, none when they are not known; and whether some were left out."""
    texts = [text for name, text in values if name in known_tools.PATH_ARGUMENTS]
    is_cut = False
    if kind == "write":
        headers = (found[1].strip() for _, text in values for found in _PATCHED.finditer(text))
        diffed = (path for name, text in values if name in _PATCHES for path in _find_diffed(text))
        named = list(itertools.islice(itertools.chain(headers, diffed), _MOST_VALUES))
        is_cut = len(named) == _MOST_VALUES
        texts += named
    if kind == "read":
        texts += [text for name, text in values if name == "include"]
    if kind in ("read", "search", "write"):
        texts += [text for name, text in values if name not in _KNOWN and _may_lead_out(text)]
    if kind == "search" and "grep" not in tool.lower():
        patterns = [text for name, text in values if name == "pattern"]
        texts += [text for text in patterns if _may_lead_out(text)]
        texts += ["/" for text in patterns if _SPREADS_OUT.search(text)]  # it can lead anywhere
    is_told = not (isinstance(arguments, dict) and arguments and set(arguments) <= _TITLED)
    if not texts and is_told and (kind == "search" or tool in ("LS", "list", "ls", "list_directory")):
        return ["."], False
    told = list(dict.fromkeys(texts))
    found = [text for text in told[:MOST_FILES] if len(text) <= LONGEST_PATH]
    return found, is_cut or len(found) < len(told)


def _may_lead_out(text: str) -> bool:
    """Whether a text looks like a path that can lead out of the working directory."""
    if "\n" in text:
        return False
    if (text.startswith(("/", "~", "file:", "../")) or text == "..") and len(text) <= LONGEST_PATH:
        return True
    last = f"{text}/".rfind("/../")
    return last >= 0 and len(text) - last <= LONGEST_PATH


def _find_diffed(text: str) -> Iterator[str]:
    """The files of a diff; what of its own lines looks like a header is taken for one."""
    found = itertools.chain(_DIFFED.finditer(text), _DIFFED_BOTH.finditer(text))
    named = (path.strip().strip('"') for match in found for path in match.groups())
    return (re.sub(r"^[ab]/", "", path) for path in named if path and path != "/dev/null")


def find_command(tool: str, kind: CallKind, arguments: Any) -> tuple[str, Sentence | None]:
    """The shell text of a call, and the doubts about it."""
    if not isinstance(arguments, dict):
        return "", build_sentence("doubt.untold_command") if kind == "execute" else None
    told = [text for name in known_tools.COMMAND_ARGUMENTS if (text := _join_command(arguments.get(name)))]
    if told:
        doubt = build_sentence("doubt.several_commands") if len(set(told)) > 1 else None
        beside = next((name for name in known_tools.SHELL_ARGUMENTS if arguments.get(name)), "")
        if not doubt and beside:
            doubt = build_sentence("doubt.changed_beside", name=beside)
        if not doubt and len(_find_directories(kind, arguments)) > 1:
            doubt = build_sentence("doubt.several_directories")
        if not doubt and tool.lower() == "powershell":
            doubt = build_sentence("doubt.powershell")
        return told[0], doubt
    title = arguments.get("title")
    if kind == "execute" and isinstance(title, str):
        return title, build_sentence("doubt.told_in_words")
    return "", None


def _join_command(value: Any) -> str:
    if isinstance(value, str):
        return value if value.strip() else ""
    if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        return " ".join("'" + word.replace("'", "'\\''") + "'" for word in value)
    return ""


def find_directory(kind: CallKind, arguments: Any) -> str:
    """The directory that a command wants to run in, if it names one."""
    return next(iter(_find_directories(kind, arguments)), "")


def asks_for_privileges(arguments: Any) -> bool:
    """Whether something beside a command asks to run it with fewer limits than usual."""
    given = arguments if isinstance(arguments, dict) else {}
    return any(value and _PRIVILEGES.search(str(name)) for name, value in given.items())


def _find_directories(kind: CallKind, arguments: Any) -> list[str]:
    """All directories that a call names beside its command. A tool that is only a shell has no other use for a path."""
    given = arguments if isinstance(arguments, dict) else {}
    names = known_tools.PATH_ARGUMENTS if kind == "execute" else known_tools.DIRECTORY_ARGUMENTS
    named = [value for name, value in given.items() if name in names]
    return list(dict.fromkeys(value for value in named if isinstance(value, str) and value))


def find_secret_pattern(tool: str, kind: CallKind, values: list[tuple[str, str]]) -> str:
    """A pattern for names of files that is made for those that hold secrets; empty when there is none."""
    if kind not in ("read", "search"):
        return ""
    is_grep = "grep" in tool.lower()
    patterns = [text for name, text in values if name in _GLOBS and not (is_grep and name == "pattern")]
    return next((text[:LONGEST_PATH] for text in patterns if _is_for_secrets(text)), "")


def _is_for_secrets(pattern: str) -> bool:
    """Whether a pattern matches files with secrets on purpose, or is too long to be written by a person."""
    return len(pattern) > LONGEST_PATH or any(map(_is_secret_glob, _GLOB_PARTS.split(pattern)))


def _is_secret_glob(part: str) -> bool:
    """Whether a part of a pattern can only be meant for hidden files or for such as hold secrets."""
    name = part.rpartition("/")[2]
    bare = re.sub(r"[*?\[\]!]", "", part)
    is_hidden = name.startswith((".", "[.", "?")) and name not in (".", "..")
    return is_hidden or known_tools.SECRET.search(bare) is not None or known_tools.SECRET.search(part) is not None
