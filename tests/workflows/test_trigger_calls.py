"""Triggers over the doors: signed calls, and messages in threads."""

import stat
import time
from typing import Any

import httpx
import pytest

from greenroom.log.errors import Refused
from greenroom.nouns.workflows.triggers.signing import NONCE, SIGNATURE, TIMESTAMP, need_signed, sign
from greenroom.testing.hub_process import HubProcess

_WAIT_S = 20.0


class Caller:
    """Somebody outside who knows a secret."""

    def __init__(self, api: httpx.Client, hub: HubProcess, path: str) -> None:
        given = api.get(f"{path}/secret").json()
        self.path, self.secret = given["path"], given["secret"]
        self._client = httpx.Client(base_url=hub.url, timeout=30)

    def call(self, body: bytes = b'{"ref": "main"}', nonce: str = "nonce-0001", **change: str) -> httpx.Response:
        timestamp = change.get("timestamp", str(int(time.time())))
        signature = sign(change.get("secret", self.secret), timestamp, nonce, body)
        headers = {TIMESTAMP: timestamp, NONCE: nonce, SIGNATURE: signature, "x-event": "push"}
        return self._client.post(self.path, content=change.get("sent", body.decode()).encode(), headers=headers)


def stored(api: httpx.Client, *triggers: dict[str, Any], **more: Any) -> list[str]:
    definition = {"name": "hooked", "steps": [{"id": "a", "set": {}}], "triggers": list(triggers), **more}
    answer = api.put("/api/workflows/hooked", json={"definition": definition})
    assert answer.status_code == 200, answer.text
    return [row["id"] for row in api.get("/api/triggers", params={"workflow": "hooked"}).json()]


def end_of(api: httpx.Client, run_id: str) -> dict[str, Any]:
    ended: dict[str, Any] = api.get(f"/api/workflow-runs/{run_id}/wait", params={"for_s": _WAIT_S}).json()
    return ended


def test_a_signed_call_starts_a_workflow_once_and_no_other_call_does(hub: HubProcess, api: httpx.Client) -> None:
    trigger = {"id": "t", "webhook": True, "inputs": {"ref": "trigger.body.ref", "event": 'trigger.headers["x-event"]'}}
    (key,) = stored(api, trigger, inputs={"ref": "string", "event": "string"}, output="[inputs.ref, inputs.event]")
    caller = Caller(api, hub, f"/api/triggers/{key}")
    assert caller.call().status_code == 401, "it is not armed"
    assert api.post(f"/api/triggers/{key}/arm").json()["armed"]
    started = caller.call()
    assert started.status_code == 202, started.text
    assert end_of(api, started.json()["run_id"])["output"] == ["main", "push"]
    assert caller.call().json()["code"] == "call_repeated"
    wrong = [
        caller.call(nonce="nonce-0002", secret="whs_guess"),
        caller.call(nonce="nonce-0003", sent='{"ref": "evil"}'),
        caller.call(nonce="short"),
    ]
    unknown = httpx.post(f"{hub.url}/api/triggers/trg_none", content=b"{}")
    assert {(one.status_code, one.text) for one in [*wrong, unknown]} == {(401, unknown.text)}
    late = caller.call(nonce="nonce-0004", timestamp=str(int(time.time()) - 400))
    assert (late.status_code, late.json()["code"]) == (401, "signature_too_old")
    lacking = caller.call(b"no json", nonce="nonce-0005")
    assert lacking.status_code == 422, lacking.text
    api.post(f"/api/triggers/{key}/disarm")
    assert caller.call(nonce="nonce-0006").status_code == 401
    assert len(api.get("/api/workflow-runs", params={"workflow": "hooked"}).json()) == 1


