"""Events of runs and orders that older versions wrote: a name and what belongs to it were apart, or in one text."""

from typing import Any

import msgspec
import pytest

from greenroom.app import NOUNS
from greenroom.link.orders import CancelOrder, DecideOrder, EndOrder
from greenroom.link.reports import CallStarted, UnknownReport, WordsReport
from greenroom.log.codec import Codec
from greenroom.log.model import Event
from greenroom.rules.nodes.model import OrderGiven
from greenroom.rules.runs.events import RunHeard, RunPaused, RunWaits

ORDER = {"order_id": "o", "node_id": "n", "run_id": "r", "agent_id": "a"}
DECISION = {"permission": "r:7", "decision": "allow", "digest": "d"}


def read(kind: type[Event], fields: dict[str, Any]) -> Any:
    return Codec(NOUNS).decode(1, 1, "hub", kind.__name__, 1, msgspec.json.encode(fields)).event


@pytest.mark.parametrize(
    ("kind", "data", "heard"),
    [
        ("said", {"text": "hi"}, WordsReport("hi")),
        ("call_started", {"call": "c", "input": {"too_large": 1}}, CallStarted("c", "", input={"too_large": 1})),
        ("dreamed", {"of": "sheep"}, UnknownReport("dreamed", {"of": "sheep"})),
    ],
)
def test_what_was_heard_is_what_it_was(kind: str, data: dict[str, Any], heard: Any) -> None:
    assert read(RunHeard, {"run_id": "r", "kind": kind, "data": data, "heard_at": 1}).heard == heard


@pytest.mark.parametrize(
    ("op", "body", "work"),
    [
        ("cancel", {}, CancelOrder()),
        ("decide", DECISION, DecideOrder(native="7", decision="allow", digest="d")),
        ("start", {"prompt": 5}, EndOrder()),
    ],
)
def test_an_order_is_what_it_was(op: str, body: dict[str, Any], work: Any) -> None:
    assert read(OrderGiven, {**ORDER, "op": op, "body": body}).work == work


def test_a_wait_has_a_kind_and_words() -> None:
    assert read(RunWaits, {"run_id": "r", "waiting_for": "question: Which: a or b?"}) == RunWaits(
        run_id="r", kind="question", title="Which: a or b?"
    )
    assert read(RunPaused, {"run_id": "r", "reason": "limit: 60 s are used"}) == RunPaused(
        run_id="r", reason="60 s are used"
    )
