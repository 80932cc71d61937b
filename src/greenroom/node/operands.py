"""The files that a command runs as programs, with their digests. What those load in turn is not covered."""

import hashlib
import os
from pathlib import Path
from typing import Any

from greenroom.nouns.policy.arguments import command_in, directory_in
from greenroom.nouns.policy.shell import SHELLS, Simple, parse

_MOST = 64
_WHOLE_BYTES = 64 << 20
_INTERPRETERS = SHELLS | {"python", "python3", "node", "ruby", "perl", "php", "deno", "bun", "source", "."}
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_SYSTEM = "/usr"
"""Programs of the system are not an agent's to change."""


def find_programs(tool: str, arguments: Any, directory: Path) -> dict[str, str]:
    """Each program that a command names and that is a file here, as it is written, with its digest."""
    text, _ = command_in(tool, "execute", arguments)
    commands = parse(text).commands if text else ()
    start = directory / (directory_in(arguments) or ".")
    places = [start, *(start / word for one in commands if one.program == "cd" for word in one.words[1:] if word)]
    words = [word for one in commands for word in _run_by(one)] if commands else text.split()
    found: dict[str, str] = {}
    for word in dict.fromkeys(words):
        for place in places if not word.startswith("/") else [start]:
            digest = _digest(place / word)
            if digest is not None and len(found) < _MOST:
                found[word if place is start else os.path.relpath(place / word, start)] = digest
    return found


def _run_by(one: Simple) -> list[str]:
    """The words of a simple command that are run: its program, and what an interpreter is given to read."""
    words = [word for word in one.words if word]
    if one.program == "make":
        return [*words[:1], *_MAKEFILES]
    given = [word for word in words[1:] if not word.startswith("-")] if one.program in _INTERPRETERS else []
    return words[:1] + given[:2]


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
