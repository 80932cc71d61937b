"""The page as the people of a room open it, and what they may do there."""

import httpx
import pytest

from greenroom.testing.browser_login import log_in
from greenroom.testing.hub_process import HubProcess
from tests.doors.compat.assist.rig import Agent, room_token

LEFT_OUT = ("/login", "/logout", "/agentassist", "/mcp", "/api/mcp", "/sse", "/messages", "/sync", "/node")
"""Ways in and out, and doors with tables of their own."""
PEOPLES = ("/api/asks", "/api/notify", "/api/input", "/api/people")
"""What is for people, and shows each their own."""
PUBLIC = ("/n/", "/api/triggers/", "/api/hooks/", "/schemas/")
LINK = {"Sec-Fetch-Site": "none"}


def test_the_token_in_the_address_logs_in_once_its_button_is_pressed(hub: HubProcess) -> None:
    token = room_token(hub, "kitchen")
    with httpx.Client(base_url=hub.url) as browser:
        shown = browser.get("/", params={"token": token}, headers=LINK)
        assert (shown.status_code, "set-cookie" in shown.headers) == (200, False)
        assert f"value='{token}'" in shown.text and "<button>" in shown.text
        assert shown.headers["referrer-policy"] == "same-origin"
        assert browser.get("/").status_code == 303
        entered = log_in(browser, token)
        assert "HttpOnly" in entered.headers["set-cookie"]
        assert "SameSite=strict" in entered.headers["set-cookie"]
        assert token not in entered.headers["set-cookie"], "the cookie is no token"
        assert browser.get("/").status_code == 200
        me = browser.get("/api/me").json()
        assert (me["kind"], me["room"]) == ("room", "kitchen")


def test_who_comes_from_another_site_or_with_a_wrong_token_is_asked_to_log_in(shared_hub: HubProcess) -> None:
    people, asker = room_token(shared_hub, "kitchen"), room_token(shared_hub, "kitchen", "ask")
    for token, headers in (
        (people, {"Sec-Fetch-Site": "cross-site"}),
        (people, {"Sec-Fetch-Site": "same-site"}),
    ):
        answer = httpx.get(shared_hub.url, params={"token": token}, headers=headers)
        assert (answer.status_code, answer.headers["location"]) == (303, "/login")
        assert "set-cookie" not in answer.headers
    for token in ("test-token", shared_hub.token, asker):
        assert "set-cookie" not in httpx.get(shared_hub.url, params={"token": token}, headers=LINK).headers
        assert httpx.post(f"{shared_hub.url}/login", data={"code": token}).status_code == 401
    form = httpx.post(f"{shared_hub.url}/login", data={"code": people}, headers={"Origin": shared_hub.url})
    assert (form.status_code, "set-cookie" in form.headers) == (303, True)


def test_a_revoked_token_ends_the_browser_too(hub: HubProcess) -> None:
    token = room_token(hub, "kitchen")
    operator = {"Authorization": f"Bearer {hub.token}"}
    with httpx.Client(base_url=hub.url) as browser:
        log_in(browser, token)
        assert browser.get("/api/me").status_code == 200
        (mine,) = [
            one["id"]
            for one in httpx.get(f"{hub.url}/api/credentials", headers=operator).json()
            if one["kind"] == "room" and not one["browser"]
        ]
        httpx.delete(f"{hub.url}/api/credentials/{mine}", headers=operator)
        assert browser.get("/api/me").status_code == 401
        assert browser.get("/").status_code == 303


def test_a_room_is_let_in_nowhere_but_to_its_asks(hub: HubProcess) -> None:
    token, other = room_token(hub, "kitchen"), room_token(hub, "cellar")
    routes = httpx.get(f"{hub.url}/openapi.json", headers={"Authorization": f"Bearer {hub.token}"}).json()["paths"]
    open_to_it = set()
    with httpx.Client(base_url=hub.url, headers={"Authorization": f"Bearer {token}"}) as room:
        for path, methods in routes.items():
            for method in methods:
                if not path.startswith(LEFT_OUT):
                    answer = room.request(method, path.replace("{", "").replace("}", ""), json={})
                    assert answer.status_code < 500, (method, path, answer.text)
                    if answer.status_code not in (401, 403):
                        open_to_it.add(path)
    assert {path for path in open_to_it if not path.startswith(PEOPLES + PUBLIC)} <= {
        "/",
        "/health",
        "/api/ids",
        "/api/me",
    }
    call = Agent(hub, other).ask("q", "Whose?")
    operator = {"Authorization": f"Bearer {hub.token}"}
    asks: list[dict[str, str]] = []
    while not asks:
        asks = httpx.get(f"{hub.url}/api/asks", headers=operator).json()["asks"]
    answer = {"verdict": "answer", "text": "mine"}
    for who, status in ((token, 404), (other, 200)):
        headers = {"Authorization": f"Bearer {who}"}
        answered = httpx.post(f"{hub.url}/api/asks/{asks[0]['id']}/answer", json=answer, headers=headers)
        assert answered.status_code == status, answered.text
    assert call.done().contents[0].text.text == "mine"


@pytest.mark.parametrize(("accept", "body"), [(None, b"OK"), ("text/plain", b"OK"), ("*/*", None)])
def test_health_is_said_as_each_client_expects_it(
    shared_hub: HubProcess, accept: str | None, body: bytes | None
) -> None:
    with httpx.Client() as client:
        request = client.build_request("GET", f"{shared_hub.url}/health")
        del request.headers["accept"]
        if accept is not None:
            request.headers["accept"] = accept
        answer = client.send(request)
    assert answer.status_code == 200
    assert answer.content == body if body is not None else answer.json()["status"] == "ok"
