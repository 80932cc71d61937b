"""The page as the hub serves it: its routes, its files, and what is said of who may see them."""

import re
from collections.abc import Iterator

import httpx
import pytest

from greenroom.doors.page import load_build
from greenroom.testing.browser_login import log_in
from greenroom.testing.hub_process import HubProcess
from greenroom.testing.machine_requirements import skip_or_fail


@pytest.fixture
def browser(shared_hub: HubProcess) -> Iterator[httpx.Client]:
    """Somebody who has logged in."""
    if not load_build().is_there:
        skip_or_fail("the page is not built (see `make page`)")
    headers = {"Authorization": f"Bearer {shared_hub.token}"}
    code = httpx.post(f"{shared_hub.url}/api/login-codes", headers=headers).json()["code"]
    with httpx.Client(base_url=shared_hub.url, headers={"Origin": shared_hub.url}) as client:
        log_in(client, code)
        yield client


def test_any_path_of_a_panel_shows_the_page(browser: httpx.Client) -> None:
    for path in ("/", "/home", "/home/any/depth"):
        shown = browser.get(path)
        assert (shown.status_code, shown.headers["content-type"]) == (200, "text/html; charset=utf-8"), path


def test_an_address_that_leads_nowhere_shows_a_browser_the_page_and_tells_programs_in_json(
    browser: httpx.Client, shared_hub: HubProcess
) -> None:
    opened = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    for path in ("/nothing-of-ours", "/api/nothing", "/assets/nothing.js"):
        shown = httpx.get(shared_hub.url + path, headers=opened, cookies=browser.cookies)
        assert (shown.status_code, shown.headers["content-type"]) == (404, "text/html; charset=utf-8"), path
        assert '<div id="app">' in shown.text
        told = browser.get(path)
        assert (told.status_code, told.json()["code"]) == (404, "not_found"), path
        away = httpx.get(shared_hub.url + path, headers=opened)
        assert (away.status_code, away.headers["location"]) == (303, f"/login?next={path}")
        assert httpx.get(shared_hub.url + path).status_code == 401, path
    assert browser.post("/nothing-of-ours", headers=opened).json()["code"] == "not_found"
    assert browser.get("/api/runs/none", headers=opened).json()["code"] == "run_not_found"  # the API speaks JSON
    assert httpx.get(f"{shared_hub.url}/api/runs", headers=opened).json()["code"] == "credential_missing"


def test_who_is_not_logged_in_is_sent_to_the_login_and_back(browser: httpx.Client, shared_hub: HubProcess) -> None:
    away = httpx.get(f"{shared_hub.url}/home/deep")
    assert (away.status_code, away.headers["location"]) == (303, "/login?next=/home/deep")
    assert "value='/home/deep'" in httpx.get(f"{shared_hub.url}{away.headers['location']}").text


@pytest.mark.parametrize(
    "elsewhere", ["//evil.example/x", "https://evil.example", "/\\evil.example", "javascript:x", "/..//evil.example"]
)
def test_the_login_leads_to_no_other_site(browser: httpx.Client, shared_hub: HubProcess, elsewhere: str) -> None:
    page = httpx.get(f"{shared_hub.url}/login", params={"next": elsewhere})
    assert "name='next' value='/'" in page.text


def test_the_whole_link_of_a_login_can_be_pasted_in_place_of_its_code(shared_hub: HubProcess) -> None:
    headers = {"Authorization": f"Bearer {shared_hub.token}"}
    code = httpx.post(f"{shared_hub.url}/api/login-codes", headers=headers).json()["code"]
    form = {"code": f" {shared_hub.url}/login?code={code}\n"}
    assert httpx.post(f"{shared_hub.url}/login", data=form, headers={"Origin": shared_hub.url}).status_code == 303
    again = httpx.post(f"{shared_hub.url}/login", data=form, headers={"Origin": shared_hub.url})
    assert (again.status_code, "already used" in again.text) == (401, True)


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh-CN"),
        ("zh", "zh-CN"),
        ("en;q=0.5, zh-TW;q=0.9", "zh-CN"),
        ("fr, zh;q=0.3", "zh-CN"),
        ("en-GB,zh;q=0.9", "en"),
        ("zh;q=0, de", "en"),
        ("zh;q=much", "en"),
        ("", "en"),
    ],
)
def test_the_login_form_is_in_the_language_that_the_browser_prefers(
    shared_hub: HubProcess, accepted: str, language: str
) -> None:
    page = httpx.get(f"{shared_hub.url}/login", headers={"Accept-Language": accepted}).text
    assert f"<html lang='{language}'>" in page
    assert re.findall(r"<button><span lang='(?:en|zh-CN)'( hidden)?>", page) == [" hidden" if language != "en" else ""]


def test_files_with_a_hash_in_their_name_are_kept_for_ever(browser: httpx.Client) -> None:
    (script,) = re.findall(r'src="(/assets/index-[^"]+\.js)"', browser.get("/").text)
    served = browser.get(script, headers={"accept-encoding": "br, gzip"})
    assert "immutable" in served.headers["cache-control"]
    assert served.headers["content-encoding"] in ("br", "gzip")
    assert served.headers["content-type"].startswith("text/javascript")
    assert browser.get("/").headers["cache-control"] == "no-cache"


def test_only_the_files_of_the_page_are_there_for_nobody(browser: httpx.Client, shared_hub: HubProcess) -> None:
    (script,) = re.findall(r'src="(/assets/index-[^"]+\.js)"', browser.get("/").text)
    for path in (script, "/login.css", "/login.js", "/icon.svg", "/manifest.webmanifest"):
        assert httpx.get(shared_hub.url + path).status_code == 200, path
    for path in ("/panels.json", "/build.txt", "/index.html", "/assets/../index.html", "/..%2fsettings.py"):
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


def test_answers_of_a_page_of_another_build_are_refused_until_it_is_loaded_again(browser: httpx.Client) -> None:
    (build,) = re.findall(r'name="greenroom-build" content="([0-9a-f]{16})"', browser.get("/").text)
    ask = browser.post("/api/asks", json={"kind": "gate", "title": "Ship it?"}).json()
    path, batch = f"/api/asks/{ask['id']}/answer", {"answers": [{"ask_id": ask["id"], "verdict": "deny"}]}
    for where, body in ((path, {"verdict": "deny"}), ("/api/asks/answers", batch)):
        refused = browser.post(where, json=body, headers={"x-greenroom-page": "0123456789abcdef"})
        assert (refused.status_code, refused.json()["code"]) == (409, "page_outdated"), where
    taken = browser.post(path, json={"verdict": "deny"}, headers={"x-greenroom-page": build})
    assert (taken.status_code, taken.json()["state"]) == (200, "answered")
