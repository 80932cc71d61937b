"""What a newcomer meets first."""

import httpx

from greenroom.testing.hub_process import HubProcess


def test_a_fresh_hub_answers_nobody_without_a_credential_but_the_login_page(hub: HubProcess) -> None:
    assert httpx.get(f"{hub.url}/login").status_code == 200
    assert httpx.get(f"{hub.url}/api/threads").status_code == 401


def test_a_one_time_code_lets_one_browser_in_once(hub: HubProcess) -> None:
    entered = httpx.post(f"{hub.url}/login", data={"code": hub.login_code})
    assert entered.status_code == 303
    assert "HttpOnly" in entered.headers["set-cookie"]
    assert "SameSite=strict" in entered.headers["set-cookie"]
    assert httpx.post(f"{hub.url}/login", data={"code": hub.login_code}).status_code == 401
