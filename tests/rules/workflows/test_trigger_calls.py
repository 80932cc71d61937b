"""Triggers over the doors: signed calls, and messages in threads."""

import base64
import stat
import subprocess
import time
from typing import Any

import httpx
import pytest

from greenroom.errors import Refused
from greenroom.rules.workflows.triggers import webhook_signature
from greenroom.rules.workflows.triggers.webhook_signature import (
    NONCE,
    SIGNATURE,
    TIMESTAMP,
    need_signed_call,
    sign,
    sign_legacy_call,
)
from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests import ROOT


class Caller:
    """Somebody outside who knows a secret."""

    def __init__(self, api: httpx.Client, hub: HubProcess, path: str) -> None:
        given = api.get(f"{path}/secret").json()
        self.path, self.secret, self.old_secret = given["path"], given["standard_secret"], given["secret"]
        self._client = httpx.Client(base_url=hub.url, timeout=WAIT_S)

    def call(self, body: bytes = b'{"ref": "main"}', nonce: str = "nonce-0001", **change: str) -> httpx.Response:
        timestamp = change.get("timestamp", str(int(time.time())))
        signature = sign(change.get("secret", self.secret), nonce, int(timestamp), body)
        headers = {
            webhook_signature.ID: nonce,
            webhook_signature.TIME: timestamp,
            webhook_signature.SIGNATURES: signature,
            "x-event": "push",
        }
        return self.send(headers, change.get("sent", body.decode()).encode())

    def call_old(self, body: bytes = b"{}", nonce: str = "nonce-0001", timestamp: str = "") -> httpx.Response:
        """Call in the form that Greenroom had before Standard Webhooks."""
        timestamp = timestamp or str(int(time.time()))
        signature = sign_legacy_call(self.old_secret, timestamp, nonce, body)
        return self.send({TIMESTAMP: timestamp, NONCE: nonce, SIGNATURE: signature}, body)

    def send(self, headers: dict[str, str], body: bytes) -> httpx.Response:
        return self._client.post(self.path, content=body, headers=headers)


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
        caller.call(nonce="nonce-0002", secret="whsec_Z3Vlc3M="),
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
    assert caller.call(nonce="nonce-0002", secret="whsec_Z3Vlc3M=").status_code == 401
    assert caller.call(nonce="nonce-0003").status_code == 200
    assert end_of(api, run["id"])["output"] == {"ref": "main"}


def test_who_guesses_signatures_is_slowed_down_and_who_knows_the_secret_is_not(
    hub: HubProcess, api: httpx.Client
) -> None:
    (key,) = stored(api, {"id": "t", "webhook": True})
    api.post(f"/api/triggers/{key}/arm")
    caller = Caller(api, hub, f"/api/triggers/{key}")
    codes = [caller.call(nonce=f"guess-{number:04}", secret="whsec_Z3Vlc3M=").status_code for number in range(60)]
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


@pytest.mark.parametrize("timestamp", ["\u00b2", "\u0661", "-1", " 1", "1.0", "1e0", "1" * 12, ""])
@pytest.mark.parametrize("form", ["standard", "old"])
def test_a_time_that_is_no_plain_number_is_refused_although_it_is_signed(timestamp: str, form: str) -> None:
    key, body = b"k" * 32, b"{}"
    if form == "old":
        signature = sign_legacy_call(webhook_signature.derive_legacy_secret(key, "d"), timestamp, "nonce-0001", body)
        headers = {TIMESTAMP: timestamp, NONCE: "nonce-0001", SIGNATURE: signature}
    else:
        headers = {webhook_signature.ID: "nonce-0001", webhook_signature.TIME: timestamp}
        headers[webhook_signature.SIGNATURES] = sign(webhook_signature.derive_secret(key, "d"), "nonce-0001", 1, body)
    with pytest.raises(Refused):
        need_signed_call(key, "d", headers, body, 0)


