"""Events that older versions wrote: what a step waits for, or has ended, was one text then."""

import json
from typing import Any

import pytest

from greenroom.app import NOUNS
from greenroom.log.codec import Codec
from greenroom.log.model import Event
from greenroom.rules.workflows.events import EndingDone, EndingWanted, StepBegan, StepMoved
from greenroom.rules.workflows.model import OutsideWork, StepWait

BEGAN = {"run_id": "wfr_1", "step": "a", "attempt": 1, "status": "running"}


def read(kind: type[Event], fields: dict[str, Any]) -> Any:
    return Codec(NOUNS).decode(1, 0, "hub", kind.__name__, 1, json.dumps(fields).encode()).event


@pytest.mark.parametrize(
    ("text", "wait"),
    [
        ("run run_1", StepWait("run", "run_1")),
        ("workflow wfr_2", StepWait("workflow", "wfr_2")),
        ("ask ask_1", StepWait("ask", "ask_1")),
        ("message the big topic", StepWait("message", "the big topic")),
        ("message ", StepWait("message")),
        ("webhook deployed", StepWait("webhook", "deployed")),
        ("time", StepWait("time")),
        ("engine", StepWait("engine")),
    ],
)
def test_a_wait_in_one_text_is_read_as_kind_and_key(text: str, wait: StepWait) -> None:
    assert read(StepBegan, {**BEGAN, "waits_for": text}).waits_for == wait
    assert str(wait) == text


def test_other_events_of_the_first_version_are_read() -> None:
    moved = read(StepMoved, {"run_id": "wfr_1", "step": "a", "waits_for": "run run_2", "reason": "no list"})
    assert moved.waits_for == StepWait("run", "run_2")
    wanted = read(EndingWanted, {"run_id": "wfr_1", "step": "", "what": "agent agt_1", "reason": "over"})
    assert wanted.what == OutsideWork("agent", "agt_1")
    assert read(EndingDone, {"what": "ask ask_1"}).what == OutsideWork("ask", "ask_1")
