"""Limits how many values a node may send in one call, because the event loop reads each of them several times."""

from typing import Any

import msgspec

from greenroom.link.reports import CallReport, CallStarted, QuestionAsked, Report

ReadReport = CallStarted | CallReport | QuestionAsked
"""Those whose values the rules read."""
replace = msgspec.structs.replace

MOST_VALUES = 10_000


def has_too_many_values(report: Report) -> bool:
    """Whether a report holds more values than the rules look at; stops counting there."""
    left = MOST_VALUES
    waiting: list[Any] = [msgspec.structs.asdict(report)]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict | list):
            left -= len(one)
            if left < 0:
                return True
            waiting += one.values() if isinstance(one, dict) else one
    return False


def trim_values(
    report: CallStarted | CallReport | QuestionAsked, size: int
) -> CallStarted | CallReport | QuestionAsked:
    """A report without its long lists and objects; instead of a call's arguments it has a note of its size in bytes."""
    match report:
        case CallReport():
            return replace(report, input=_note_size(size), resolved=msgspec.UNSET, files={})
        case CallStarted():
            return replace(report, input=_note_size(size))
        case QuestionAsked():
            return replace(report, options=[])


def _note_size(size: int) -> dict[str, Any]:
    return {"too_large": True, "bytes": size}
