"""What the guard refuses before it looks at a call, by its code."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests.conftest import checked


@pytest.fixture(scope="module")
def cookie(shared_hub: HubProcess) -> str:
    """The cookie of a browser that has logged in."""
    operator = {"Authorization": f"Bearer {shared_hub.token}"}
    code = httpx.post(f"{shared_hub.url}/api/login-codes", headers=operator).json()["code"]
    return httpx.post(f"{shared_hub.url}/login", data={"code": code}).headers["set-cookie"].partition(";")[0]


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({"Host": "evil.test"}, 421, "unknown_host"),
        ({"X-Forwarded-For": "192.0.2.7"}, 400, "forwarded"),
        ({f"X-Filler-{number}": "x" for number in range(101)}, 431, "headers_too_large"),
    ],
)
def test_a_call_with_wrong_headers_is_refused(
    shared_hub: HubProcess, headers: dict[str, str], status: int, code: str
) -> None:
    bearer = {"Authorization": f"Bearer {shared_hub.token}"}
    answer = httpx.get(f"{shared_hub.url}/api/me", headers=bearer | headers)
    assert (answer.status_code, answer.json()["code"]) == (status, code)


@pytest.mark.parametrize(
    ("method", "headers", "code"),
    [("GET", {"Sec-Fetch-Site": "cross-site"}, "foreign_site"), ("POST", {}, "origin_missing")],
)
def test_a_login_is_good_for_our_own_page_only(
    shared_hub: HubProcess, cookie: str, method: str, headers: dict[str, str], code: str
) -> None:
    answer = httpx.request(method, f"{shared_hub.url}/api/threads", headers={"Cookie": cookie, **headers})
    assert (answer.status_code, answer.json()["code"]) == (403, code)


@pytest.fixture
def slow_hub(tmp_path: Path) -> Iterator[HubProcess]:
    yield from checked(HubProcess(tmp_path / "data", {"GREENROOM_REQUESTS_PER_SECOND": "1"}))


def test_a_credential_that_calls_too_often_is_slowed_down(slow_hub: HubProcess) -> None:
    bearer = {"Authorization": f"Bearer {slow_hub.token}"}
    with httpx.Client(base_url=slow_hub.url, headers=bearer, timeout=WAIT_S) as operator:
        refused = next(answer for _ in range(1_000) if (answer := operator.get("/api/me")).status_code != 200)
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_requests")
    assert refused.json()["params"] == {"per_second": 1.0}