def test_a_signed_call_reaches_the_step_that_waits_for_it(hub: HubProcess, api: httpx.Client) -> None:
    definition = {
        "name": "held",
        "steps": [{"id": "hold", "wait": {"webhook": "deploy"}}],
        "output": "steps.hold.output",
    }
    caller = Caller(api, hub, "/api/hooks/deploy")
    assert caller.call().json()["code"] == "nobody_waits"
    run = api.post("/api/workflow-runs", json={"definition": definition}).json()
    assert caller.call(nonce="nonce-0002", secret="whs_guess").status_code == 401
    assert caller.call(nonce="nonce-0003").status_code == 200
    assert end_of(api, run["id"])["output"] == {"ref": "main"}


def test_who_guesses_signatures_is_slowed_down_and_who_knows_the_secret_is_not(
    hub: HubProcess, api: httpx.Client
) -> None:
    (key,) = stored(api, {"id": "t", "webhook": True})
    api.post(f"/api/triggers/{key}/arm")
    caller = Caller(api, hub, f"/api/triggers/{key}")
    codes = [caller.call(nonce=f"guess-{number:04}", secret="whs_guess").status_code for number in range(60)]
    assert set(codes) == {401, 429}
    assert caller.call(nonce="honest-0001").status_code == 202


def test_a_call_is_not_taken_again_after_a_restart(hub: HubProcess, api: httpx.Client) -> None:
    (key,) = stored(api, {"id": "t", "webhook": True})
    api.post(f"/api/triggers/{key}/arm")
    caller = Caller(api, hub, f"/api/triggers/{key}")
    moment = str(int(time.time()))
    assert caller.call(timestamp=moment).status_code == 202
    hub.kill()
    hub.start()
    again = httpx.Client(base_url=hub.url, headers={"Authorization": f"Bearer {hub.token}"}, timeout=30)
    with again:
        repeated = Caller(again, hub, f"/api/triggers/{key}").call(timestamp=moment)
    assert (repeated.status_code, repeated.json()["code"]) == (409, "call_repeated")


def test_the_key_of_webhooks_is_for_its_owner_only(hub: HubProcess, api: httpx.Client) -> None:
    secret = api.get("/api/hooks/deploy/secret").json()["secret"]
    key = hub.data / "webhook.key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert not any(secret.encode() in file.read_bytes() for file in hub.data.glob("greenroom.db*"))


def test_a_message_of_a_person_in_a_thread_starts_a_workflow(api: httpx.Client) -> None:
    trigger = {"id": "t", "message": {"thread": "releases", "contains": "GO"}, "inputs": {"said": "trigger.content"}}
    (key,) = stored(api, trigger, inputs={"said": "string"}, output="inputs.said")
    api.post(f"/api/triggers/{key}/arm")
    threads = {topic: api.post("/api/threads", json={"topic": topic}).json()["id"] for topic in ("other", "releases")}
    agent = api.post("/api/agents/register", json={"ide": "A", "model": "M"}).json()
    own = {"X-Agent-Token": agent["token"]}
    for topic, text, headers in (
        ("other", "go there", {}),
        ("releases", "wait", {}),
        ("releases", "I go on", own),
        ("releases", "go now", {}),
    ):
        body = {"content": text, "author": agent["agent_id"]} if headers else {"content": text}
        posted = api.post(f"/api/threads/{threads[topic]}/messages", json=body, headers=headers)
        assert posted.status_code == 201, posted.text
    deadline = time.monotonic() + _WAIT_S
    runs: list[dict[str, Any]] = []
    while not runs and time.monotonic() < deadline:
        runs = api.get("/api/workflow-runs", params={"workflow": "hooked"}).json()
    assert [end_of(api, run["id"])["output"] for run in runs] == ["go now"]


@pytest.mark.parametrize("timestamp", ["\u00b2", "\u0661", "-1", " 1", "1" * 13, ""])
def test_a_time_that_is_no_plain_number_is_refused_although_it_is_signed(timestamp: str) -> None:
    with pytest.raises(Refused):
        need_signed("whs_x", timestamp, "nonce-0001", sign("whs_x", timestamp, "nonce-0001", b""), b"", 0)
