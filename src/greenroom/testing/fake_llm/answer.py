"""The model's answer, before it is encoded in a dialect."""

import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass

from greenroom.testing.fake_llm.request import Json

TOKENS_IN, TOKENS_OUT = 1000, 50


@dataclass(frozen=True, slots=True)
class Say:
    """A text; with a delay it is streamed word by word."""

    text: str
    delay_s: float = 0

    def split_words(self) -> Iterator[str]:
        """The pieces in which the text is streamed."""
        for word in re.findall(r"\S+\s*", self.text) or [self.text]:
            if self.delay_s:
                time.sleep(self.delay_s)
            yield word


@dataclass(frozen=True, slots=True)
class UseTool:
    """A call of a tool; free text instead of arguments for a tool that takes that."""

    name: str
    arguments: Json | str


@dataclass(frozen=True, slots=True)
class Fail:
    """An HTTP error; with `is_too_long`, because the request is longer than the model can read."""

    status: int
    is_too_long: bool = False


@dataclass(frozen=True, slots=True)
class QuotaReply:
    """The account may ask nothing more until a time, in seconds, in the formats of Anthropic and of OpenAI."""

    until: int

    def build_headers(self) -> dict[str, str]:
        claude, codex = "anthropic-ratelimit-unified", "x-codex-primary"
        return {
            "x-should-retry": "false",
            f"{claude}-status": "rejected",
            f"{claude}-reset": str(self.until),
            f"{claude}-representative-claim": "five_hour",
            f"{codex}-used-percent": "100",
            f"{codex}-window-minutes": "300",
            f"{codex}-reset-at": str(self.until),
        }

    def build_body(self) -> Json:
        error = {"type": "usage_limit_reached", "message": "The usage limit has been reached", "resets_at": self.until}
        return {"type": "error", "error": error}


Answer = Say | UseTool | Fail | QuotaReply


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer on its way to a client. `key` is the same for the same request, and ids are made from it."""

    key: str
    model: str
    answer: Say | UseTool

    def build_id(self, prefix: str) -> str:
        return f"{prefix}{self.key}"


def encode_sse_event(data: Json, event: str | None = None) -> bytes:
    """One server-sent event."""
    head = f"event: {event}\n" if event else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()
