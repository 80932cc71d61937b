"""Where in a call's arguments its files, addresses and command stand; decoys beside them are found too."""

import re
from collections.abc import Iterator
from typing import Any

from greenroom.nouns.policy import tables

_PATCHED = re.compile(r"^\s*\*\*\*\s*(?:Add\s*File|Update\s*File|Delete\s*File|Move\s*to)\s*:(.+)$", re.M | re.I)
_DIFFED = re.compile(r"^\s*(?:\+\+\+|---|rename (?:from|to)|copy (?:from|to))\s+(?:[ab]/)?([^\t\n]+)", re.MULTILINE)
_PATCHES = frozenset({"patch", "diff", "patch_text", "patchText"})
_GLOBS = frozenset({"glob", "include", "pattern", "globs", "file_pattern"})
_GLOB_PARTS = re.compile(r"[{},]")
_LEADS_OUT = re.compile(r"(/|~|file:|\.\.(/|$)|.*/\.\.(/|$))[^\n]{0,4096}")
_SPREADS_OUT = re.compile(r"[{,][/~]|\.\.")
_TITLED = frozenset({"title", "content"})
_KNOWN = tables.PATH_ARGUMENTS | tables.URL_ARGUMENTS | tables.CONTENT_ARGUMENTS | {"pattern"}
_MOST_VALUES = 2000
_MOST_DEEP = 16


def values_in(arguments: Any) -> tuple[list[tuple[str, str]], bool]:
    """Every text in the arguments with the name it stands under; and whether there were too many."""
    found: list[tuple[str, str]] = []
    for pair in _walk(arguments, "", 0):
        if pair is None or len(found) >= _MOST_VALUES:
            return found, True
        found.append(pair)
    return found, False


def _walk(value: Any, name: str, depth: int) -> Iterator[tuple[str, str] | None]:
    if depth > _MOST_DEEP:
        yield None
    elif isinstance(value, str):
        yield name, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _walk(inner, str(key), depth + 1)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _walk(inner, name, depth + 1)


def paths_in(tool: str, kind: str, arguments: Any, values: list[tuple[str, str]]) -> list[str]:
    """The files that a call of a tool names; none when they are not told."""
    texts = [text for name, text in values if name in tables.PATH_ARGUMENTS]
    if kind == "write":
        texts += [found.strip() for _, text in values for found in _PATCHED.findall(text)]
        patches = [text for name, text in values if name in _PATCHES]
        texts += [found.strip() for text in patches for found in _DIFFED.findall(text) if found != "/dev/null"]
    if kind == "read":
        texts += [text for name, text in values if name == "include"]
    if kind in ("read", "search", "write"):
        texts += [text for name, text in values if name not in _KNOWN and _LEADS_OUT.fullmatch(text)]
    if kind == "search" and "grep" not in tool.lower():
        patterns = [text for name, text in values if name == "pattern"]
        texts += [text for text in patterns if _LEADS_OUT.fullmatch(text)]
        texts += ["/" for text in patterns if _SPREADS_OUT.search(text)]  # it can lead anywhere
    is_told = not (isinstance(arguments, dict) and arguments and set(arguments) <= _TITLED)
    if not texts and is_told and (kind == "search" or tool in ("LS", "list", "ls", "list_directory")):
        return ["."]
    return list(dict.fromkeys(texts))


def command_in(tool: str, kind: str, arguments: Any) -> tuple[str, str]:
    """The shell text of a call, and what is doubtful about it."""
    if not isinstance(arguments, dict):
        return ("", "the command is not told") if kind == "execute" else ("", "")
    told = [text for name in tables.COMMAND_ARGUMENTS if (text := _line(arguments.get(name)))]
    if told:
        doubt = "it tells more than one command" if len(set(told)) > 1 else ""
        beside = next((name for name in tables.SHELL_ARGUMENTS if arguments.get(name)), "")
        if not doubt and beside:
            doubt = f"`{beside}` beside the command changes what it does"
        if not doubt and len(_directories(arguments)) > 1:
            doubt = "it names more than one directory to run in"
        if not doubt and tool.lower() == "powershell":
            doubt = "it is for PowerShell, which is not read here"
        return told[0], doubt
    title = arguments.get("title")
    if kind == "execute" and isinstance(title, str):
        return title, "the command is told only in words for people"
    return "", ""


def _line(value: Any) -> str:
    if isinstance(value, str):
        return value if value.strip() else ""
    if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        return " ".join("'" + word.replace("'", "'\\''") + "'" for word in value)
    return ""


def directory_in(arguments: Any) -> str:
    """The directory that a call wants to run in, if it names one."""
    return next(iter(_directories(arguments)), "")


def _directories(arguments: Any) -> list[str]:
    given = arguments if isinstance(arguments, dict) else {}
    return list(dict.fromkeys(given[name] for name in tables.DIRECTORY_ARGUMENTS if isinstance(given.get(name), str)))


def names_secrets(tool: str, kind: str, values: list[tuple[str, str]]) -> str:
    """A pattern for names of files that is made for those that hold secrets; empty when there is none."""
    if kind not in ("read", "search"):
        return ""
    is_grep = "grep" in tool.lower()
    patterns = [text for name, text in values if name in _GLOBS and not (is_grep and name == "pattern")]
    return next((text for text in patterns if any(map(_is_secret_glob, _GLOB_PARTS.split(text)))), "")


def _is_secret_glob(part: str) -> bool:
    """Whether a part of a pattern can only be meant for hidden files or for such as hold secrets."""
    name = part.rpartition("/")[2]
    bare = re.sub(r"[*?\[\]!]", "", part)
    is_hidden = name.startswith((".", "[.", "?")) and name not in (".", "..")
    return is_hidden or tables.SECRET.search(bare) is not None or tables.SECRET.search(part) is not None
