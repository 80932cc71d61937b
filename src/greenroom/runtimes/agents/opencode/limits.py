"""OpenCode's limits: it stops after a number of steps, and never by itself while the model's API refuses."""

from greenroom.json_types import JsonObject
from greenroom.runtimes.contract import TurnEnded
from greenroom.sentences import build_sentence

_MOST_TRIES = 5
_LONGEST_MS = 60_000


def get_retry_end(status: JsonObject, now_ms: int) -> TurnEnded | None:
    """How a turn ends whose model call OpenCode would repeat forever; None while it may still succeed.

    A far time for the next try comes from the model's API: then the account is used up until then.
    """
    tries, words = int(status.get("attempt") or 0), str(status.get("message") or "it gives no reason")
    next_ms = status.get("next")
    if isinstance(next_ms, int | float) and next_ms - now_ms > _LONGEST_MS:
        return TurnEnded(reason="quota", error=words, resets_at=int(next_ms))
    if tries < _MOST_TRIES:
        return None
    return TurnEnded(reason="limit", error=build_sentence("run_error.opencode_tries", times=tries, words=words))


def get_step_limit_end(steps: int, most: int | None) -> TurnEnded | None:
    """How a turn ends that took all its steps: in the last one OpenCode has the model stop, whatever it was doing."""
    if most is None or steps < most:
        return None
    return TurnEnded(reason="limit", error=build_sentence("run_error.opencode_steps", limit=most))
