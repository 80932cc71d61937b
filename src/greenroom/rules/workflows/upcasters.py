"""Converts events of earlier versions into current ones."""

from collections.abc import Mapping
from typing import Any

from greenroom.log.model import Upcast


def _split(text: str) -> dict[str, str]:
    """Version 1 had a kind and a key in one text: `run ID`, `time`."""
    kind, _, key = text.partition(" ")
    return {"kind": kind, "key": key}


def split_wait(fields: dict[str, Any]) -> dict[str, Any]:
    return {**fields, "waits_for": _split(fields["waits_for"])}


def split_outside_work(fields: dict[str, Any]) -> dict[str, Any]:
    return {**fields, "what": _split(fields["what"])}


UPCAST: Mapping[tuple[str, int], Upcast] = {
    ("StepBegan", 1): split_wait,
    ("StepMoved", 1): split_wait,
    ("EndingWanted", 1): split_outside_work,
    ("EndingDone", 1): split_outside_work,
}
