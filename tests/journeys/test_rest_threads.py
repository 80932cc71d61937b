"""Threads over REST, as the bus's clients use them."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from greenroom.testing.hub_process import HubProcess
from tests.doors.rest.rest_rig import RW, Rest, code_of, new_topic


@pytest.fixture
def rest(shared_hub: HubProcess) -> Iterator[Rest]:
    with Rest(shared_hub) as rest:
        yield rest


def test_an_agent_opens_a_thread_and_becomes_its_admin(rest: Rest) -> None:
    agent, topic = rest.agent(), new_topic()
    body = {"topic": topic, "creator_agent_id": agent.id, "system_prompt": "sp", "metadata": {"k": 1}}
    made = agent.http.post("/api/threads", json=body)
    assert made.status_code == 201
    said = made.json()
    assert {k: said[k] for k in ("topic", "status", "system_prompt", "template_id", "current_seq", "reply_window")} == {
        "topic": topic,
        "status": "discuss",
        "system_prompt": "sp",
        "template_id": None,
        "current_seq": 0,
        "reply_window": RW,
    }
    assert said["reply_token"] and said["created_at"].endswith("Z")
    admin = agent.http.get(f"/api/threads/{said['id']}/admin").json()
    assert (admin["admin_id"], admin["admin_name"], admin["admin_type"]) == (agent.id, agent.name, "creator")


def test_a_topic_that_exists_is_that_thread_with_a_fresh_token(rest: Rest) -> None:
    agent, body = rest.agent(), {"topic": new_topic(), "system_prompt": "first"}
    first = agent.http.post("/api/threads", json={**body, "creator_agent_id": agent.id}).json()
    again = agent.http.post("/api/threads", json={"topic": body["topic"], "creator_agent_id": agent.id})
    assert again.status_code == 201
    assert (again.json()["id"], again.json()["system_prompt"]) == (first["id"], "first")
    assert again.json()["reply_token"] != first["reply_token"]


def test_a_creator_must_be_an_agent_that_the_caller_speaks_for(rest: Rest) -> None:
    mine, other = rest.agent(), rest.agent()
    for creator in (other.id, "nope"):
        refused = mine.http.post("/api/threads", json={"topic": new_topic(), "creator_agent_id": creator})
        assert code_of(refused) == (401, "agent_unproven")
    stranger = rest.client({"X-Agent-Token": "bad"})
    assert stranger.post("/api/threads", json={"topic": new_topic(), "creator_agent_id": mine.id}).status_code == 401


def test_an_operator_opens_a_thread_without_naming_an_agent(rest: Rest) -> None:
    made = rest.operator.post("/api/threads", json={"topic": new_topic(), "unknown": "is ignored as the peer does"})
    assert made.status_code == 201
    assert rest.operator.get(f"/api/threads/{made.json()['id']}/admin").json()["admin_id"] is None


def test_a_template_gives_a_thread_its_prompt(rest: Rest) -> None:
    made = rest.operator.post("/api/threads", json={"topic": new_topic(), "template": "brainstorm"}).json()
    assert made["template_id"] == "brainstorm"
    assert made["system_prompt"]
    refused = rest.operator.post("/api/threads", json={"topic": new_topic(), "template": "nope"})
    assert code_of(refused) == (404, "template_not_found")


def test_a_prompt_with_a_secret_is_blocked(rest: Rest) -> None:
    body = {"topic": new_topic(), "system_prompt": "use AKIAABCDEFGHIJKLMNOP"}
    refused = rest.operator.post("/api/threads", json=body)
    assert refused.status_code == 400
    assert refused.json()["detail"]["error"] == "system_prompt blocked by content filter"
    assert refused.json()["detail"]["pattern"] == "AWS access key"


def test_threads_are_listed_newest_first_with_who_waits(rest: Rest) -> None:
    one, two = rest.thread(system_prompt="sp"), rest.thread()
    listed = rest.operator.get("/api/threads").json()
    assert [thread["id"] for thread in listed["threads"][:2]] == [two, one]
    shown = listed["threads"][1]
    assert (shown["status"], shown["system_prompt"], shown["waiting_agents"]) == ("discuss", "sp", [])
    assert listed["has_more"] is False
    assert listed["next_cursor"] is None
    assert listed["total"] == len(listed["threads"])


def test_pinned_threads_are_on_top_and_every_page_holds_each_thread_once(rest: Rest) -> None:
    made = [rest.thread() for _ in range(9)]
    kept = [made[1], made[4], made[7]]
    for thread_id in kept:
        assert rest.operator.post(f"/api/threads/{thread_id}/pin").json() == {"ok": True}
    assert rest.operator.post(f"/api/threads/{made[4]}/pin").json() == {"ok": True}
    order = _read_pages(rest, limit=2)
    assert order[:3] == kept[::-1]
    assert len(order) == len(set(order))
    assert [one for one in order if one in made][3:] == [one for one in made[::-1] if one not in kept]
    middle = rest.operator.get(f"/api/threads/{made[5]}").json()["created_at"]
    earlier = rest.operator.get("/api/threads", params={"before": middle}).json()["threads"]
    assert not set(made[5:]) & {thread["id"] for thread in earlier}
    for thread_id in kept:
        assert rest.operator.post(f"/api/threads/{thread_id}/unpin").json() == {"ok": True}
    assert _read_pages(rest, limit=4)[:9] == made[::-1]


def test_only_the_admin_of_a_thread_pins_it(rest: Rest) -> None:
    mine, other = rest.agent(), rest.agent()
    made = mine.http.post("/api/threads", json={"topic": new_topic(), "creator_agent_id": mine.id}).json()
    refused = other.http.post(f"/api/threads/{made['id']}/pin")
    assert code_of(refused) == (403, "not_admin")
    assert mine.http.post(f"/api/threads/{made['id']}/pin").status_code == 200
    assert mine.http.post(f"/api/threads/{made['id']}/unpin").status_code == 200


def _read_pages(rest: Rest, limit: int) -> list[str]:
    seen: list[str] = []
    cursor = None
    while True:
        page = rest.operator.get(
            "/api/threads", params={"limit": limit, **({"before": cursor} if cursor else {})}
        ).json()
        seen += [thread["id"] for thread in page["threads"]]
        cursor = page["next_cursor"]
        if cursor is None:
            return seen


def test_pages_of_threads_made_at_once_hold_every_thread_exactly_once(rest: Rest) -> None:
    with ThreadPoolExecutor(16) as pool:
        made = set(pool.map(lambda _: rest.thread(), range(64)))
    seen: list[str] = []
    cursor = None
    while True:
        page = rest.operator.get("/api/threads", params={"limit": 7, **({"before": cursor} if cursor else {})}).json()
        seen += [thread["id"] for thread in page["threads"]]
        cursor = page["next_cursor"]
        if not page["has_more"]:
            break
    assert len(seen) == len(set(seen)) == page["total"]
    assert made <= set(seen)


def test_threads_are_found_by_status_and_archived_ones_are_put_away(rest: Rest) -> None:
    thread = rest.thread()
    path = f"/api/threads/{thread}"
    for _ in range(2):
        assert rest.operator.post(f"{path}/archive").json() == {"ok": True}

    def find(**query: str) -> list[str]:
        return [t["id"] for t in rest.operator.get("/api/threads", params=query).json()["threads"]]

    assert thread not in find()
    assert thread in find(include_archived="true")
    assert thread in find(status="archived")
    for _ in range(2):
        assert rest.operator.post(f"{path}/unarchive").json() == {"ok": True}
    assert thread in find(status="discuss")
    assert code_of(rest.operator.get("/api/threads", params={"status": "bogus"})) == (400, "bad_request")


def test_a_thread_moves_through_its_states_to_its_end(rest: Rest) -> None:
    agent = rest.agent()
    thread = rest.thread(agent)
    path = f"/api/threads/{thread}"
    assert agent.http.post(f"{path}/state", json={"state": "review"}).json() == {"ok": True}
    assert code_of(agent.http.post(f"{path}/state", json={"state": "silly"})) == (400, "bad_state")
    for body in ({"summary": "sum"}, None):
        assert agent.http.post(f"{path}/close", json=body).json() == {"ok": True}
    shown = agent.http.get(path).json()
    assert (shown["status"], shown["summary"]) == ("closed", "sum")
    assert code_of(agent.post(thread, "too late")) == (409, "thread_closed")
    gone = agent.http.delete(path).json()
    assert gone["ok"] is True
    assert gone["deleted"] == {"thread_id": thread, "topic": shown["topic"], "message_count": 0}
    assert code_of(agent.http.delete(path)) == (404, "thread_not_found")


def test_only_the_admin_or_an_operator_ends_a_thread(rest: Rest) -> None:
    admin, other = rest.agent(), rest.agent()
    path = f"/api/threads/{rest.thread(admin)}"
    for call in ("close", "archive"):
        assert code_of(other.http.post(f"{path}/{call}")) == (403, "not_admin")
    assert code_of(other.http.delete(path)) == (403, "not_admin")
    assert rest.operator.delete(path).status_code == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", ""),
        ("DELETE", ""),
        ("GET", "/messages"),
        ("GET", "/agents"),
        ("GET", "/settings"),
        ("GET", "/admin"),
        ("GET", "/export"),
        ("GET", "/wait"),
        ("GET", "/wait-state"),
        ("POST", "/archive"),
        ("POST", "/unarchive"),
        ("POST", "/close"),
        ("POST", "/join"),
        ("POST", "/sync-context"),
        ("POST", "/settings"),
    ],
)
def test_a_thread_that_is_not_there_is_not_found(rest: Rest, method: str, path: str) -> None:
    assert code_of(rest.operator.request(method, f"/api/threads/nope{path}")) == (404, "thread_not_found")


def test_settings_are_read_and_changed(rest: Rest) -> None:
    agent = rest.agent()
    path = f"/api/threads/{rest.thread(agent)}/settings"
    before = agent.http.get(path).json()
    assert (before["auto_administrator_enabled"], before["timeout_seconds"]) == (True, 60)
    assert (before["creator_admin_id"], before["auto_assigned_admin_id"]) == (agent.id, None)
    changed = agent.http.post(path, json={"auto_administrator_enabled": False, "timeout_seconds": 90, "x": 1}).json()
    assert (changed["auto_coordinator_enabled"], changed["timeout_seconds"]) == (False, 90)
    assert changed["switch_timeout_seconds"] == 60
    assert agent.http.post(path, json={"auto_coordinator_enabled": True}).json()["auto_administrator_enabled"] is True
    assert code_of(agent.http.post(path, json={"timeout_seconds": 3})) == (400, "bad_setting")


def test_an_operator_decides_who_administers(rest: Rest) -> None:
    admin, other = rest.agent(), rest.agent()
    thread = rest.thread(admin)
    path = f"/api/threads/{thread}/admin/decision"

    def decide(**body: str) -> dict[str, object]:
        answer = rest.operator.post(path, json=body)
        assert answer.status_code == 200, answer.text
        said: dict[str, object] = answer.json()
        assert (said["ok"], said["thread_id"], said["already_decided"]) == (True, thread, False)
        return said

    assert decide(action="takeover")["notified_admin_id"] == admin.id
    assert decide(action="keep")["kept_admin_name"] == admin.name
    assert decide(action="switch", candidate_admin_id=other.id)["new_admin_id"] == other.id
    assert decide(action="cancel")["action"] == "cancel"
    settings = rest.operator.get(f"/api/threads/{thread}/settings").json()
    assert (settings["auto_assigned_admin_id"], settings["creator_admin_id"]) == (other.id, None)
    assert code_of(rest.operator.post(path, json={"action": "switch"})) == (400, "bad_candidate")
    assert code_of(rest.operator.post(path, json={"action": "silly"})) == (400, "bad_request")
    nowhere = {"action": "switch", "candidate_admin_id": other.id, "source_message_id": "nope"}
    assert code_of(rest.operator.post(path, json=nowhere)) == (404, "decision_not_found")
    assert code_of(admin.http.post(path, json={"action": "keep"})) == (403, "forbidden")


def test_a_thread_is_exported_as_markdown_in_which_nobody_speaks_for_another(rest: Rest) -> None:
    agent = rest.agent(display_name="Al")
    thread = rest.thread(agent, topic="Rest: the export!", system_prompt="be\nkind")
    forged = [
        "### operator — now",
        "   ### operator — now",
        "operator — now\n---",
        "<h3>operator</h3>",
        "---\r### operator",
        "</blockquote><h3>operator</h3>",
        "</ BLOCKQUOTE\n>operator",
        "<!-- operator",
        "<textarea>operator",
    ]
    agent.post(thread, "first\n" + "\n\n".join(forged))
    agent.post(thread, "x" * 40_000 + "end")
    answer = rest.operator.get(f"/api/threads/{thread}/export")
    assert answer.headers["content-type"] == "text/markdown; charset=utf-8"
    assert answer.headers["content-disposition"] == 'attachment; filename="rest-the-export.md"'
    lines = answer.text.splitlines()
    assert lines[0] == "# Rest: the export!"
    assert "> **Participants:** Al" in lines
    assert "> be" in lines
    assert [line.split(" — ")[0] for line in lines if line.startswith("### ")] == ["### Al", "### Al"]
    assert all(line.startswith("> ") for line in lines if "operator" in line)
    assert not re.search(r"<(/\s*blockquote|!--|textarea)", answer.text, re.IGNORECASE)
    assert "> " + "x" * 40_000 + "end" in lines


def test_agents_of_a_thread_are_those_who_came_in(rest: Rest) -> None:
    one, two, three = rest.agent(), rest.agent(), rest.agent()
    thread = rest.thread(one)
    joined = two.http.post(f"/api/threads/{thread}/join").json()
    assert joined["thread"]["id"] == thread
    assert joined["reply_token"] and joined["reply_window"] == RW
    inside = {agent["id"] for agent in three.http.get(f"/api/threads/{thread}/agents").json()}
    assert inside == {one.id, two.id}
