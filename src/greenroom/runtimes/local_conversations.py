"""Conversations of people with agent CLIs on this machine, which an agent of the hub can continue."""

import heapq
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from greenroom.json_types import JsonObject
from greenroom.runtimes.agent_cli import AgentCli
from greenroom.runtimes.agents import AGENTS

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
    """The newest conversations with any agent, except those about which nothing is known."""
    dated = ((_read_mtime(path), agent, path) for agent, path in _find_files(env))
    found: list[LocalConversation] = []
    for at, agent, path in heapq.nlargest(4 * limit, dated, key=lambda one: (one[0], one[2])):
        past = _read(agent, path, at)
        if past is not None:
            found.append(past)
        if len(found) == limit:
            break
    return found


def get_local_conversation(env: Mapping[str, str], session: str) -> LocalConversation | None:
    """One conversation by its id."""
    named = [(agent, path) for agent, path in _find_files(env) if path.stem.endswith(session)] if session else []
    return next((past for agent, path in named if (past := _read(agent, path, _read_mtime(path)))), None)


def _find_files(env: Mapping[str, str]) -> Iterator[tuple[AgentCli, Path]]:
    """Where they are kept, and by which agent."""
    home = Path(env.get("HOME") or Path.home())
    for agent in AGENTS:
        if (kept := agent.conversations) is not None:
            paths = Path(env.get(kept.variable) or home / kept.folder).glob(kept.pattern)
            yield from ((agent, path) for path in paths if _ID.fullmatch(path.stem[-36:]))


def _read_mtime(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _read(agent: AgentCli, path: Path, at: float) -> LocalConversation | None:
    if agent.conversations is None:
        return None
    directory = words = ""
    for line in map(agent.conversations.read_line, _read_lines(path)):
        directory = directory or line.directory
        words = words or _extract_words(line.said)
        if directory and words:
            return LocalConversation(
                driver=agent.drivers[0].name,
                session=path.stem[-36:],
                directory=directory,
                words=words[:_WORDS],
                at=at,
            )
    return None


def _read_lines(path: Path) -> Iterator[JsonObject]:
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


def _extract_words(said: Any) -> str:
    """What a person has said; what the programs themselves add begins with a tag, or so that one knows it."""
    parts = said if isinstance(said, list) else [{"text": said}]
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    words = " ".join(" ".join(text.split()) for text in texts if isinstance(text, str))
    return "" if words.startswith(("<", "# AGENTS.md instructions for ")) else words
