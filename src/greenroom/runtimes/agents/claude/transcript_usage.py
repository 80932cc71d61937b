"""Usage of a session in its terminal: tokens from its transcript, money from its status line."""

import glob
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from greenroom.json_types import JsonObject
from greenroom.runtimes.agents.claude.session_usage import count_tokens
from greenroom.runtimes.contract import Usage
from greenroom.runtimes.jsonl_tail import JsonlTail

_FILES = 200
_INVENTED = "<synthetic>"
"""The model of messages that Claude Code writes itself."""


class TranscriptUsage:
    """One session's. What was used between two turns belongs to the turn that follows."""

    def __init__(self, before: Iterable[Path]) -> None:
        """What is in these transcripts now was used before."""
        self._lines = JsonlTail()
        for own in before:
            for path in _find_all_transcripts(own):
                self._lines.skip(path)
        self._calls: dict[str, tuple[int, int]] = {}
        """What each call of the model has used; one is written down in several pieces."""
        self._model: str | None = None
        self._told_usd: float | None = None
        self._before_usd: float | None = None
        self._last_said = ""
        self._times_said: Counter[str] = Counter()
        """How often the session itself has said each text in this turn."""

    def tell_cost(self, told: JsonObject) -> None:
        """Take what the status line was given: the cost of the session so far."""
        cost = told.get("cost")
        total = cost.get("total_cost_usd") if isinstance(cost, dict) else None
        if isinstance(total, int | float):
            self._told_usd = float(total)
            if self._before_usd is None:
                self._before_usd = self._told_usd

    def read_more(self, transcript: Path) -> None:
        """Read on."""
        for path in _find_all_transcripts(transcript):
            for entry in self._lines.read(path, b'"usage"'):
                self._take(entry, is_own=path == transcript)

    def has_said(self, text: str, times: int) -> bool:
        """Whether the last answer that was read is this one, said that often in the turn: then nothing is missing."""
        return self._last_said == text.strip() and self._times_said[self._last_said] >= times

    def count_used(self) -> Usage:
        """What the turn has used so far."""
        cost_usd = None
        if self._told_usd is not None and self._before_usd is not None:
            cost_usd = round(max(0.0, self._told_usd - self._before_usd), 9)
        spent = [*self._calls.values(), (0, 0)]
        return Usage(sum(i for i, _ in spent), sum(o for _, o in spent), cost_usd, self._model)

    def close(self) -> None:
        """A turn is over."""
        self._calls.clear()
        self._times_said.clear()
        self._before_usd = self._told_usd

    def _take(self, entry: JsonObject, *, is_own: bool) -> None:
        message = entry.get("message")
        if entry.get("type") != "assistant" or not isinstance(message, dict) or message.get("model") == _INVENTED:
            return
        usage = message.get("usage")
        if isinstance(usage, dict):
            self._calls[str(message.get("id"))] = count_tokens(usage)
            self._model = str(message.get("model") or "") or self._model
        texts = [block.get("text") for block in message.get("content") or [] if isinstance(block, dict)]
        if is_own and any(texts):
            self._last_said = "".join(str(text) for text in texts if text).strip()
            self._times_said[self._last_said] += 1


def find_transcripts(env: Mapping[str, str], session: str) -> list[Path]:
    """Where Claude Code has written a session down so far."""
    folder = env.get("CLAUDE_CONFIG_DIR") or str(Path(env.get("HOME") or "/") / ".claude")
    return list(Path(folder).glob(f"projects/*/{glob.escape(session)}.jsonl"))


def _find_all_transcripts(transcript: Path) -> list[Path]:
    """A session's transcript, and those of the helpers that it has started."""
    helpers = sorted(transcript.with_suffix("").glob("subagents/*.jsonl"))[:_FILES]
    return [path for path in (transcript, *helpers) if path.is_file()]
