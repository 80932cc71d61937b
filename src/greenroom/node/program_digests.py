"""Digests of the files that a command runs as programs. Files that those load are not included."""

import hashlib
import os
import re
from pathlib import Path
from typing import Any

from greenroom.link.policy_facts.arguments import find_command, find_directory
from greenroom.link.policy_facts.known_tools import split_words
from greenroom.link.policy_facts.shell_parser import OTHER_SHELLS, SHELLS, ParsedShell, SimpleCommand, parse_shell

_MOST = 64
_OTHERS = "\N{HORIZONTAL ELLIPSIS}"
"""Stands for all files beyond those, with one digest for them together."""
_WHOLE_BYTES = 64 << 20
_INTERPRETERS = (
    SHELLS
    | OTHER_SHELLS
    | split_words(
        "python python3 pypy pypy3 node deno bun ruby perl php lua luajit tclsh wish Rscript osascript expect awk gawk"
        " mawk nawk sed source . xargs parallel busybox"
    )
)
"""Programs that run code from files: on such a line every named file may be such a file."""
_VERSIONED = re.compile(r"(python|pypy|perl|ruby|lua|php|node|tclsh)[0-9.]+")
_MOST_PLACES = 16
_OWN_FILES = {
    "GNUmakefile makefile Makefile": "make gmake",
    "justfile Justfile .justfile": "just",
    "build.ninja": "ninja",
    "Taskfile.yml Taskfile.yaml": "task",
    "Rakefile": "rake",
    "package.json": "npm npx pnpm yarn bun",
    "build.xml": "ant",
    "pom.xml": "mvn",
    "build.gradle build.gradle.kts": "gradle",
    "CMakeLists.txt": "cmake",
}
"""The files that these programs run when nobody names one."""
_BUILDERS = frozenset(user for users in _OWN_FILES.values() for user in users.split())
_MOVERS = _BUILDERS | {"cd", "pushd", "env"}
"""Programs that can go to another directory before they run something."""
_SYSTEM = "/usr"
"""Programs of the system are not an agent's to change."""


def digest_programs(tool: str, arguments: Any, directory: Path) -> dict[str, str]:
    """Each program that a command names and that is a file here, as it is written, with its digest."""
    text, _ = find_command(tool, "execute", arguments)
    parsed = parse_shell(text) if text else ParsedShell()
    places = _find_places(parsed.commands, directory / (find_directory("execute", arguments) or "."))
    words = _find_run_words(parsed) if parsed.commands else text.split()
    found: dict[str, str] = {}
    others = []
    for word in dict.fromkeys(words):
        for place in places if not word.startswith("/") else places[:1]:
            digest = _digest(place / word)
            if digest is None:
                continue
            name = word if place is places[0] else os.path.relpath(place / word, places[0])
            if len(found) < _MOST:
                found[name] = digest
            else:
                others.append(f"{name} {digest}")
    if others:
        found[_OTHERS] = hashlib.sha256("\n".join(others).encode("utf-8", "surrogateescape")).hexdigest()
    return found


def _find_places(commands: tuple[SimpleCommand, ...], start: Path) -> list[Path]:
    """Where the words of a line may be meant: where it starts, and wherever it goes from there."""
    places = [start]
    for one in commands:
        if one.program in _MOVERS:
            steps = [part for word in one.words[1:] if word for part in _find_file_names(word)]
            found = [(place / step).resolve() for place in places for step in steps if (place / step).is_dir()]
            places = list(dict.fromkeys([*places, *found]))[:_MOST_PLACES]
    return places


def _find_run_words(parsed: ParsedShell) -> list[str]:
    """The words of a line that may name a program file: its programs; with an interpreter among them, all its words."""
    commands = parsed.commands
    programs = [one.words[0] for one in commands if one.words[0]]
    if not any(_is_interpreter(one.program) for one in commands):
        return programs
    given = [part for one in commands for word in one.words[1:] if word for part in _find_file_names(word)]
    ran = {one.program for one in commands}
    unnamed = [file for files, users in _OWN_FILES.items() if ran & split_words(users) for file in files.split()]
    return [*programs, *unnamed, *given, *(word for word in parsed.reads if word)]


def _is_interpreter(program: str) -> bool:
    return program in _INTERPRETERS or program in _BUILDERS or _VERSIONED.fullmatch(program) is not None


def _find_file_names(word: str) -> list[str]:
    """The part of a word that may be a file's name: all of it, or what is joined to an option."""
    if not word.startswith("-"):
        return [word]
    return [word.partition("=")[2]] if "=" in word else [word[2:]] if len(word) > 2 else []


def _digest(path: Path) -> str | None:
    try:
        real = path.resolve()
        if real.is_relative_to(_SYSTEM) or not real.is_file():
            return None
        about = real.stat()
        if about.st_size > _WHOLE_BYTES:
            return hashlib.sha256(f"{about.st_size} {about.st_ino} {about.st_mtime_ns}".encode()).hexdigest()
        with real.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError, RuntimeError):  # it cannot be read, or its links go round in a circle
        return None
