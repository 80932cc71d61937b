"""Requests that are wrong in form: each is refused with the place, and none is a bug."""

from collections.abc import Iterator
from typing import Any

import pytest

from greenroom.testing.hub_process import HubProcess
from tests.doors.rest.rest_rig import Rest, code_of


@pytest.fixture
def rest(shared_hub: HubProcess) -> Iterator[Rest]:
    with Rest(shared_hub) as rest:
        yield rest


BODIES: list[tuple[bytes, str]] = [
    (b"{", "truncated"),
    (b"[]", "write a mapping"),
    (b'"text"', "write a mapping"),
    (b'{"content": 1}', "content: write a text"),
    (b'{"author": "human"}', "content"),
    (b'{"content": "x", "metadata": [1]}', "metadata"),
    (b'{"content": "x", "mentions": [1]}', "mentions[0]: write a text"),
    (b'{"content": "x", "metadata": {"n": NaN}}', "malformed"),
    (b'{"content": "x", "metadata": {"n": 1e999}}', "metadata"),
    (b'{"content": "x", "metadata": {"n": ' + b"9" * 5000 + b"}}", "metadata"),
    (b'{"content": "\\ud800"}', "not valid"),
    (b'{"content": "\\ud800\\ud800"}', "surrogate"),
    (b'{"content": "\xff"}', "utf-8"),
    (
        b'{"content": "x", "expected_last_seq": -1}',
        "expected_last_seq: write a whole number from 0 to 9007199254740992",
    ),
    (
        b'{"content": "x", "expected_last_seq": 99999999999999999999}',
        "expected_last_seq: write a whole number from 0 to 9007199254740992",
    ),
    (b'{"content": "x", "metadata": {"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}}", "nested too deeply"),
    (b'{"content": "x", "metadata": {"a": ' + b"[" * 40 + b"]" * 40 + b"}}", "levels"),
    (b'{"content": "x", "metadata": {"a": ' + b'{"a":' * 500 + b"1" + b"}" * 500 + b"}}", "levels"),
]


@pytest.mark.parametrize(("body", "place"), BODIES)
def test_a_body_of_another_form_is_refused_with_the_place(rest: Rest, body: bytes, place: str) -> None:
    thread = rest.thread()
    refused = rest.operator.post(f"/api/threads/{thread}/messages", content=body)
    assert refused.status_code == 400, refused.text
    assert place in refused.json()["detail"]
    assert rest.operator.get(f"/api/threads/{thread}/messages").json() == []


def test_metadata_within_bounds_comes_back_as_it_was(rest: Rest) -> None:
    thread = rest.thread()
    metadata: dict[str, Any] = {"big": 2**63, "text": "\x00\u2028", "list": [[[]]]}
    posted = rest.operator.post(
        f"/api/threads/{thread}/messages", json={"content": "nul \x00 inside", "metadata": metadata}
    )
    assert posted.status_code == 201
    shown = rest.operator.get(f"/api/threads/{thread}/messages").json()[0]
    assert (shown["content"], shown["metadata"]) == ("nul \x00 inside", posted.json()["metadata"])


@pytest.mark.parametrize(
    "path",
    [
        "/api/threads",
        "/api/agents/register",
        "/api/agents/heartbeat",
        "/api/agents/resume",
        "/api/agents/unregister",
        "/api/templates",
        "/api/credentials",
    ],
)
@pytest.mark.parametrize("body", [b"{", b"[]", b"null", b'{"a": 1}', b"\xff", b"[" * 100_000])
def test_every_endpoint_with_a_body_refuses_what_it_cannot_read(rest: Rest, path: str, body: bytes) -> None:
    assert code_of(rest.operator.post(path, content=body)) == (400, "bad_request")


@pytest.mark.parametrize(
    ("path", "name", "value"),
    [
        ("/api/threads", "limit", "-1"),
        ("/api/threads", "limit", "many"),
        ("/api/threads", "include_archived", "perhaps"),
        ("/api/threads", "before", "bogus"),
        ("/api/threads", "before", "9" * 400),
        ("/api/threads", "status", "bogus"),
        ("/api/threads/{}/messages", "limit", "0"),
        ("/api/threads/{}/messages", "limit", "-1"),
        ("/api/threads/{}/messages", "after_seq", "-1"),
        ("/api/threads/{}/messages", "after_seq", "x"),
        ("/api/threads/{}/messages", "after_seq", "1000000000000000000"),
        ("/api/threads/{}/messages", "before_seq", "9" * 30),
        ("/api/threads/{}/messages", "priority", "silly"),
        ("/api/search?q=x", "limit", "-1"),
        ("/api/audit", "limit", "1000000000000000000"),
        ("/api/runs", "limit", "-1"),
        ("/api/runs", "status", "silly"),
        ("/api/asks", "limit", "-1"),
        ("/api/workflow-runs", "limit", "-1"),
        ("/api/audit", "after_seq", "garbage"),
    ],
)
def test_a_query_that_makes_no_sense_is_refused_with_what_to_write(
    rest: Rest, path: str, name: str, value: str
) -> None:
    filled = path.format(rest.thread()) if "{}" in path else path
    refused = rest.operator.get(f"{filled}{'&' if '?' in filled else '?'}{name}={value}")
    assert code_of(refused) == (400, "bad_request")
    assert name in refused.json()["detail"]


@pytest.mark.parametrize("before", ["2026-11-15T10:00:00", "2026-11-15", "0001-01-01T00:00:00+00:00", "9999-12-31"])
def test_any_iso_time_is_a_place_in_the_list(rest: Rest, before: str) -> None:
    assert rest.operator.get("/api/threads", params={"before": before}).status_code == 200


def test_a_path_or_method_that_is_not_there_is_told_in_json(rest: Rest) -> None:
    assert rest.operator.get("/api/nope").json() == {
        "detail": "Not Found",
        "code": "not_found",
        "key": "not_found",
        "params": {},
    }
    refused = rest.operator.patch("/api/threads")
    assert refused.json() == {
        "detail": "Method Not Allowed",
        "code": "method_not_allowed",
        "key": "method_not_allowed",
        "params": {},
    }
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, POST")
    for path in ("/api/threads/", "/api//threads", "/api/threads//messages", "/API/threads", "/api/threads/{}/x"):
        assert code_of(rest.operator.get(path)) == (404, "not_found")


def test_a_head_is_a_get_without_a_body(rest: Rest) -> None:
    answer = rest.operator.head("/api/threads")
    assert (answer.status_code, answer.content) == (200, b"")


def test_a_path_with_a_name_in_it_has_the_limit_that_it_declares(rest: Rest) -> None:
    large = {"text": "x" * 5_000_000}
    assert code_of(rest.operator.post("/api/asks/ask_nowhere/answer", json=large)) == (400, "bad_request"), (
        "it was read"
    )
    assert code_of(rest.operator.post("/api/threads/thr_nowhere/messages", json=large)) == (413, "too_large")


def test_a_number_that_no_store_can_hold_is_no_bug_in_any_query(rest: Rest) -> None:
    paths = rest.operator.get("/openapi.json").json()["paths"]
    wrong = []
    for path, methods in paths.items():
        for field in methods.get("get", {}).get("parameters", []):
            if field["in"] != "query" or "integer" not in str(field["schema"]):
                continue
            for number in (2**64, -(2**64), 10**400):
                answer = rest.operator.get(path, params={field["name"]: str(number)})
                if answer.status_code >= 500:
                    wrong.append((path, field["name"], number))
    assert wrong == []
