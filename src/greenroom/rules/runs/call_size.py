"""Limits how many values a node may send in one call, because the event loop reads each of them several times."""

from typing import Any

MOST_VALUES = 10_000


def has_too_many_values(heard: dict[str, Any]) -> bool:
    """Whether an item holds more values than the rules look at; stops counting there."""
    left = MOST_VALUES
    waiting: list[Any] = [heard]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict | list):
            left -= len(one)
            if left < 0:
                return True
            waiting += one.values() if isinstance(one, dict) else one
    return False


def trim_values(heard: dict[str, Any], size: int) -> dict[str, Any]:
    """An item whose lists and objects are replaced by a note of its size in bytes."""
    note = {"too_large": True, "bytes": size}
    return {name: note if isinstance(value, dict | list) else value for name, value in heard.items()}
