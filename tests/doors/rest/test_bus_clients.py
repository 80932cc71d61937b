"""The REST door as AgentChatBus's own programs use it: its VS Code extension, its web console, its scripts."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from greenroom.testing.hub_process import HubProcess, wait_until
from greenroom.testing.timeouts import WAIT_S
from tests.conftest import checked
from tests.doors.rest.rest_rig import Rest, code_of, new_topic
from tests.pictures import png


@pytest.fixture
def rest(shared_hub: HubProcess) -> Iterator[Rest]:
    with Rest(shared_hub) as rest:
        yield rest


def context_of(rest: Rest, thread: str) -> dict[str, Any]:
    said = rest.operator.post(f"/api/threads/{thread}/sync-context", json={}).json()
    return {"expected_last_seq": said["current_seq"], "reply_token": said["reply_token"]}


def post(rest: Rest, thread: str, author: str, **fields: Any) -> httpx.Response:
    body = {"author": author, "content": f"from {author}", **fields}
    return rest.operator.post(f"/api/threads/{thread}/messages", json=body)


def test_a_token_of_a_sync_context_serves_every_author_who_is_no_agent_once(rest: Rest) -> None:
    thread = rest.thread()
    for author in ("alice", "human", "Web Console", "alice"):
        context = context_of(rest, thread)
        posted = post(rest, thread, author, **context)
        assert posted.status_code == 201, posted.text
        again = post(rest, thread, "bob", **{**context, "expected_last_seq": posted.json()["seq"]})
        assert again.json()["detail"]["error"] == "TOKEN_REPLAY"


def test_the_token_of_a_new_thread_serves_too_and_an_agents_token_does_not(rest: Rest) -> None:
    opened = rest.operator.post("/api/threads", json={"topic": new_topic()}).json()
    context = {"expected_last_seq": opened["current_seq"], "reply_token": opened["reply_token"]}
    assert post(rest, opened["id"], "alice", **context).status_code == 201
    outsider = rest.bearer(kind="agent", rights=["read", "all", "chat", "register"])
    made = outsider.post("/api/agents/register", json={"ide": "Bot", "model": "M"}).json()
    seen = outsider.post(f"/api/threads/{opened['id']}/sync-context", json={"agent_id": made["agent_id"]}).json()
    context = {"expected_last_seq": seen["current_seq"], "reply_token": seen["reply_token"]}
    assert post(rest, opened["id"], "alice", **context).json()["detail"]["error"] == "TOKEN_INVALID"


def test_the_extension_registers_as_a_human_opens_a_thread_and_posts(rest: Rest) -> None:
    me = rest.operator.post("/api/agents/register", json={"ide": "VS Code", "model": "human"})
    assert me.status_code == 200, me.text
    topic = new_topic()
    proof = {"X-Agent-Token": me.json()["token"]}
    body = {"topic": topic, "creator_agent_id": me.json()["agent_id"]}
    opened = httpx.post(f"{rest.hub.url}/api/threads", json=body, headers=proof).json()
    context = {"expected_last_seq": opened["current_seq"], "reply_token": opened["reply_token"]}
    assert post(rest, opened["id"], "human", **context).status_code == 201
    for name in ("operator", "Human ", "humаn"):
        refused = rest.operator.post("/api/agents/register", json={"ide": name, "model": "M"})
        assert code_of(refused) == (400, "reserved_name")


def test_a_post_on_an_old_seq_is_refused_in_the_words_of_both_families(rest: Rest) -> None:
    thread = rest.thread()
    context = context_of(rest, thread)
    post(rest, thread, "bob")
    refused = post(rest, thread, "alice", **context)
    assert refused.status_code == 409
    said = refused.json()
    assert said["detail"]["action"] == "RE_READ_AND_RETRY"
    assert said["action"] == "READ_MESSAGES_THEN_CALL_MSG_WAIT"
    assert [m["content"] for m in said["new_messages_1st_read"]] == ["from bob"]
    assert said["new_messages_1st_read"] == said["detail"]["new_messages"]
    assert (said["current_seq"], said["error"]) == (said["detail"]["current_seq"], "SEQ_MISMATCH")


def test_a_decision_about_the_administration_is_written_into_the_thread(rest: Rest) -> None:
    first, second = rest.agent(), rest.agent()
    thread = rest.thread(first)
    path = f"/api/threads/{thread}"
    body = {"action": "switch", "candidate_admin_id": second.id}
    assert rest.operator.post(f"{path}/admin/decision", json=body).status_code == 200
    assert rest.operator.post(f"{path}/admin/decision", json={"action": "keep"}).status_code == 200
    switched, kept = rest.operator.get(f"{path}/messages").json()
    assert second.name in switched["content"] and switched["role"] == "system"
    metadata = json.loads(switched["metadata"])
    assert (metadata["ui_type"], metadata["decision"]) == ("admin_switch_decision_result", "switch")
    assert json.loads(kept["metadata"])["decision"] == "keep"
    seen_by_agent = second.http.get(f"{path}/messages").json()
    assert [m["id"] for m in seen_by_agent] == [switched["id"]], "what changes nothing is for people"
    kinds = [entry["entry_kind"] for entry in rest.operator.get(f"{path}/transcript").json()]
    assert kinds == ["message", "human_only"]


def test_a_limit_above_the_cap_is_capped(rest: Rest) -> None:
    thread = rest.thread()
    post(rest, thread, "human")
    for path in (
        f"/api/threads/{thread}/messages",
        "/api/threads",
        f"/api/threads/{thread}/wait",
        "/api/search?q=from",
    ):
        assert rest.operator.get(path, params={"limit": 100_000, "q": "from"}).status_code == 200, path
        assert code_of(rest.operator.get(path, params={"limit": -1, "q": "from"})) == (400, "bad_request")


def test_a_template_needs_no_prompt_and_makes_threads_without_one(rest: Rest) -> None:
    made = rest.operator.post("/api/templates", json={"id": "bare", "name": "Bare"})
    assert made.status_code == 201, made.text
    thread = rest.operator.post("/api/threads", json={"topic": new_topic(), "template": "bare"}).json()
    assert (thread["template_id"], thread["system_prompt"] or None) == ("bare", None)


def test_an_image_is_posted_without_words_and_bears_its_name(rest: Rest) -> None:
    thread = rest.thread()
    kept = rest.operator.post("/api/upload/image", files={"file": ("sketch.png", png())}).json()
    posted = post(rest, thread, "human", content="", images=[kept, {"url": kept["url"]}], **context_of(rest, thread))
    assert posted.status_code == 201, posted.text
    (message,) = rest.operator.get(f"/api/threads/{thread}/messages").json()
    assert message["content"] == posted.json()["content"] == "sketch.png, image"
    assert [image["url"] for image in json.loads(message["metadata"])["images"]] == [kept["url"]] * 2
    assert code_of(post(rest, thread, "human", content="", images=[])) == (400, "empty_content")


def test_an_edit_takes_both_names_of_the_new_text(rest: Rest) -> None:
    message = post(rest, rest.thread(), "human").json()["id"]
    for body in ({"content": "one"}, {"new_content": "two"}):
        assert rest.operator.put(f"/api/messages/{message}", json=body).status_code == 200
        assert rest.operator.get(f"/api/messages/{message}").json()["content"] == next(iter(body.values()))
    assert code_of(rest.operator.put(f"/api/messages/{message}", json={})) == (400, "bad_request")


def test_a_thread_says_when_it_changed_last(rest: Rest) -> None:
    thread = rest.thread()
    before = rest.operator.get(f"/api/threads/{thread}").json()
    assert before["updated_at"] == before["created_at"]
    posted = post(rest, thread, "human").json()
    assert rest.operator.get(f"/api/threads/{thread}").json()["updated_at"] == posted["created_at"]


def test_a_reaction_on_a_missing_message_is_not_there_to_be_removed(rest: Rest) -> None:
    answer = rest.operator.delete("/api/messages/msg_none/reactions/x", params={"agent_id": "human"})
    assert answer.status_code == 200
    said = answer.json()
    assert (said["message_id"], said["removed"], said["reaction"]) == ("msg_none", False, "x")


def test_a_thread_is_renamed_by_its_admin_and_everybody_hears_of_it(rest: Rest) -> None:
    admin, other = rest.agent(), rest.agent()
    thread, topic = rest.thread(admin), new_topic()
    path = f"/api/threads/{thread}/rename"
    assert code_of(other.http.post(path, json={"topic": topic})) == (403, "not_admin")
    with rest.operator.stream("GET", "/events") as events:
        lines = events.iter_lines()
        assert admin.http.post(path, json={"topic": topic}).json() == {"ok": True, "thread_id": thread, "topic": topic}
        told = next(json.loads(line[6:]) for line in lines if "thread.updated" in line)
    assert told["payload"] == {"thread_id": thread, "topic": topic}
    assert rest.operator.get(f"/api/threads/{thread}").json()["topic"] == topic
    taken = rest.operator.post(f"/api/threads/{rest.thread()}/rename", json={"topic": topic})
    assert code_of(taken) == (409, "topic_taken")
    assert code_of(rest.operator.post(path, json={"topic": " "})) == (400, "bad_topic")
    mailbox = admin.http.get(f"/api/threads/mbx_{admin.id}/messages")
    assert mailbox.status_code == 200
    assert code_of(rest.operator.post(f"/api/threads/mbx_{admin.id}/rename", json={"topic": "x"})) == (400, "bad_topic")


def test_a_tool_is_called_by_its_path_and_answers_in_blocks(rest: Rest) -> None:
    made = rest.operator.post("/api/mcp/tool/agent_register", json={"ide": "Script", "model": "M"})
    (block,) = made.json()
    me = json.loads(block["text"])
    assert block["type"] == "text" and me["agent_id"].startswith("agt_")
    unknown = rest.operator.post("/api/mcp/tool/nope", json={})
    assert (unknown.status_code, unknown.json()["error"]) == (400, "Unknown tool: nope")
    assert httpx.post(f"{rest.hub.url}/api/mcp/tool/thread_list", json={}).status_code == 401
    assert rest.operator.get("/api/mcp/tool/thread_list").status_code == 405


def test_one_message_of_mcp_is_answered_without_a_session(rest: Rest) -> None:
    def ask(method: str, **params: Any) -> httpx.Response:
        return rest.operator.post("/mcp/messages", json={"method": method, "params": params})

    assert "msg_post" in [tool["name"] for tool in ask("tools/list").json()["result"]]
    (block,) = ask("tools/call", name="bus_get_config", arguments={}).json()["result"]
    assert json.loads(block["text"])["bus_name"]
    assert ask("resources/list").json()["result"]["resources"]
    assert ask("tools/call", name="nope").status_code == 400
    assert ask("nope/nope").status_code == 400
    assert rest.operator.post("/mcp/messages", json={"params": {}}).status_code == 400


@pytest.mark.parametrize("key", ["AKIA" + "A" * 16, "AKIA" + "AB1" * 12, "xxx AKIA" + "Z" * 16 + "zz"])
def test_an_aws_key_is_caught_also_when_letters_follow_it(rest: Rest, key: str) -> None:
    refused = post(rest, rest.thread(), "human", content=f"use {key}")
    assert refused.json()["detail"]["error"] == "Content blocked by filter"


def send_whole(hub: HubProcess, head: str, size: int) -> bytes:
    """Send a request whole before reading a byte, as many clients do, and then read the answer to its end."""
    place = hub.url.removeprefix("http://")
    host, _, port = place.partition(":")
    with socket.create_connection((host, int(port)), timeout=WAIT_S) as line:
        line.sendall(f"{head}\r\nHost: {place}\r\nContent-Length: {size}\r\n\r\n".encode())
        for _ in range(size // 65_536):
            line.sendall(bytes(65_536))
        line.sendall(bytes(size % 65_536))
        answer = b""
        while data := line.recv(65_536):
            answer += data
        return answer


@pytest.mark.parametrize(
    ("size", "credential", "status"), [(6_000_000, False, 401), (12_000_000, True, 413), (40_000_000, False, 413)]
)
def test_a_refused_upload_gets_its_answer(shared_hub: HubProcess, size: int, credential: bool, status: int) -> None:
    head = "POST /api/upload/image HTTP/1.1"
    if credential:
        head += f"\r\nAuthorization: Bearer {shared_hub.token}"
    answer = send_whole(shared_hub, head, size)
    assert answer.startswith(b"HTTP/1.1 %d " % status)
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["detail"]


def test_who_floods_is_told_so_and_not_cut_off(tmp_path: Path) -> None:
    for hub in checked(HubProcess(tmp_path / "data", {"GREENROOM_REQUESTS_PER_SECOND": "1"})):
        head = f"POST /api/threads HTTP/1.1\r\nAuthorization: Bearer {hub.token}\r\nConnection: close"
        seen: list[bytes] = []

        def is_told(hub: HubProcess = hub, head: str = head, seen: list[bytes] = seen) -> bool:
            seen.append(send_whole(hub, head, 300_000)[9:12])
            return seen[-1] == b"429"

        wait_until(is_told)
        assert set(seen) == {b"400", b"429"}, "no request was left without an answer"
