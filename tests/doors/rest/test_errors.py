"""How errors become answers."""

import logging

import httpx
import msgspec
import pytest
from starlette.exceptions import HTTPException

from greenroom.doors.http.errors import STATUS, HttpRefused, build_error_response
from greenroom.errors import LOGGED, Refused, Unavailable
from greenroom.testing.hub_process import HubProcess


@pytest.mark.parametrize(("kind", "status"), STATUS.items())
def test_each_kind_of_refusal_has_its_status(kind: str, status: int) -> None:
    answer = build_error_response(Refused.in_words("some_code", "Do this instead.", kind, limit=3))  # type: ignore[arg-type]
    assert answer.status_code == status
    said = msgspec.json.decode(answer.body)
    assert said.pop("retry_after", None) == (1 if status == 429 else None)
    assert said == {"detail": "Do this instead.", "code": "some_code", "limit": 3}
    assert ("retry-after" in answer.headers) == (status == 429)


_NOT_NOW = [(Unavailable("storage_full.restore", 0.2), 507), (Unavailable("stopping", 0.2), 503)]


@pytest.mark.parametrize(("error", "status"), _NOT_NOW)
def test_what_is_not_there_just_now_says_when_to_try_again(error: Unavailable, status: int) -> None:
    answer = build_error_response(error)
    assert (answer.status_code, answer.headers["retry-after"]) == (status, "1")
    assert msgspec.json.decode(answer.body)["code"] == error.code


def test_a_refusal_carries_what_another_language_needs() -> None:
    answer = build_error_response(Refused("too_long.summary", "too_large", limit=500))
    assert msgspec.json.decode(answer.body) == {
        "detail": "Keep the summary under 500 characters.",
        "code": "too_long",
        "key": "too_long.summary",
        "params": {"limit": 500},
    }


def test_a_refusal_with_a_time_says_when_to_try_again() -> None:
    answer = build_error_response(Refused.in_words("rate_limited", "Wait 7 s.", "limited", retry_after=7))
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "7")


def test_a_protocols_own_refusal_keeps_its_body() -> None:
    answer = build_error_response(HttpRefused(409, "SEQ_MISMATCH", {"error": "SEQ_MISMATCH"}))
    assert answer.status_code == 409
    assert msgspec.json.decode(answer.body) == {"detail": {"error": "SEQ_MISMATCH"}, "code": "SEQ_MISMATCH"}
    assert build_error_response(HTTPException(405, headers={"allow": "GET"})).headers["allow"] == "GET"


def test_a_bug_gets_a_sentence_and_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    bug = ZeroDivisionError("the secret inside")
    with caplog.at_level(logging.ERROR):
        answer = build_error_response(bug)
    assert answer.status_code == 500
    assert b"secret" not in answer.body and b"ZeroDivision" not in answer.body
    assert len(caplog.records) == 1
    bug.add_note(LOGGED)
    build_error_response(bug)
    assert len(caplog.records) == 1


def test_the_guard_refuses_in_the_same_form(shared_hub: HubProcess) -> None:
    missing = httpx.get(f"{shared_hub.url}/api/threads")
    assert (missing.status_code, missing.json()["code"]) == (401, "credential_missing")
    wrong = httpx.get(f"{shared_hub.url}/api/threads", headers={"X-Agent-Token": "bad"})
    assert (wrong.status_code, wrong.json()["code"]) == (401, "credential_wrong")
    large = httpx.post(f"{shared_hub.url}/login", content=b"x" * 5000)
    assert (large.status_code, large.json()["code"]) == (413, "too_large")
    assert all(isinstance(answer.json()["detail"], str) for answer in (missing, wrong, large))
