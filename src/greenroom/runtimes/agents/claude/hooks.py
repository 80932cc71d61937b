"""Hooks with which Claude Code, in its own terminal, reports its work and cost, and asks for permission.

Each hook leaves what it was given in a folder and rings a bell, which is a pipe; one that asks waits for its answer.
"""

import asyncio
import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path

from greenroom.json_types import JsonObject
from greenroom.runtimes.programs import read_regular

_BELL = "bell"
_WAIT_S = 7 * 86_400
_TRIES, _AGAIN_S = 200, 0.05
_TELLING = {"UserPromptSubmit": "prompt", "PreToolUse": "call", "PostToolUse": "done", "Stop": "turn"}
_ASKING = {"PermissionRequest": "ask"}
_STATUS = "status"
_KINDS = {*_TELLING.values(), *_ASKING.values(), _STATUS}
_MOST = 16 << 20
_SIGN = "held by Greenroom"
"""The text in place of a status line."""


def build_hook_settings(folder: Path) -> JsonObject:
    """The settings that make Claude Code call them."""
    place = shlex.quote(str(folder))
    leave = "cat > {place}/{kind}.$$ && echo {kind}.$$ > {place}/{bell}"
    wait = f"mkfifo -m 600 {place}/said.$$ && {leave} && cat {{place}}/said.$$"
    planned = {}
    for words, hooks in ((leave, _TELLING), (wait, _ASKING)):
        for event, kind in hooks.items():
            command = words.format(place=place, kind=kind, bell=_BELL)
            planned[event] = [{"hooks": [{"type": "command", "command": command, "timeout": _WAIT_S}]}]
    status = leave.format(place=place, kind=_STATUS, bell=_BELL) + f" && echo {_SIGN}"
    return {"hooks": planned, "statusLine": {"type": "command", "command": status}}


class HookListener:
    """Receives the hooks of one session, and answers those that wait."""

    def __init__(self, folder: Path, heard: Callable[[str, str, JsonObject], None]) -> None:
        self._folder = folder
        self._heard = heard
        self._rest = b""
        self._answering: set[asyncio.Task[None]] = set()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        bell = folder / _BELL
        bell.unlink(missing_ok=True)
        os.mkfifo(bell, 0o600)
        self._pipe = os.open(bell, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)  # so that it never seems to be closed
        asyncio.get_running_loop().add_reader(self._pipe, self._on_hook)

    def _on_hook(self) -> None:
        *names, self._rest = (self._rest + os.read(self._pipe, 65536)).split(b"\n")
        for name in names:
            kind, _, number = name.decode(errors="replace").partition(".")
            path = self._folder / f"{kind}.{number}"
            if kind in _KINDS and number.isdigit() and (told := read_regular(path, 0, _MOST)):
                path.unlink()
                self._heard(kind, number, _parse_object(told))

    def answer(self, number: str, said: JsonObject) -> None:
        """Let a hook that asks say this, as soon as it waits; if it is gone, another has answered."""
        task = asyncio.create_task(self._answer(self._folder / f"said.{number}", json.dumps(said).encode()))
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)

    async def _answer(self, path: Path, said: bytes) -> None:
        for _ in range(_TRIES):
            try:
                pipe = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            except OSError:  # it has rung, and is only about to wait
                await asyncio.sleep(_AGAIN_S)
                continue
            with os.fdopen(pipe, "wb") as file:
                file.write(said)
            return

    def close(self) -> None:
        for task in self._answering:
            task.cancel()
        if self._pipe >= 0:
            asyncio.get_running_loop().remove_reader(self._pipe)
            os.close(self._pipe)
            self._pipe = -1


def _parse_object(told: bytes) -> JsonObject:
    try:
        found = json.loads(told)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
