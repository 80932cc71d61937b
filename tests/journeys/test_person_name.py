"""One name for each person, in threads, answers, the audit and the list of logins, whichever credential they use."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from greenroom.testing.browser_login import log_in
from greenroom.testing.hub_process import HubProcess, wait_until
from greenroom.testing.timeouts import WAIT_S
from tests.cli.shell import done, greenroom
from tests.doors.sync.sync_rig import SyncClient

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
IPHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5"
    " Mobile/15E148 Safari/604.1"
)


def client(hub: HubProcess, token: str) -> httpx.Client:
    return httpx.Client(base_url=hub.url, headers={"Authorization": f"Bearer {token}"}, timeout=WAIT_S)


@contextmanager
def browser(hub: HubProcess, by: httpx.Client, user_agent: str = FIREFOX) -> Iterator[httpx.Client]:
    """A browser that was logged in by somebody's code."""
    code = by.post("/api/login-codes").json()["code"]
    headers = {"User-Agent": user_agent, "Origin": hub.url}
    with httpx.Client(base_url=hub.url, headers=headers, timeout=WAIT_S) as page:
        log_in(page, code)
        yield page


def person(hub: HubProcess, api: httpx.Client, name: str) -> httpx.Client:
    made = api.post("/api/credentials", json={"kind": "operator", "name": name}).json()
    return client(hub, made["token"])


def said_by(api: httpx.Client, thread: str, **fields: str) -> tuple[str, str | None]:
    posted = api.post(f"/api/threads/{thread}/messages", json={"content": "hi", **fields})
    assert posted.status_code == 201, posted.text
    message = api.get(f"/api/threads/{thread}/messages").json()[-1]
    return message["author"], message["author_id"]


def names_in_audit(api: httpx.Client, kind: str) -> list[str]:
    return [event["name"] for event in api.get("/api/audit", params={"type": kind, "limit": 1000}).json()["events"]]


def test_an_owner_is_called_human_in_threads_until_they_have_a_name(hub: HubProcess, api: httpx.Client) -> None:
    thread = api.post("/api/threads", json={"topic": "plans"}).json()["id"]
    me = api.get("/api/me").json()
    assert (me["person"], me["owner"], me["handle"], me["name"]) == ("", "", "human", "operator")
    assert said_by(api, thread) == ("human", None)
    assert "Ana Lima" in done(hub.data, "me", "--name", " Ana Lima ").out
    assert said_by(api, thread) == ("Ana Lima", None)
    assert said_by(api, thread, author="Ana Lima") == ("Ana Lima", None)
    assert said_by(api, thread, author="human") == ("human", None), "clients of AgentChatBus look for that word"
    members = {member["member_id"] for member in rows_of_thread(hub, thread)}
    assert members == {"human"}, "whoever changes their name is no new member"


def rows_of_thread(hub: HubProcess, thread: str) -> list[dict[str, Any]]:
    async def read() -> list[dict[str, Any]]:
        async with SyncClient(hub.url, hub.token) as page:
            held = await page.subscribe("thread", thread)
            return [row for (table, _), row in held.rows.items() if table == "member"]

    return asyncio.run(read())


def test_a_login_bears_the_name_of_the_person_whose_code_it_used(hub: HubProcess, api: httpx.Client) -> None:
    with (
        browser(hub, api) as before,
        person(hub, api, "bo") as bo,
        browser(hub, bo) as bos,
    ):
        before.put("/api/me/name", json={"name": "Ana"})
        with browser(hub, before, IPHONE) as after:
            assert after.get("/api/me").json()["name"] == "Ana"
        assert [one.get("/api/me").json()["name"] for one in (api, before, bo, bos)] == ["Ana", "Ana", "bo", "bo"]
        assert bos.put("/api/me/name", json={"name": "Bo Ek"}).json()["person"] == "Bo Ek"
        assert bo.get("/api/me").json()["name"] == "Bo Ek"
        assert (bo.get("/api/me").json()["owner"], bo.get("/api/me").json()["handle"]) == ("Ana", "bo")
        thread = api.post("/api/threads", json={"topic": "plans"}).json()["id"]
        assert said_by(bos, thread) == ("Bo Ek", None)
    assert names_in_audit(api, "PersonNamed") == ["Ana", "Bo Ek"]


