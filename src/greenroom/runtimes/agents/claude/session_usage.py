"""What a turn used: Claude Code counts per session, and reports the parts of a turn as they come."""

from typing import Any

import msgspec

from greenroom.json_types import JsonObject
from greenroom.runtimes.contract import Usage

_INPUT = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_MODEL_INPUT = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")


class UsageTotals(msgspec.Struct, frozen=True):
    """The usage and cost of a session so far, by model."""

    models: dict[str, tuple[int, int]] = {}
    cost_usd: float = 0.0


def read_totals(models: Any, cost_usd: Any) -> UsageTotals:
    """The totals in a result, or in the answer to get_usage."""
    known = {name: one for name, one in (models or {}).items() if isinstance(one, dict)}
    return UsageTotals(
        {name: (_sum(one, _MODEL_INPUT), _sum(one, ("outputTokens",))) for name, one in known.items()},
        float(cost_usd or 0.0),
    )


def count_tokens(usage: JsonObject) -> tuple[int, int]:
    """What one call of the model has read, from its cache or not, and written."""
    return _sum(usage, _INPUT), _sum(usage, ("output_tokens",))


class SessionUsage:
    """The usage of one session. Usage between two turns belongs to the turn that follows."""

    def __init__(self) -> None:
        self._before: UsageTotals | None = UsageTotals()
        self._model: str | None = None
        self._input = 0
        self._output = 0
        self._call_input = 0

    def resume_from(self, before: UsageTotals | None) -> None:
        """The session was resumed, and used this before; None if nobody knows."""
        self._before = before

    def count(self, event: JsonObject) -> Usage | None:
        """Follow the calls of the model; after each, what the turn has used so far, of which the cost is not known."""
        match event:
            case {"type": "message_start", "message": {"usage": dict(usage)} as message}:
                self._model = str(message.get("model") or "") or None
                self._call_input = count_tokens(usage)[0]
            case {"type": "message_delta", "usage": dict(usage)}:
                read, written = count_tokens(usage)
                self._input += max(self._call_input, read)
                self._output += written
                self._call_input = 0
                return Usage(self._input, self._output, None, self._model)
        return None

    def close(self, result: JsonObject) -> Usage:
        """A turn has ended with this: all that it has used."""
        now = read_totals(result.get("modelUsage"), result.get("total_cost_usd"))
        usage = Usage(self._input, self._output, None, self._model)
        if self._before is not None:
            share = {name: _subtract(used, self._before.models.get(name, (0, 0))) for name, used in now.models.items()}
            model = max(share, key=lambda name: share[name][1], default=None)
            used = [*share.values(), (0, 0)]
            cost_usd = round(max(0.0, now.cost_usd - self._before.cost_usd), 9)
            # The totals leave out a call that was cut off, of which the beginning was reported.
            heard = (self._input, self._output) if result.get("is_error") else (0, 0)
            total = max(heard[0], sum(i for i, _ in used)), max(heard[1], sum(o for _, o in used))
            usage = Usage(*total, cost_usd, model or self._model)
        self._before = now
        self._input = self._output = self._call_input = 0
        return usage


def _subtract(now: tuple[int, int], before: tuple[int, int]) -> tuple[int, int]:
    return max(0, now[0] - before[0]), max(0, now[1] - before[1])


def _sum(counts: JsonObject, names: tuple[str, ...]) -> int:
    return sum(int(counts[name]) for name in names if isinstance(counts.get(name), int | float))
