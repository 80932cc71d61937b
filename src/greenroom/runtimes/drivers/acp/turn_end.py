"""How a prompt ended and what it used, although agents count in different ways."""

from typing import Any, Literal

import msgspec

from greenroom.json_types import JsonObject
from greenroom.runtimes.acp_manifest import AcpManifest
from greenroom.runtimes.contract import TurnEnded
from greenroom.sentences import build_sentence

_REASONS: dict[str, Literal["done", "cancelled", "refused", "limit"]] = {
    "end_turn": "done",
    "cancelled": "cancelled",
    "refusal": "refused",
    "max_tokens": "limit",
    "max_turn_requests": "limit",
}

_LIMITS = {
    "max_tokens": build_sentence("run_error.model_tokens"),
    "max_turn_requests": build_sentence("run_error.turn_requests"),
}
"""What a runtime stops at by itself, in words: it gives none."""


class TokenCount(msgspec.Struct, frozen=True):
    """Tokens in and out, with the model if there was only one."""

    input: int = 0
    output: int = 0
    model: str | None = None

    def __add__(self, other: "TokenCount") -> "TokenCount":
        same = self.model == other.model or not self.output
        return TokenCount(self.input + other.input, self.output + other.output, other.model if same else None)

    def __or__(self, other: "TokenCount") -> "TokenCount":
        """Of two accounts of the same, the one that says more."""
        return TokenCount(max(self.input, other.input), max(self.output, other.output), other.model or self.model)

    def __sub__(self, other: "TokenCount") -> "TokenCount":
        return TokenCount(max(0, self.input - other.input), max(0, self.output - other.output), self.model)


def read_turn_end(answer: JsonObject) -> TurnEnded:
    """What the answer to a prompt says."""
    reason = str(answer.get("stopReason"))
    output = _part(_part(answer, "_meta"), "greenroom").get("output")
    if reason in _REASONS:
        return TurnEnded(reason=_REASONS[reason], error=_LIMITS.get(reason, ""), output=output)
    return TurnEnded(reason="failed", error=build_sentence("run_error.unknown_stop", reason=reason))


def read_turn_failure(words: str, data: Any) -> TurnEnded:
    """What an error in place of an answer says. ACP has no code for an account at its limit; our agents use this."""
    told = _part(data, "greenroom").get("resets_at") if isinstance(data, dict) else None
    if isinstance(told, int):
        return TurnEnded(reason="quota", error=words, resets_at=told)
    return TurnEnded(reason="failed", error=words)


class TokenMeter:
    """Counts one turn, which may take several prompts."""

    def __init__(self, manifest: AcpManifest) -> None:
        self._counts = manifest.usage
        self._session = TokenCount()
        self.turn: TokenCount | None = None

    def begin(self) -> None:
        """A turn begins."""
        self.turn = None

    def count(self, answer: JsonObject) -> None:
        """Add what the answer to a prompt reports, if it reports anything."""
        found = _count_by_model(answer)
        if found is None:
            found = _count_usage(answer)
            if found is not None and self._counts == "session":
                found, self._session = found - self._session, found
        self._add(found)

    def count_call(self, update: JsonObject) -> TokenCount | None:
        """Add what an update reports of a model call, for agents that do so; the usage of the turn up to then."""
        if self._counts != "each_call":
            return None
        self._add(_count_usage(_part(update, "_meta")))
        return self.turn

    def _add(self, found: TokenCount | None) -> None:
        if found is not None:
            self.turn = found if self.turn is None else self.turn + found


def _count_by_model(answer: JsonObject) -> TokenCount | None:
    """An account by model, which also counts calls on the side (titles, summaries)."""
    quota = _part(_part(answer, "_meta"), "quota")
    used = [
        TokenCount(*_split_tokens(_part(one, "token_count")), str(one.get("model")))
        for one in quota.get("model_usage") or []
        if isinstance(one, dict)
    ]
    if not used:
        return None
    total = used[0]
    for one in used[1:]:
        total += one
    return total


def _count_usage(answer: JsonObject) -> TokenCount | None:
    usage = answer.get("usage")
    return TokenCount(*_split_tokens(usage)) if isinstance(usage, dict) else None


def _split_tokens(counts: JsonObject) -> tuple[int, int]:
    """Tokens in and out. Whether cached tokens are part of the input differs; the total always has them."""
    output = _number(counts, "outputTokens", "output_tokens")
    given = _number(counts, "inputTokens", "input_tokens")
    return max(given, _number(counts, "totalTokens") - output), output


def _part(whole: JsonObject, name: str) -> JsonObject:
    found = whole.get(name)
    return found if isinstance(found, dict) else {}


def _number(counts: JsonObject, *names: str) -> int:
    return next((int(counts[name]) for name in names if isinstance(counts.get(name), int | float)), 0)
