"""The calls of an agent that wait for leave: what was approved is what may run, and nothing else."""

import hashlib
import logging
import shlex
from pathlib import Path, PurePath
from typing import Any

import msgspec

from greenroom.node.paths import seen_here
from greenroom.nouns.asks.digest import digest_of
from greenroom.nouns.asks.model import Subject
from greenroom.runtimes.contract import PermissionAsked

logger = logging.getLogger(__name__)
_FILES = 8
_FILE_BYTES = 4 << 20
_INTERPRETERS = ("sh", "bash", "dash", "zsh", "python", "python3", "node", "ruby", "perl", "php", "deno", "bun")
_CHANGED = "What would run is not what was approved ({what}), so it was refused. Ask for it again."


class Gate:
    """One session's calls that wait."""

    def __init__(self) -> None:
        self._waiting: dict[str, Subject] = {}

    def noted(
        self, asked: PermissionAsked, place: Subject, directory: Path, hidden: Path | None = None
    ) -> dict[str, Any]:
        """Keep what a call would run, and tell what the hub cannot see of it."""
        arguments = msgspec.json.decode(msgspec.json.encode(asked.input))  # as the hub will read it
        seen = seen_here(directory, asked.tool, arguments, hidden) | {"files": _scripts(arguments, directory)}
        self._waiting[asked.permission] = msgspec.structs.replace(
            place, tool=asked.tool, arguments=arguments, directory=seen["directory"], files=seen["files"]
        )
        return seen

    def forget(self, permission: str) -> None:
        self._waiting.pop(permission, None)

    def refusal(self, permission: str, body: dict[str, Any]) -> str | None:
        """Why an approved call may not run after all: it, or a program that it names, is not what was approved."""
        subject = self._waiting.pop(permission, None)
        if body["decision"] != "allow" or (subject is None and not body.get("digest")):
            return None  # a no needs no look, and a question has nothing that runs
        if subject is None:
            return _CHANGED.format(what="it is not what waits now")
        try:
            arguments = body.get("arguments")
            if digest_of(subject, arguments) != body.get("digest"):
                return _CHANGED.format(what="the call has changed")
            now = subject.files if arguments is not None else _scripts(subject.arguments, Path(subject.directory))
        except (ValueError, TypeError, RecursionError, OSError):
            logger.exception("an approved call cannot be looked at")
            return _CHANGED.format(what="it cannot be looked at")
        if now != subject.files:
            return _CHANGED.format(what="a program that it names has changed")
        return None


def _scripts(arguments: Any, directory: Path) -> dict[str, str]:
    """The files that a command line runs as programs, with their SHA-256. What those load in turn is not covered."""
    line = (
        next((arguments[k] for k in ("command", "cmd") if k in arguments), None) if isinstance(arguments, dict) else ""
    )
    try:
        words = shlex.split(line, posix=True) if isinstance(line, str) else [str(word) for word in line or []]
    except ValueError:
        return {}
    found: dict[str, str] = {}
    runs_next = True
    for word in words:
        if runs_next and not word.startswith("-") and "=" not in word.partition("/")[0]:
            name = PurePath(word).name
            runs_next = name in _INTERPRETERS or name in ("env", "exec", "sudo", "nohup", "time")
            if len(found) < _FILES and (digest := _digest(directory, word)) is not None:
                found[word] = digest
        elif word in ("&&", "||", "|", ";", "&") or word.endswith(";"):
            runs_next = True
    return found


def _digest(directory: Path, word: str) -> str | None:
    path = directory / word
    try:
        if not path.is_file() or path.stat().st_size > _FILE_BYTES or path.is_relative_to("/usr"):
            return None
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except (OSError, ValueError):
        return None
