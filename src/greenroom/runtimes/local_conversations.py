"""Conversations that people had with agents' own programs on this machine, for an agent of the hub to take up."""

import heapq
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_LOOKED_THROUGH = 512 * 1024
"""How much of a conversation is read to find where it was and what it began with."""
_WORDS = 200


class LocalConversation(msgspec.Struct, frozen=True, kw_only=True):
    """One conversation."""

    driver: str
    session: str
    directory: str
    words: str
    """What it began with."""
    at: float
    """When something was last said in it, in seconds."""


def find_local_conversations(env: Mapping[str, str], limit: int) -> list[LocalConversation]:
    """The newest conversations of Claude Code and Codex; those of which nothing can be told are left out."""
    dated = ((_read_mtime(path), driver, path) for driver, path in _find_files(env))
    found: list[LocalConversation] = []
    for at, driver, path in heapq.nlargest(4 * limit, dated):
        past = _read(driver, path, at)
        if past is not None:
            found.append(past)
        if len(found) == limit:
            break
    return found


def get_local_conversation(env: Mapping[str, str], session: str) -> LocalConversation | None:
    """One conversation by its id."""
    named = [(driver, path) for driver, path in _find_files(env) if path.stem.endswith(session)] if session else []
    return next((past for driver, path in named if (past := _read(driver, path, _read_mtime(path)))), None)


def _find_files(env: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    """Where they are kept, and by which program."""
    home = Path(env.get("HOME") or Path.home())
    claude = Path(env.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "projects"
    codex = Path(env.get("CODEX_HOME") or home / ".codex") / "sessions"
    found = (("claude", claude.glob("*/*.jsonl")), ("codex", codex.glob("*/*/*/rollout-*.jsonl")))
    return ((driver, path) for driver, paths in found for path in paths if _ID.fullmatch(path.stem[-36:]))


def _read_mtime(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _read(driver: str, path: Path, at: float) -> LocalConversation | None:
    directory = words = ""
    for line in _read_lines(path):
        directory = directory or _extract_directory(line)
        words = words or _extract_user_text(line)
        if directory and words:
            session = path.stem[-36:]
            return LocalConversation(driver=driver, session=session, directory=directory, words=words[:_WORDS], at=at)
    return None


def _read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The beginning of a file, line by line; what is no object is passed over."""
    try:
        with path.open("rb") as file:
            for raw in file.read(_LOOKED_THROUGH).splitlines():
                try:
                    line = json.loads(raw)
                except ValueError:
                    continue
                if isinstance(line, dict):
                    yield line
    except OSError:
        return


def _extract_directory(line: dict[str, Any]) -> str:
    """Where it was: each line of Claude Code says so, the first one of Codex."""
    match line:
        case {"cwd": str(directory)} | {"type": "session_meta", "payload": {"cwd": str(directory)}}:
            return directory
    return ""


def _extract_user_text(line: dict[str, Any]) -> str:
    """What a person has said; what the programs themselves add begins with a tag, or so that one knows it."""
    match line:
        case {"isMeta": True}:
            return ""
        case {"type": "user", "message": {"content": found}}:
            content = found
        case {"type": "response_item", "payload": {"type": "message", "role": "user", "content": found}}:
            content = found
        case _:
            return ""
    parts = content if isinstance(content, list) else [{"text": content}]
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    said = " ".join(" ".join(text.split()) for text in texts if isinstance(text, str))
    return "" if said.startswith(("<", "# AGENTS.md instructions for ")) else said
