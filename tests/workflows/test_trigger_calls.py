"""Triggers over the doors: signed calls, and messages in threads."""

import stat
import time
from typing import Any

import httpx
import pytest

from greenroom.log.errors import Refused
from greenroom.nouns.workflows.triggers.signing import NONCE, SIGNATURE, TIMESTAMP, need_signed, sign
from greenroom.testing.hub_process import HubProcess
from greenroom.testing.patience import WAIT_S


class Caller:
    """Somebody outside who knows a secret."""

    def __init__(self, api: httpx.Client, hub: HubProcess, path: str) -> None:
        given = api.get(f"{path}/secret").json()
        self.path, self.secret = given["path"], given["secret"]
        self._client = httpx.Client(base_url=hub.url, timeout=WAIT_S)

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
    ended: dict[str, Any] = api.get(f"/api/workflow-runs/{run_id}/wait", params={"for_s": WAIT_S}).json()
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
    again = httpx.Client(base_url=hub.url, headers={"Authorization": f"Bearer {hub.token}"}, timeout=WAIT_S)
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
    deadline = time.monotonic() + WAIT_S
    runs: list[dict[str, Any]] = []
    while not runs and time.monotonic() < deadline:
        runs = api.get("/api/workflow-runs", params={"workflow": "hooked"}).json()
    assert [end_of(api, run["id"])["output"] for run in runs] == ["go now"]


@pytest.mark.parametrize("door", ["trigger", "step"])
def test_a_person_is_known_by_their_credential_and_not_by_a_name_that_is_given(
    hub: HubProcess, api: httpx.Client, door: str
) -> None:
    wanted = {"thread": "releases", "from": "ann"}
    if door == "trigger":
        trigger = {"id": "t", "message": wanted, "inputs": {"said": "trigger.content"}}
        (key,) = stored(api, trigger, inputs={"said": "string"}, output="inputs.said")
        api.post(f"/api/triggers/{key}/arm")
    else:
        steps = [{"id": "a", "wait": {"message": wanted}}]
        waits = {"name": "hooked", "steps": steps, "output": "steps.a.output.content"}
        assert api.post("/api/workflow-runs", json={"definition": waits}).status_code == 201
    thread = api.post("/api/threads", json={"topic": "releases"}).json()["id"]
    tokens = {
        name: api.post("/api/credentials", json={"kind": "operator", "name": name}).json()["token"]
        for name in ("ann", "bob")
    }
    posts = [("bob", "ann", "bob as ann"), ("bob", None, "bob"), ("ann", "human", "ann as human"), ("ann", None, "ann")]
    for name, author, text in posts:
        proof = {"Authorization": f"Bearer {tokens[name]}"}
        given = {"content": text} | ({"author": author} if author else {})
        posted = api.post(f"/api/threads/{thread}/messages", json=given, headers=proof)
        assert posted.status_code == 201, posted.text
    expected = ["ann as human", "ann"] if door == "trigger" else ["ann as human"]
    deadline = time.monotonic() + WAIT_S
    said: list[str] = []
    while len(said) < len(expected) and time.monotonic() < deadline:
        runs = api.get("/api/workflow-runs", params={"workflow": "hooked"}).json()
        said = [run["output"] for run in reversed(runs) if run["status"] == "completed"]
    assert said == expected


@pytest.mark.parametrize("timestamp", ["\u00b2", "\u0661", "-1", " 1", "1" * 13, ""])
def test_a_time_that_is_no_plain_number_is_refused_although_it_is_signed(timestamp: str) -> None:
    with pytest.raises(Refused):
        need_signed("whs_x", timestamp, "nonce-0001", sign("whs_x", timestamp, "nonce-0001", b""), b"", 0)


def test_a_call_cannot_be_cut_into_another_one(hub: HubProcess, api: httpx.Client) -> None:
    """The signature covers time, nonce and body joined by dots: a nonce with a dot would move the boundary."""
    (key,) = stored(api, {"id": "t", "webhook": True})
    api.post(f"/api/triggers/{key}/arm")
    caller = Caller(api, hub, f"/api/triggers/{key}")
    moment, body = str(int(time.time())), b"keep.drop everything"
    assert caller.call(body, timestamp=moment).status_code == 202
    signature = sign(caller.secret, moment, "nonce-0001", body)
    headers = {TIMESTAMP: moment, NONCE: "nonce-0001.keep", SIGNATURE: signature}
    cut = httpx.post(hub.url + caller.path, content=b"drop everything", headers=headers)
    assert cut.status_code == 401
    assert len(api.get("/api/workflow-runs", params={"workflow": "hooked"}).json()) == 1
