"""What operators do over REST: letting in and putting out, looking after the hub, and the front page."""

import re
import time
from collections.abc import Iterator

import httpx
import pytest

from greenroom.testing.browser_login import log_in
from greenroom.testing.hub_process import HubProcess
from tests.doors.rest.rest_rig import Rest, code_of, new_topic


@pytest.fixture
def rest(shared_hub: HubProcess) -> Iterator[Rest]:
    with Rest(shared_hub) as rest:
        yield rest


def test_a_token_is_shown_once_and_kept_nowhere(rest: Rest) -> None:
    made = rest.operator.post("/api/credentials", json={"kind": "viewer", "name": "screen"}).json()
    listed = {c["id"]: c for c in rest.operator.get("/api/credentials").json()}
    shown = listed[made["id"]]
    assert (shown["kind"], shown["name"], shown["rights"]) == ("viewer", "screen", ["all", "read"])
    assert "token" not in shown and "digest" not in shown
    audit = rest.operator.get("/api/audit").text
    assert made["id"] in audit
    assert made["token"] not in audit and "digest" not in audit
    assert made["token"].encode() not in (rest.hub.data / "greenroom.db").read_bytes()


def test_an_agents_credential_belongs_to_an_agent_that_then_registers_itself(rest: Rest) -> None:
    made = rest.operator.post("/api/credentials", json={"kind": "agent", "name": "helper"}).json()
    assert made["agent_id"]
    client = rest.client({"Authorization": f"Bearer {made['token']}"})
    registered = client.post("/api/agents/register", json={"ide": "Own", "model": "M"}).json()
    assert (registered["agent_id"], registered["token"]) == (made["agent_id"], made["token"])
    second = rest.operator.post(
        "/api/credentials", json={"kind": "agent", "name": "spare", "agent_id": made["agent_id"]}
    )
    assert second.json()["agent_id"] == made["agent_id"]
    unknown = rest.operator.post("/api/credentials", json={"kind": "agent", "name": "x", "agent_id": "system"})
    assert code_of(unknown) == (404, "agent_not_found")


def test_a_revoked_credential_is_of_no_use_from_then_on(rest: Rest) -> None:
    made = rest.operator.post("/api/credentials", json={"kind": "viewer", "name": "gone"}).json()
    viewer = rest.client({"Authorization": f"Bearer {made['token']}"})
    assert viewer.get("/api/threads").status_code == 200
    for _ in range(2):
        assert rest.operator.delete(f"/api/credentials/{made['id']}").json() == {"ok": True}
    assert viewer.get("/api/threads").status_code == 401
    assert code_of(rest.operator.delete("/api/credentials/nope")) == (404, "credential_not_found")


def test_who_ends_its_own_credential_gets_an_answer_and_is_out(rest: Rest) -> None:
    made = rest.operator.post("/api/credentials", json={"kind": "operator", "name": "me"}).json()
    client = rest.client({"Authorization": f"Bearer {made['token']}"})
    assert client.delete(f"/api/credentials/{made['id']}").json() == {"ok": True}
    assert client.get("/api/threads").status_code == 401


@pytest.mark.parametrize(
    ("body", "refusal"),
    [
        ({"kind": "boss", "name": "x"}, (400, "bad_kind")),
        ({"kind": "hub", "name": "x"}, (400, "bad_kind")),
        ({"kind": "viewer", "name": " "}, (400, "bad_name")),
        ({"kind": "viewer", "name": "x", "rights": ["operate"]}, (400, "bad_rights")),
        ({"kind": "viewer", "name": "x", "expires_in_s": 0}, (400, "bad_request")),
        ({"kind": "viewer", "name": "x", "expires": 1}, (400, "bad_request")),
    ],
)
def test_a_credential_that_makes_no_sense_is_not_given(
    rest: Rest, body: dict[str, object], refusal: tuple[int, str]
) -> None:
    assert code_of(rest.operator.post("/api/credentials", json=body)) == refusal


def test_a_credential_for_certain_threads_sees_no_other(rest: Rest) -> None:
    mine, other = rest.thread(), rest.thread()
    scoped = rest.bearer(kind="viewer", threads=[mine])
    listed = scoped.get("/api/threads").json()
    assert ([t["id"] for t in listed["threads"]], listed["total"]) == ([mine], 1)
    assert scoped.get(f"/api/threads/{mine}").status_code == 200
    assert code_of(scoped.get(f"/api/threads/{other}")) == (404, "thread_not_found")


