"""A restored backup revives nothing that was ended after it was made, and locks its owner out of nothing."""

import asyncio
import contextlib
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from greenroom.rules.workflows.triggers import webhook_signature
from greenroom.testing.browser_login import log_in
from greenroom.testing.hub_process import HubProcess, wait_until
from greenroom.testing.postgres import PostgresServer
from greenroom.testing.timeouts import WAIT_S
from tests.cli.shell import done, greenroom, refuse
from tests.conftest import checked
from tests.journeys.mcp_clients import connected
from tests.rules.asks.desk import Desk
from tests.rules.asks.test_mcp import asked

WISH = {"tool_name": "Bash", "input": {"command": "rm -r build"}}


def created(api: httpx.Client, name: str, kind: str = "viewer", **fields: Any) -> dict[str, Any]:
    made = api.post("/api/credentials", json={"kind": kind, "name": name, **fields})
    assert made.status_code == 201, made.text
    return dict(made.json())


def status(hub: HubProcess, token: str, path: str = "/api/threads") -> int:
    return httpx.get(hub.url + path, headers={"Authorization": f"Bearer {token}"}, timeout=WAIT_S).status_code


def restored(hub: HubProcess, saved: Path, *args: str) -> dict[str, Any]:
    """Put a backup back in the place of what the hub has, and start the hub again."""
    hub.stop()
    told: dict[str, Any] = done(hub.data, "restore", str(saved), "--force", "--json", *args).json
    hub.start(hub.port)
    return told


def test_credentials_are_revoked_unless_they_are_kept_by_name(
    hub: HubProcess, api: httpx.Client, tmp_path: Path
) -> None:
    old_token, saved = hub.token, tmp_path / "saved.tar"
    tokens = {name: created(api, name)["token"] for name in ("wall", "other", "kept")}
    tokens["room"] = created(api, "room", "room", room="kitchen")["token"]
    agent = api.post("/api/agents/register", json={"ide": "A", "model": "M"}).json()["token"]
    with httpx.Client(base_url=hub.url, headers={"Origin": hub.url}, timeout=WAIT_S) as browser:
        log_in(browser, hub.login_code)
        assert browser.get("/api/threads").status_code == 200
        done(hub.data, "backup", str(saved))
        revoked = next(one for one in api.get("/api/credentials").json() if one["name"] == "wall")
        assert api.delete(f"/api/credentials/{revoked['id']}").status_code in (200, 204)
        assert browser.post("/logout").status_code == 303
        told = restored(hub, saved, "--keep", "kept")
        assert browser.get("/api/threads").status_code == 401, "the browser was logged out"
    assert {name: status(hub, token) for name, token in tokens.items() if name != "room"} == {
        "wall": 401,
        "other": 401,
        "kept": 200,
    }
    assert status(hub, tokens["room"], "/api/asks") == 401
    assert status(hub, agent) == 401
    assert (status(hub, old_token), status(hub, hub.token)) == (401, 200)
    assert told["operator_token"] == str(hub.data / "operator.token")
    assert stat.S_IMODE((hub.data / "operator.token").stat().st_mode) == 0o600
    assert [one["name"] for one in told["epoch"]["kept"]] == ["kept"]
    assert {"wall", "other", "room", "operator"} <= {one["name"] for one in told["epoch"]["revoked"]}
    listed = done(hub.data, "audit", "list", "--type", "EpochBegun", "--json").out
    assert "EpochBegun" in listed


def test_a_credential_that_is_not_in_the_backup_cannot_be_kept_and_nothing_is_changed(
    hub: HubProcess, api: httpx.Client, tmp_path: Path
) -> None:
    done(hub.data, "backup", str(tmp_path / "saved.tar"))
    token = created(api, "later")["token"]
    hub.stop()
    ran = greenroom(hub.data, "restore", str(tmp_path / "saved.tar"), "--force", "--keep", "later")
    assert (ran.code, "later" in ran.err) == (1, True), ran
    hub.start()
    assert status(hub, token) == 200