def test_a_call_of_standard_webhooks_is_signed_as_its_specification_says() -> None:
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    signature = sign(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    assert signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@pytest.mark.parametrize("form", ["standard", "old"])
def test_a_call_cannot_be_cut_into_another_one(hub: HubProcess, api: httpx.Client, form: str) -> None:
    """The signature covers time, nonce and body joined by dots: a nonce with a dot would move the boundary."""
    (key,) = stored(api, {"id": "t", "webhook": True})
    api.post(f"/api/triggers/{key}/arm")
    caller = Caller(api, hub, f"/api/triggers/{key}")
    moment = int(time.time())
    if form == "old":
        body = b"keep.drop everything"
        assert caller.call_old(body, timestamp=str(moment)).status_code == 202
        signature = sign_legacy_call(caller.old_secret, str(moment), "nonce-0001", body)
        cut = {TIMESTAMP: str(moment), NONCE: "nonce-0001.keep", SIGNATURE: signature}
    else:
        body = f"{moment}.drop everything".encode()
        assert caller.call(body, timestamp=str(moment)).status_code == 202
        signature = sign(caller.secret, "nonce-0001", moment, body)
        cut = {
            webhook_signature.ID: f"nonce-0001.{moment}",
            webhook_signature.TIME: str(moment),
            webhook_signature.SIGNATURES: signature,
        }
    assert caller.send(cut, b"drop everything").status_code == 401
    assert len(api.get("/api/workflow-runs", params={"workflow": "hooked"}).json()) == 1


def test_a_signature_of_one_form_is_no_signature_of_the_other(hub: HubProcess, api: httpx.Client) -> None:
    (key,) = stored(api, {"id": "t", "webhook": True})
    api.post(f"/api/triggers/{key}/arm")
    caller = Caller(api, hub, f"/api/triggers/{key}")
    moment = str(int(time.time()))
    assert caller.call_old(timestamp=moment, nonce=moment).status_code == 202
    old = sign_legacy_call(caller.old_secret, moment, moment, b"{}").removeprefix("sha256=")
    turned = "v1," + base64.b64encode(bytes.fromhex(old)).decode()
    headers = {webhook_signature.ID: moment, webhook_signature.TIME: moment, webhook_signature.SIGNATURES: turned}
    assert caller.send(headers, b"{}").status_code == 401


@pytest.mark.parametrize("header", ["v2,{}", "v1 {}", ",", "v1,", "v1,\u00e9", "x " * 100 + "v1,{}"])
def test_a_header_of_signatures_that_holds_no_right_one_is_refused(
    hub: HubProcess, api: httpx.Client, header: str
) -> None:
    caller = Caller(api, hub, "/api/hooks/deploy")
    moment = int(time.time())
    right = sign(caller.secret, "nonce-0001", moment, b"{}").removeprefix("v1,")
    headers = {webhook_signature.ID: "nonce-0001", webhook_signature.TIME: str(moment)}
    shown = {name: value.encode() for name, value in headers.items()}
    shown[webhook_signature.SIGNATURES] = header.format(right).encode()
    assert httpx.post(hub.url + caller.path, content=b"{}", headers=shown).status_code == 401


def test_a_sender_that_changes_its_secret_may_sign_with_both(hub: HubProcess, api: httpx.Client) -> None:
    caller = Caller(api, hub, "/api/hooks/deploy")
    moment = int(time.time())
    signatures = " ".join(sign(one, "nonce-0001", moment, b"{}") for one in ("whsec_Z3Vlc3M=", caller.secret))
    headers = {
        webhook_signature.ID: "nonce-0001",
        webhook_signature.TIME: str(moment),
        webhook_signature.SIGNATURES: signatures,
    }
    assert caller.send(headers, b"{}").json()["code"] == "nobody_waits", "it is taken, and there is nobody to tell"


@pytest.mark.anywhere
def test_the_sender_in_the_documents_is_understood(hub: HubProcess, api: httpx.Client) -> None:
    (key,) = stored(api, {"id": "t", "webhook": True})
    api.post(f"/api/triggers/{key}/arm")
    given = api.get(f"/api/triggers/{key}/secret").json()
    section = (ROOT / "docs/users/workflows.md").read_text().partition("### Signed calls")[2]
    script = section.partition("```bash\n")[2].partition("```")[0]
    script = script.replace("whsec_...", given["standard_secret"]).replace(
        "http://127.0.0.1:39765/api/triggers/trg_...", f"{hub.url}{given['path']}"
    )
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=WAIT_S, check=True)
    assert "run_id" in done.stdout, done.stdout + done.stderr