def test_the_audit_holds_what_was_done_with_power_page_by_page(rest: Rest) -> None:
    agent = rest.agent()
    thread = rest.thread()
    rest.operator.post(f"/api/agents/{agent.id}/kick")
    rest.operator.delete(f"/api/threads/{thread}")
    seen: list[dict[str, object]] = []
    after: int | None = 0
    while after is not None:
        page = rest.operator.get("/api/audit", params={"after_seq": after, "limit": 3}).json()
        seen += page["events"]
        after = page["next_after_seq"]
    seqs = [event["seq"] for event in seen]
    assert seqs == sorted(set(seqs))
    assert {"CredentialCreated", "AgentKicked", "CredentialRevoked", "ThreadDeleted"} <= {e["type"] for e in seen}
    deleted = [event for event in seen if event["type"] == "ThreadDeleted"][-1]  # refusals are written a little later
    assert deleted["data"]["thread_id"] == thread  # type: ignore[index]
    assert deleted["by"] and deleted["at"]


def test_metrics_count_what_is_there(rest: Rest) -> None:
    agent = rest.agent()
    thread = rest.thread(agent)
    before = rest.operator.get("/api/metrics").json()
    agent.post(thread, "one", metadata={"stop_reason": "complete"})
    numbers = rest.operator.get("/api/metrics").json()
    assert numbers["status"] == "ok"
    assert numbers["messages"]["total"] == before["messages"]["total"] + 1
    assert numbers["messages"]["rate"]["last_1m"] == before["messages"]["rate"]["last_1m"] + 1
    assert numbers["messages"]["stop_reasons"]["complete"] == before["messages"]["stop_reasons"]["complete"] + 1
    assert numbers["threads"]["total"] == sum(numbers["threads"]["by_status"].values()) > 0
    assert numbers["agents"]["total"] >= numbers["agents"]["online"] > 0
    assert numbers["seq"] > before["seq"] and numbers["commits"] > before["commits"]
    assert (numbers["queue"], numbers["waiters"], numbers["reactor_errors"]) == (0, 0, 0)
    assert numbers["memory_bytes"] > 1_000_000
    assert numbers["uptime_seconds"] >= 0 and numbers["started_at"]


def test_messages_are_counted_by_the_time_of_their_posting(rest: Rest) -> None:
    agent = rest.agent()
    thread = rest.thread(agent)
    hour, now = 3_600_000, int(time.time() * 1000)
    span = {"since": now - 2 * hour, "step_ms": hour, "times": 4}
    before = rest.operator.get("/api/metrics/messages", params=span).json()
    for n in range(3):
        agent.post(thread, f"message {n}")
    after = rest.operator.get("/api/metrics/messages", params=span).json()
    assert sum(after["counts"]) == sum(before["counts"]) + 3
    assert len(after["counts"]) == 4 and after["counts"][0] == 0
    assert (
        rest.operator.get("/api/metrics/messages", params={**span, "since": now + 9 * hour}).json()["counts"] == [0] * 4
    )
    assert rest.operator.get("/api/metrics/messages", params={**span, "times": 1_000_000}).status_code == 400


def test_metrics_are_text_for_who_asks_for_text(rest: Rest) -> None:
    rest.thread()
    answer = rest.operator.get("/api/metrics", headers={"Accept": "text/plain;version=0.0.4"})
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    sample = re.compile(r'greenroom_[a-z_]+(\{[a-z]+="[a-z]+"\})? [0-9.]+')
    lines = [line for line in answer.text.splitlines() if not line.startswith("# TYPE ")]
    assert lines and all(sample.fullmatch(line) for line in lines)


def test_health_is_public_and_tells_nothing(rest: Rest) -> None:
    assert httpx.get(f"{rest.hub.url}/health").json() == {"status": "ok", "service": "Greenroom"}


def test_the_front_page_is_for_who_has_logged_in(rest: Rest) -> None:
    rest.operator.post("/api/threads", json={"topic": new_topic()})
    with httpx.Client(base_url=rest.hub.url) as browser:
        turned_away = browser.get("/")
        assert (turned_away.status_code, turned_away.headers["location"]) == (303, "/login")
        code = rest.operator.post("/api/login-codes").json()["code"]
        log_in(browser, code)
        page = browser.get("/")
        assert page.status_code == 200
        assert "<title>Greenroom</title>" in page.text
        assert "<style" not in page.text and not re.search(r"<script(?![^>]* src=)", page.text), "nothing is inline"
        assert browser.get("/openapi.json").status_code == 200
        assert browser.post("/logout", headers={"Origin": rest.hub.url}).status_code == 303
        assert browser.get("/").status_code == 303
