"""What goes over the link between a node and a hub of different versions."""

from typing import Any

import msgspec
import pytest

from greenroom.link import frames, orders, reports
from greenroom.link.profile_definition import ProfileDefinition

REPORTS: dict[str, reports.Report] = {
    '{"type":"said","text":"hi"}': reports.WordsReport("hi"),
    '{"type":"call_started","call":"c","tool":"Read","title":"","input":{"a":1}}': reports.CallStarted(
        "c", "Read", input={"a": 1}
    ),
    '{"type":"permission_asked","permission":"p","call":"c","tool":"Bash","title":"","input":null,"edits":false,'
    '"directory":"/w","files":{}}': reports.CallReport("p", "c", "Bash", directory="/w"),
    '{"type":"permission_asked","permission":"p","call":"c","tool":"Bash","title":"","input":null,"edits":true,'
    '"directory":"/w","resolved":{"a":"/b"},"own":true,"files":{"f":"d"}}': reports.CallReport(
        "p", "c", "Bash", edits=True, directory="/w", resolved={"a": "/b"}, own=True, files={"f": "d"}
    ),
    '{"type":"opened","session":"s","details":{},"credential":"k","place":{"directory":"/w","repository":"",'
    '"branch":"","model":""}}': reports.SessionReport("s", credential="k", place=reports.WorkPlace("/w")),
    '{"type":"turn_used_up","reason":"quota","error":"","resets_at":5,"output":null,"text":"so"}': reports.TurnUsedUp(
        "quota", resets_at=5, text="so"
    ),
    '{"type":"approval_refused","permission":"p","reason":"no"}': reports.ApprovalUnused("p", "no"),
    '{"type":"changed","base":"b","diff":"d","is_cut":false}': reports.WorktreeChanged("b", "d"),
    '{"type":"lost"}': reports.RunLost(),
    '{"type":"asleep","agent":"a"}': reports.FellAsleep("a"),
}
ORDERS: dict[str, orders.Work] = {
    '"what":"start","run":"r","agent":"a","body":{"profile":"p","definition":{"driver":"d","model":"m"},"prompt":"x",'
    '"thread_id":null,"thread_topic":null,"keep":false,"task":"r","is_step":false,"session":null}': orders.StartOrder(
        profile="p", definition=ProfileDefinition(driver="d", model="m"), prompt="x", task="r"
    ),
    '"what":"decide","run":"r","agent":"a","body":{"permission":"r:7","decision":"allow","text":"","arguments":null,'
    '"digest":"d","ask":""}': orders.DecideOrder(native="7", decision="allow", digest="d"),
    '"what":"steer","run":"r","agent":"a","body":{"text":"go"}': orders.SteerOrder(text="go"),
    '"what":"go_on","run":"r","agent":"a","body":{}': orders.ResumeOrder(),
}


@pytest.mark.parametrize("text", REPORTS)
def test_a_report_goes_over_the_link_as_it_always_has(text: str) -> None:
    item = frames.ItemFrame(number=1, run="r", at=2, heard=REPORTS[text])
    sent = frames.encode(item).decode()
    assert sent == f'{{"op":"item","number":1,"run":"r","at":2,"heard":{text}}}'
    assert frames.decode_from_node(sent) == item


@pytest.mark.parametrize("text", ORDERS)
def test_an_order_goes_over_the_link_as_it_always_has(text: str) -> None:
    order = frames.Ordered(id="o", run="r", agent="a", work=ORDERS[text])
    sent = frames.encode_from_hub(order).decode()
    assert sent == f'{{"op":"order","id":"o",{text},"token":null,"credential":null,"good_for_s":null}}'
    assert frames.decode_from_hub(sent) == order


@pytest.mark.parametrize(
    ("heard", "read"),
    [
        ({}, reports.UnknownReport("")),
        ({"type": "dreamed", "of": ["sheep"]}, reports.UnknownReport("dreamed", {"of": ["sheep"]})),
        ({"type": "turn_ended", "reason": "bored"}, reports.TurnReport("failed")),
        ({"type": "opened", "session": None, "place": "home"}, reports.SessionReport("")),
        ({"type": "permission_asked", "permission": "p", "files": [1]}, reports.CallReport("p", "", "")),
        ({"type": "died", "last_words": "oh", "mood": "bad"}, reports.Died(None, "oh")),
    ],
)
def test_a_report_of_another_version_is_read_as_far_as_it_can_be(heard: dict[str, Any], read: reports.Report) -> None:
    text = msgspec.json.encode({"op": "item", "number": 1, "run": "r", "at": 2, "heard": heard}).decode()
    assert frames.decode_from_node(text) == frames.ItemFrame(number=1, run="r", at=2, heard=read)


@pytest.mark.parametrize(("what", "body"), [("dance", {}), ("start", {"definition": {"driver": "d", "colour": "red"}})])
def test_an_order_that_a_node_cannot_read_is_known_as_such(what: str, body: dict[str, Any]) -> None:
    frame = {"op": "order", "id": "o", "what": what, "run": "r", "agent": "a", "body": body}
    order = frames.decode_from_hub(msgspec.json.encode(frame))
    assert isinstance(order, frames.Ordered) and isinstance(order.work, orders.UnknownOrder)
    assert orders.get_order_name(order.work) == what
