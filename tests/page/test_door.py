"""The page as the hub serves it: its routes, its files, and what is said of who may see them."""

import re
from collections.abc import Iterator

import httpx
import pytest

from greenroom.doors.page import built
from greenroom.testing.hub_process import HubProcess
from greenroom.testing.machine import lacking


@pytest.fixture
def browser(shared_hub: HubProcess) -> Iterator[httpx.Client]:
    """Somebody who has logged in."""
    if not built().is_there:
        lacking("the page is not built (see `make page`)")
    headers = {"Authorization": f"Bearer {shared_hub.token}"}
    code = httpx.post(f"{shared_hub.url}/api/login-codes", headers=headers).json()["code"]
    with httpx.Client(base_url=shared_hub.url, headers={"Origin": shared_hub.url}) as client:
        assert client.post("/login", data={"code": code}).status_code == 303
        yield client


def test_any_path_of_a_panel_shows_the_page(browser: httpx.Client) -> None:
    for path in ("/", "/home", "/home/any/depth"):
        shown = browser.get(path)
        assert (shown.status_code, shown.headers["content-type"]) == (200, "text/html; charset=utf-8"), path
    assert browser.get("/nothing-of-ours").status_code == 404


def test_who_is_not_logged_in_is_sent_to_the_login_and_back(browser: httpx.Client, shared_hub: HubProcess) -> None:
    away = httpx.get(f"{shared_hub.url}/home/deep")
    assert (away.status_code, away.headers["location"]) == (303, "/login?next=/home/deep")
    assert "value='/home/deep'" in httpx.get(f"{shared_hub.url}{away.headers['location']}").text


@pytest.mark.parametrize("elsewhere", ["//evil.example/x", "https://evil.example", "/\\evil.example", "javascript:x"])
def test_the_login_leads_to_no_other_site(browser: httpx.Client, shared_hub: HubProcess, elsewhere: str) -> None:
    page = httpx.get(f"{shared_hub.url}/login", params={"next": elsewhere})
    assert "name='next' value='/'" in page.text


def test_files_with_a_hash_in_their_name_are_kept_for_ever(browser: httpx.Client) -> None:
    (script,) = re.findall(r'src="(/assets/index-[^"]+\.js)"', browser.get("/").text)
    served = browser.get(script, headers={"accept-encoding": "br, gzip"})
    assert "immutable" in served.headers["cache-control"]
    assert served.headers["content-encoding"] in ("br", "gzip")
    assert served.headers["content-type"].startswith("text/javascript")
    assert browser.get("/").headers["cache-control"] == "no-cache"


def test_only_the_frame_and_the_login_are_there_for_nobody(browser: httpx.Client, shared_hub: HubProcess) -> None:
    (script,) = re.findall(r'src="(/assets/index-[^"]+\.js)"', browser.get("/").text)
    assert httpx.get(shared_hub.url + script).status_code == 401
    for path in ("/login.css", "/login.js", "/icon.svg", "/manifest.webmanifest"):
        assert httpx.get(shared_hub.url + path).status_code == 200, path
    for path in ("/panels.json", "/index.html", "/assets/../index.html", "/..%2fsettings.py"):
        assert httpx.get(shared_hub.url + path).status_code in (401, 404), path


def test_the_policy_of_the_page_allows_nothing_inline_and_nothing_from_outside(browser: httpx.Client) -> None:
    policy = browser.get("/home").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy


def test_what_draws_diagrams_has_no_origin_and_reaches_nothing(browser: httpx.Client, shared_hub: HubProcess) -> None:
    frame = browser.get("/diagram.html").headers
    assert "sandbox allow-scripts" in frame["content-security-policy"]
    assert "allow-same-origin" not in frame["content-security-policy"]
    assert "default-src 'none'" in frame["content-security-policy"]
    without_origin = {"Origin": "null"}
    assert httpx.get(f"{shared_hub.url}/diagram.js", headers=without_origin).status_code == 200
    for path in ("/api/me", "/", "/login.js"):
        assert httpx.get(shared_hub.url + path, headers=without_origin).status_code == 403, path