def test_a_name_that_two_credentials_have_keeps_neither(
    hub: HubProcess, api: httpx.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A token that was replaced by one of the same name is revoked once the new one is in use everywhere."""
    old, new = created(api, "ci")["token"], created(api, "ci")["token"]
    first, second = [one["id"] for one in api.get("/api/credentials").json() if one["name"] == "ci"]
    done(hub.data, "backup", str(tmp_path / "saved.tar"))
    assert api.delete(f"/api/credentials/{first}").status_code in (200, 204)
    hub.stop()
    argv = ["restore", str(tmp_path / "saved.tar"), "--force", "--keep", "ci"]
    ran = greenroom(hub.data, *argv)
    assert (ran.code, first in ran.err, second in ran.err) == (1, True, True), ran
    assert refuse(hub.data, monkeypatch, argv) == "credential_ambiguous"
    done(hub.data, "restore", str(tmp_path / "saved.tar"), "--force", "--keep", second)
    hub.start()
    assert sorted((status(hub, old), status(hub, new))) == [200, 401]


@pytest.mark.anyio
async def test_an_approval_that_was_remembered_as_a_rule_is_asked_again_and_a_denial_stays(
    hub: HubProcess, tmp_path: Path
) -> None:
    with Desk(hub) as desk:
        agent = desk.agent()
        for verdict, command in (("approve", "rm -r build"), ("deny", "rm -r dist")):
            async with connected(hub.url, agent.token) as talker:
                wish = {"tool_name": "Bash", "input": {"command": command}}
                call = asyncio.ensure_future(talker.call("permission_request", **wish))
                ask = await asked(desk, agent.id)
                remembered = {"verdict": verdict, "digest": ask["digest"], "scope": "rule"}
                told = desk.answer(ask["id"], **remembered, remember={"risk": ask["risk"]})
                assert told.status_code == 200, told.text
                await call
        kept = {one["rule"]["decision"]: one["name"] for one in desk.operator.get("/api/policy").json()["rules"]}
        assert set(kept) == {"allow", "deny"}
        done(hub.data, "backup", str(tmp_path / "saved.tar"))
        assert desk.operator.delete(f"/api/policy/rules/{kept['allow']}").status_code in (200, 204)
        told = restored(hub, tmp_path / "saved.tar")
    assert told["epoch"]["rules"] == 1
    with Desk(hub) as desk:
        assert [one["name"] for one in desk.operator.get("/api/policy").json()["rules"]] == [kept["deny"]]


def test_a_trigger_that_was_disarmed_after_the_backup_starts_nothing(
    hub: HubProcess, api: httpx.Client, tmp_path: Path
) -> None:
    triggers = [{"id": "called", "webhook": True}, {"id": "timed", "cron": "* * * * *", "catch_up": "all"}]
    definition = {"name": "hooked", "steps": [{"id": "a", "set": {}}], "triggers": triggers}
    assert api.put("/api/workflows/hooked", json={"definition": definition}).status_code == 200
    ids = [one["id"] for one in api.get("/api/triggers", params={"workflow": "hooked"}).json()]
    for one in ids:
        assert api.post(f"/api/triggers/{one}/arm").status_code == 200
    done(hub.data, "backup", str(tmp_path / "saved.tar"))
    for one in ids:
        assert api.post(f"/api/triggers/{one}/disarm").status_code == 200
    told = restored(hub, tmp_path / "saved.tar")
    assert told["epoch"]["triggers"] == len(ids)
    headers = {"Authorization": f"Bearer {hub.token}"}
    found = httpx.get(f"{hub.url}/api/triggers", headers=headers, timeout=WAIT_S).json()
    assert [one.get("armed", False) for one in found] == [False, False]


def test_a_used_webhook_call_cannot_be_repeated_after_a_restore(
    hub: HubProcess, api: httpx.Client, tmp_path: Path
) -> None:
    definition = {"name": "hooked", "steps": [{"id": "a", "set": {}}], "triggers": [{"id": "t", "webhook": True}]}
    assert api.put("/api/workflows/hooked", json={"definition": definition}).status_code == 200
    (trigger,) = api.get("/api/triggers", params={"workflow": "hooked"}).json()
    api.post(f"/api/triggers/{trigger['id']}/arm")
    done(hub.data, "backup", str(tmp_path / "saved.tar"))
    given = api.get(f"/api/triggers/{trigger['id']}/secret").json()
    ahead = int(time.time()) + webhook_signature.WINDOW_S - 60
    calls = []
    for moment in (int(time.time()), ahead):  # a sender's clock may be ahead
        signature = webhook_signature.sign(given["standard_secret"], f"msg_{moment}", moment, b"{}")
        calls.append(
            {
                webhook_signature.ID: f"msg_{moment}",
                webhook_signature.TIME: str(moment),
                webhook_signature.SIGNATURES: signature,
            }
        )
    for headers in calls:
        assert httpx.post(hub.url + given["path"], content=b"{}", headers=headers).status_code == 202
    restored(hub, tmp_path / "saved.tar")
    operator = {"Authorization": f"Bearer {hub.token}"}
    armed = httpx.post(f"{hub.url}/api/triggers/{trigger['id']}/arm", headers=operator, timeout=WAIT_S)
    assert armed.status_code == 200, armed.text
    for headers in calls:
        again = httpx.post(hub.url + given["path"], content=b"{}", headers=headers)
        assert (again.status_code, again.json()["code"]) == (409, "signed_before_restore")


@pytest.mark.anyio
@pytest.mark.parametrize("state", ["open", "approved"])
async def test_a_permission_is_asked_again_after_a_restore(hub: HubProcess, tmp_path: Path, state: str) -> None:
    with Desk(hub) as desk:
        agent = desk.agent()
        first = await left_behind(desk, agent)
        if state == "approved":
            assert desk.answer(first["id"], verdict="approve", digest=first["digest"]).status_code == 200
        done(hub.data, "backup", str(tmp_path / "saved.tar"))
        name = next(
            one["name"] for one in desk.operator.get("/api/credentials").json() if one.get("agent_id") == agent.id
        )
        told = restored(hub, tmp_path / "saved.tar", "--keep", name)
    assert (told["epoch"]["asks"], told["epoch"]["approvals"]) == ((1, 0) if state == "open" else (0, 1))
    with Desk(hub) as desk:
        assert desk.show(first["id"])["lapsed_at"] > 0
        async with connected(hub.url, agent.token) as talker:
            call = asyncio.ensure_future(talker.call("permission_request", **WISH))
            again = await asked(desk, agent.id)
            assert again["id"] != first["id"]
            desk.answer(again["id"], verdict="deny", text="no more")
            assert await call == {"behavior": "deny", "message": "no more"}


async def left_behind(desk: Desk, agent: Any) -> dict[str, Any]:
    """A permission whose asker has gone away."""
    try:
        async with connected(desk.hub.url, agent.token) as talker:
            call = asyncio.ensure_future(talker.call("permission_request", **WISH))
            ask = await asked(desk, agent.id)
            call.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await call
    except* anyio.BrokenResourceError:
        pass  # the client hears the hub's last word on the cancelled call while it closes
    return ask


@pytest.fixture
def hasty_hub(tmp_path: Path) -> Iterator[HubProcess]:
    """A hub in which an approval has to be taken within a second."""
    yield from checked(HubProcess(tmp_path / "data", env={"GREENROOM_APPROVAL_S": "1"}))


@pytest.mark.anyio
async def test_an_approval_that_nobody_takes_is_void_after_a_while_and_the_audit_says_so(hasty_hub: HubProcess) -> None:
    with Desk(hasty_hub) as desk:
        agent = desk.agent()
        first = await left_behind(desk, agent)
        assert desk.answer(first["id"], verdict="approve", digest=first["digest"]).status_code == 200
        wait_until(lambda: desk.show(first["id"]).get("lapsed_at"))
        assert first["id"] in done(hasty_hub.data, "audit", "list", "--type", "AnswerLapsed", "--json").out
        async with connected(hasty_hub.url, agent.token) as talker:
            call = asyncio.ensure_future(talker.call("permission_request", **WISH))
            again = await asked(desk, agent.id)
            assert again["id"] != first["id"]
            desk.answer(again["id"], verdict="deny", text="no more")
            assert (await call)["behavior"] == "deny"


@pytest.mark.anyio
async def test_of_two_connections_with_the_same_wish_one_alone_gets_the_yes(hub: HubProcess) -> None:
    with Desk(hub) as desk:
        agent = desk.agent()
        async with connected(hub.url, agent.token) as one, connected(hub.url, agent.token) as other:
            calls = [asyncio.ensure_future(talker.call("permission_request", **WISH)) for talker in (one, other)]
            ask = await asked(desk, agent.id)
            desk.answer(ask["id"], verdict="approve", digest=ask["digest"])
            async with asyncio.timeout(WAIT_S):
                while not all(call.done() for call in calls):  # one that comes after the answer asks anew
                    for waiting in await asyncio.to_thread(desk.waiting, agent_id=agent.id):
                        desk.answer(waiting["id"], verdict="deny")
            answers = [call.result()["behavior"] for call in calls]
    assert sorted(answers) == ["allow", "deny"]


def test_a_database_that_other_tools_have_put_back_begins_a_new_epoch(postgres: PostgresServer, tmp_path: Path) -> None:
    hub = HubProcess(tmp_path / "data", env={"GREENROOM_DATABASE": postgres.create_database()})
    with hub, httpx.Client(base_url=hub.url, headers={"Authorization": f"Bearer {hub.token}"}) as api:
        token, old = created(api, "wall")["token"], hub.token
        hub.stop()
        told = done(hub.data, "restore", "--here", "--json", **hub.env).json
        assert {one["name"] for one in told["epoch"]["revoked"]} >= {"wall", "operator"}
        hub.start()
        assert (status(hub, token), status(hub, old), status(hub, hub.token)) == (401, 401, 200)
