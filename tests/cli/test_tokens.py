"""Credentials from the command line."""

import stat
from pathlib import Path

import httpx

from greenroom.testing.browser_login import log_in
from greenroom.testing.hub_process import HubProcess
from tests.cli.shell import done, greenroom


def test_a_token_is_shown_once_and_works_until_it_is_revoked(hub: HubProcess) -> None:
    made = done(hub.data, "token", "create", "--name", "evelyn", "--kind", "viewer", "--json").json
    assert done(hub.data, "thread", "list", "--token", made["token"]).code == 0
    assert made["token"] not in done(hub.data, "token", "list", "--json").out
    assert greenroom(hub.data, "thread", "post", "X", "hi", "--new", "--token", made["token"]).code == 1
    done(hub.data, "token", "revoke", made["id"])
    assert greenroom(hub.data, "thread", "list", "--token", made["token"]).code == 1
    assert "evelyn" not in done(hub.data, "token", "list").out
    (row,) = [r for r in done(hub.data, "token", "list", "--all").out.splitlines() if "evelyn" in r]
    assert "revoked" in row


def test_a_token_can_go_straight_to_a_file_of_its_owner(hub: HubProcess, tmp_path: Path) -> None:
    file = tmp_path / "ann.token"
    ran = done(hub.data, "token", "create", "--name", "ann", "--out", str(file))
    token = file.read_text().strip()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert token not in ran.out + ran.err
    assert token.startswith("gr_agent_")
    again = greenroom(hub.data, "token", "create", "--name", "ann", "--out", str(file))
    assert (again.code, "exists already" in again.err) == (1, True)
    assert len(done(hub.data, "token", "list", "--json").json) == 2


def test_an_enrolling_token_registers_several_agents(hub: HubProcess) -> None:
    token = done(hub.data, "token", "create", "--name", "ci", "--enrol").out.strip()
    first = done(hub.data, "agent", "register", "--called", "One", "--token", token)
    second = done(hub.data, "agent", "register", "--called", "Two", "--token", token, "--json").json
    assert first.out.startswith("gr_agent_")
    assert second["display_name"] == "Two"
    assert len(done(hub.data, "agent", "list", "--json").json) == 2


def test_a_token_for_one_thread_sees_no_other_and_ends_by_itself(hub: HubProcess) -> None:
    done(hub.data, "thread", "post", "One", "hi", "--new")
    done(hub.data, "thread", "post", "Two", "hi", "--new")
    threads = done(hub.data, "thread", "list", "--json").json["threads"]
    (one,) = [t["id"] for t in threads if t["topic"] == "One"]
    made = done(
        hub.data, "token", "create", "--name", "guest", "--kind", "viewer", "--thread", one, "--days", "1", "--json"
    ).json
    seen = done(hub.data, "thread", "list", "--json", "--token", made["token"]).json["threads"]
    assert [t["topic"] for t in seen] == ["One"]
    assert "until 20" in done(hub.data, "token", "list").out


def test_a_login_code_lets_a_browser_in_once(hub: HubProcess) -> None:
    answer = done(hub.data, "token", "login", "--json").json
    assert answer["url"].startswith(hub.url + "/login?code=")
    headers = {"Origin": hub.url}
    with httpx.Client(base_url=hub.url, headers=headers) as browser:
        log_in(browser, answer["code"])
        assert browser.get("/api/threads").status_code == 200
    assert httpx.post(f"{hub.url}/login", data={"code": answer["code"]}, headers=headers).status_code == 401


def test_a_room_token_names_its_room_and_opens_nothing_else(hub: HubProcess) -> None:
    made = done(hub.data, "token", "create", "--room", "kitchen", "--json").json
    assert (made["kind"], made["room"], made["name"], made["rights"]) == (
        "room",
        "kitchen",
        "kitchen",
        ["answer", "ask"],
    )
    asker = done(hub.data, "token", "create", "--room", "kitchen", "--only", "ask", "--json").json
    assert asker["rights"] == ["ask"]
    assert greenroom(hub.data, "thread", "list", "--token", made["token"]).code == 1
    wrong = greenroom(hub.data, "token", "create", "--room", "no room")
    assert (wrong.code, "names a room" in wrong.err) == (1, True)
    assert greenroom(hub.data, "token", "create", "--kind", "room", "--name", "x").code == 1


def test_a_token_is_made_for_threads_that_are_there(hub: HubProcess) -> None:
    done(hub.data, "thread", "post", "Plan", "hi", "--new")
    create = ("token", "create", "--name", "guest", "--kind", "viewer", "--json", "--thread")
    assert done(hub.data, *create, "Plan").json["threads"][0].startswith("thr_")
    for missing in ("Plam", "thr_zzzz"):
        ran = greenroom(hub.data, *create, missing)
        assert (ran.code, "There is no thread" in ran.err) == (1, True), ran
    assert len([c for c in done(hub.data, "token", "list", "--json").json if c["name"] == "guest"]) == 1
