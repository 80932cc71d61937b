"""A request to the model, independent of its dialect."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
Blocks = list[str]
"""The texts of one tool result, in the order in which the client gave them."""

_NOISE = re.compile(
    r"<(system-reminder|environment_context|user_instructions|session_context|permissions instructions"
    r"|current_datetime|reminder|sql_tables)[^>]*>.*?</\1>",
    re.S,
)

_RUNNING = re.compile(r"^Process running with session ID (\d+)", re.M)


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A request: what users said, the tool results since, and the tools on offer by name with their schemas."""

    users: list[str]
    results: list[Blocks]
    tools: dict[str, Json]
    system: str

    @property
    def prompt(self) -> str:
        """What the user said last."""
        return self.users[-1] if self.users else ""


class Transcript:
    """Collects what users said, and the tool results that follow the last of it."""

    def __init__(self) -> None:
        self.users: list[str] = []
        self.results: list[Blocks] = []

    def add_user(self, text: str) -> None:
        """Add a message, unless all of it is context that the client attached by itself."""
        text = _unquote_text(_NOISE.sub("", text).strip())
        if text:
            self.users.append(text)
            self.results = []

    def add_result(self, blocks: Blocks) -> None:
        """Add a result; that of asking for a command's end takes the place of the one that said it was not over."""
        if self.results and get_running_session(self.results[-1]) is not None:
            self.results.pop()
        self.results.append(blocks)

    def build_request(self, tools: dict[str, Json], system: str) -> ModelRequest:
        """What was collected, as a request."""
        return ModelRequest(self.users, self.results, tools, system)


def get_running_session(blocks: Blocks) -> int | None:
    """The session of a command that Codex did not wait for to the end; None if it is over."""
    found = next((match for block in blocks if (match := _RUNNING.search(block))), None)
    return int(found[1]) if found else None


def find_texts(content: Any) -> Iterator[str]:
    """The texts in a message's content: a string, or blocks that may hold further blocks."""
    match content:
        case str():
            yield content
        case list():
            for block in content:
                yield from find_texts(block)
        case {"text": str(text)}:
            yield text
        case {"content": inner}:
            yield from find_texts(inner)


def join_texts(content: Any) -> str:
    """The texts in a message's content, joined."""
    return "\n".join(find_texts(content))


def _unquote_text(text: str) -> str:
    # One CLI sends a prompt of several words with quotes around it.
    if len(text) > 1 and text[0] == text[-1] == '"':
        try:
            return str(json.loads(text))
        except ValueError:
            return text
    return text
