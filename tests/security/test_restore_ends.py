"""What a restored backup must not bring back: channels, standing approvals, and orders that a node has carried out."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests.cli.shell import done
from tests.conftest import checked, end_node
from tests.far_node import FarNode
from tests.security.test_restore import created, restored
from tests.services.notify.far_side import FarSide, far_side
from tests.services.notify.test_reach import Person, subscribe
from tests.stage import Stage


@pytest.fixture
def far() -> Iterator[FarSide]:
    with far_side() as far:
        yield far


@pytest.fixture
def telling_hub(tmp_path: Path, far: FarSide) -> Iterator[HubProcess]:
    yield from checked(HubProcess(tmp_path / "data", env={"GREENROOM_NOTIFY_HOSTS": far.host}))


def test_no_channel_comes_back_and_no_ticket_answers(telling_hub: HubProcess, far: FarSide, tmp_path: Path) -> None:
    hub = telling_hub
    with httpx.Client(base_url=hub.url, headers={"Authorization": f"Bearer {hub.token}"}, timeout=WAIT_S) as api:
        phone = created(api, "phone", "operator")
    owner, kept = Person(hub, hub.token), Person(hub, phone["token"])
    browser, _ = subscribe(owner, far)
    lost = kept.add("ntfy", f"{far.url}/topic")["channel"]
    ask = owner.ask("Deploy?")
    sent = [far.next(), far.next()]
    ticket = next(browser.read(one.body)["ticket"] for one in sent if one.path.startswith("/push"))
    done(hub.data, "backup", str(tmp_path / "saved.tar"))
    kept.call("DELETE", f"/api/notify/channels/{lost['id']}", status=204)
    told = restored(hub, tmp_path / "saved.tar", "--keep", "phone")
    assert told["epoch"]["channels"] == 2
    assert Person(hub, phone["token"]).call("GET", "/api/notify")["channels"] == [], "the phone may have been lost"
    acted = httpx.post(f"{hub.url}/api/notify/act", json={"ticket": ticket, "verdict": "approve"}, timeout=WAIT_S)
    assert acted.status_code in (401, 403, 404, 409), acted.text
    assert Person(hub, hub.token).call("GET", f"/api/asks/{ask['id']}")["state"] == "open"


def put_back(stage: Stage, saved: Path, *args: str) -> dict[str, Any]:
    """Restore a backup in place, with a local node of its own again."""
    stage.hub.stop()
    end_node(stage.hub.data)
    told: dict[str, Any] = done(stage.hub.data, "restore", str(saved), "--force", "--json", *args).json
    stage.hub.start(stage.hub.port)
    return told


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    hub = HubProcess(tmp_path / "data", env={"GREENROOM_LOCAL_NODE": "1"})
    try:
        for running in checked(hub):
            with Stage(running) as stage:
                yield stage
    finally:
        end_node(hub.data)


def test_no_standing_approval_comes_back_and_every_rule_that_forbids_does(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    stage.profile("worker", directory=str(tmp_path / "work"))
    prompt = "SHELL touch made\nSAY done"
    first = stage.start(prompt, profile="worker")
    stage.decide(stage.asked()["id"], "approve", scope="profile").raise_for_status()
    assert stage.end(first)["output"] == "done"
    assert stage.done(prompt, profile="worker")["output"] == "done", "it is not asked about again"
    other = stage.start("SHELL touch other\nSAY done", profile="worker")
    stage.decide(stage.asked()["id"], "approve", scope="rule").raise_for_status()
    stage.end(other)
    for name, decision in (("forbidden", "deny"), ("written", "allow")):
        written = {"rule": {"decision": decision, "commands": [f"{name} *"]}}
        stage.api.put(f"/api/policy/rules/{name}", json=written).raise_for_status()
    kept = {one["name"]: one["source"] for one in stage.api.get("/api/policy").json()["rules"]}
    assert sorted(kept.values()) == ["answer", "api", "api"], kept
    saved = tmp_path / "saved.tar"
    done(stage.hub.data, "backup", str(saved))
    told = put_back(stage, saved)
    assert (told["epoch"]["grants"], told["epoch"]["rules"]) == (1, 1)
    with Stage(stage.hub) as after:
        policy = after.api.get("/api/policy").json()
        assert ([one["name"] for one in policy["rules"]], policy["grants"]) == (["forbidden", "written"], [])
        for command in ("touch made", "touch other"):
            run = after.start(f"SHELL {command}\nSAY done", profile="worker")
            after.decide(after.asked()["id"], "deny")
            after.end(run)


def test_a_run_that_was_carried_out_after_the_backup_is_not_carried_out_again(stage: Stage, tmp_path: Path) -> None:
    far, made, saved = FarNode(stage, tmp_path, "far"), tmp_path / "made", tmp_path / "saved.tar"
    stage.profile("open", approvals="never", node="far")
    try:
        far.start(stage.hub.url).wait_for("connected")
        far.stop()
        far.wait_for("unreachable")
        run_id = stage.start(f"SHELL echo once >> {made}\nSAY done", profile="open")
        assert stage.run(run_id)["status"] == "pending"
        done(stage.hub.data, "backup", str(saved))
        far.start(stage.hub.url)
        assert stage.end(run_id)["status"] == "completed"
        put_back(stage, saved, "--keep", "far")
        with Stage(stage.hub) as after:
            assert after.end(run_id)["status"] == "interrupted"
            assert after.done("SAY more", profile="open")["output"] == "more"
        assert made.read_text() == "once\n"
    finally:
        far.stop()


def test_an_order_that_the_node_has_carried_out_since_is_not_carried_out_again(stage: Stage, tmp_path: Path) -> None:
    far, made, saved = FarNode(stage, tmp_path, "far"), tmp_path / "made", tmp_path / "saved.tar"
    stage.profile("open", approvals="never", node="far")
    try:
        far.start(stage.hub.url).wait_for("connected")
        assert far.process is not None
        program = psutil.Process(far.process.pid)
        program.suspend()
        run_id = stage.start(f"SHELL echo once >> {made}\nSAY done", profile="open")
        done(stage.hub.data, "backup", str(saved))
        program.resume()
        assert stage.end(run_id)["status"] == "completed"
        put_back(stage, saved, "--keep", "far")
        with Stage(stage.hub) as after:
            assert after.end(run_id)["status"] == "interrupted"
            assert after.done("SAY more", profile="open")["output"] == "more"
        assert made.read_text() == "once\n"
    finally:
        far.stop()


def test_a_run_for_a_node_that_is_not_kept_is_begun_by_nobody(stage: Stage, tmp_path: Path) -> None:
    far, made, saved = FarNode(stage, tmp_path, "far"), tmp_path / "made", tmp_path / "saved.tar"
    stage.profile("open", approvals="never", node="far")
    try:
        far.start(stage.hub.url).wait_for("connected")
        far.stop()
        far.wait_for("unreachable")
        run_id = stage.start(f"SHELL touch {made}\nSAY done", profile="open")
        done(stage.hub.data, "backup", str(saved))
        put_back(stage, saved)
        with Stage(stage.hub) as after:
            assert after.run(run_id)["status"] in ("interrupted", "failed")
        far.start(stage.hub.url)
        stage.until(lambda: "does not take this node" in far.log, "the node to be told")
        assert not made.exists()
    finally:
        far.stop()