def test_answers_votes_and_the_audit_name_the_person(hub: HubProcess, api: httpx.Client) -> None:
    api.put("/api/me/name", json={"name": "Ana"})
    ask = api.post("/api/asks", json={"kind": "question", "title": "Which port?"}).json()
    with browser(hub, api) as page:
        given = {"verdict": "answer", "text": "8080", "name": "somebody else"}
        answered = page.post(f"/api/asks/{ask['id']}/answer", json=given).json()
    assert answered["answer"]["name"] == "Ana"
    assert names_in_audit(api, "AskAnswered") == ["Ana"]
    of_ana = api.get("/api/audit", params={"by": "Ana"}).json()["events"]
    assert {"PersonNamed", "AskRaised", "AskAnswered"} <= {event["type"] for event in of_ana}
    assert "Ana" in done(hub.data, "audit", "list", "--type", "AskAnswered").out


def test_one_person_with_two_credentials_has_one_vote(hub: HubProcess, api: httpx.Client) -> None:
    body = {"kind": "decision", "title": "Publish?", "approvers": 2}
    ask = api.post("/api/asks", json=body).json()
    path = f"/api/asks/{ask['id']}/answer"
    with browser(hub, api) as page, person(hub, api, "bo") as bo:
        assert api.post(path, json={"verdict": "approve"}).json()["state"] == "open"
        again = page.post(path, json={"verdict": "approve"})
        assert (again.status_code, again.json()["code"]) == (409, "already_approved")
        assert bo.post(path, json={"verdict": "approve"}).json()["state"] == "answered"


def test_who_is_asked_by_a_former_name_may_still_answer(hub: HubProcess, api: httpx.Client) -> None:
    api.put("/api/me/name", json={"name": "Ana"})
    for asked in ("operator", "Ana"):
        body = {"kind": "decision", "title": "Publish?", "asked_of": [asked]}
        ask = api.post("/api/asks", json=body).json()
        answered = api.post(f"/api/asks/{ask['id']}/answer", json={"verdict": "approve"})
        assert answered.status_code == 200, answered.text


@pytest.mark.parametrize(
    ("name", "code"),
    [("", "bad_name"), ("x" * 65, "bad_name"), ("a\u202eb", "bad_name"), ("System", "reserved_name")],
)
def test_a_name_that_is_none_is_refused(shared_hub: HubProcess, name: str, code: str) -> None:
    with client(shared_hub, shared_hub.token) as api:
        refused = api.put("/api/me/name", json={"name": name})
        assert (refused.is_success, refused.json()["code"]) == (False, code)


def test_nobody_can_be_taken_for_a_person(hub: HubProcess, api: httpx.Client) -> None:
    api.put("/api/me/name", json={"name": "Ana"})
    agent = api.post("/api/agents/register", json={"ide": "X", "model": "Y", "display_name": "Аna"}).json()
    shown = next(one for one in api.get("/api/agents").json() if one["id"] == agent["agent_id"])
    assert shown["display_name"] == "Аna 2", "the first letter is Cyrillic"
    with person(hub, api, "bo") as bo:
        for name in ("ana", "Аna 2"):
            refused = bo.put("/api/me/name", json={"name": name})
            assert (refused.status_code, refused.json()["code"]) == (409, "name_taken")
    viewer = api.post("/api/credentials", json={"kind": "viewer", "name": "wall"}).json()["token"]
    assert greenroom(hub.data, "me", "--name", "Wall", "--token", viewer).code == 1


def test_logins_are_told_apart_by_device_address_and_use(hub: HubProcess, api: httpx.Client) -> None:
    with browser(hub, api) as desk, browser(hub, api, IPHONE) as phone, browser(hub, api, "curl/8"):
        logins = {one["device"]: one for one in api.get("/api/credentials").json() if one["browser"]}
        assert logins.keys() == {"Firefox on Linux", "Safari on iPhone", ""}
        assert all((one["address"], one["last_used_at"]) == ("127.0.0.1", None) for one in logins.values())
        assert desk.get("/api/me").json()["id"] == logins["Firefox on Linux"]["id"]

        def used() -> set[str]:
            return {one["device"] for one in api.get("/api/credentials").json() if one["last_used_at"]}

        wait_until(lambda: used() == {"Firefox on Linux"})
        shown = done(hub.data, "token", "list").out
        assert "Safari on iPhone, 127.0.0.1, used 20" in shown
        assert phone.get("/api/me").is_success
