"""Each refusal of the rules of asks, by its code and over REST."""

import base64
from collections.abc import Iterator
from typing import Any

import pytest

from greenroom.testing.hub_process import HubProcess
from tests.doors.rest.refusals import Case, assert_refused, describe_case
from tests.doors.rest.rest_rig import code_of
from tests.rules.asks.desk import Desk


def part(**fields: Any) -> dict[str, Any]:
    return {"title": "x", "contents": [{"type": "image", "mime": "image/png", **fields}]}


CASES = [
    *[
        Case("bad_ask", 400, "POST", "/api/asks", {"title": "x", **wrong})
        for wrong in (
            {"title": " "},
            {"timeout_s": -1},
            {"approvers": 0},
            {"asked_of": ["ann", "ann"]},
            {"asked_of": ["ann"], "approvers": 2},
            {"questions": [{"question": "?"}] * 21},
            {"labels": {"x" * 101: ""}},
        )
    ],
    Case("bad_risk", 400, "POST", "/api/asks", {"title": "x", "risk": "huge"}),
    Case("bad_content", 400, "POST", "/api/asks", part()),
    Case("bad_content", 400, "POST", "/api/asks", part(data="no base64!")),
    Case("bad_content", 400, "POST", "/api/asks", {"title": "x", "contents": [{"type": "song"}]}),
    Case("bad_content", 413, "POST", "/api/asks", {"title": "x", "contents": [{"type": "text", "text": "x"}] * 21}),
    Case("bad_batch", 400, "POST", "/api/asks/answers", {"answers": []}),
    Case("bad_delegate", 400, "POST", "/api/asks/{ask}/delegate", {"to": "x" * 101}),
    Case("bad_verdict", 400, "POST", "/api/asks/{ask}/answer", {"verdict": "maybe"}),
    Case("not_judged", 404, "GET", "/api/policy/asked/{ask}?decision=allow"),
]


@pytest.fixture(scope="module")
def desk(shared_hub: HubProcess) -> Iterator[Desk]:
    with Desk(shared_hub) as desk:
        yield desk


@pytest.fixture(scope="module")
def known(desk: Desk) -> dict[str, str]:
    return {"ask": desk.ask()["id"]}


@pytest.mark.parametrize("case", CASES, ids=describe_case)
def test_a_wrong_request_is_refused_by_its_code(desk: Desk, known: dict[str, str], case: Case) -> None:
    assert_refused(desk.operator, known, case)


def test_the_parts_of_an_ask_are_bounded_together(tmp_path_factory: pytest.TempPathFactory) -> None:
    data = tmp_path_factory.mktemp("small") / "data"
    with HubProcess(data, env={"GREENROOM_MAX_UPLOAD_BYTES": "1000"}) as hub, Desk(hub) as desk:
        body = part(data=base64.b64encode(b"x" * 1001).decode())
        assert code_of(desk.operator.post("/api/asks", json=body)) == (413, "content_too_large")
