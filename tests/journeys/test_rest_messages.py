"""Messages over REST, as the bus's clients post, read, change and find them."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from greenroom.testing.hub_process import HubProcess
from tests.doors.rest.rest_rig import RW, Rest, code_of


@pytest.fixture
def rest(shared_hub: HubProcess) -> Iterator[Rest]:
    with Rest(shared_hub) as rest:
        yield rest


def read(client: httpx.Client, thread: str, **query: Any) -> list[dict[str, Any]]:
    answer = client.get(f"/api/threads/{thread}/messages", params=query)
    assert answer.status_code == 200, answer.text
    page: list[dict[str, Any]] = answer.json()
    return page


def test_an_agent_posts_without_sync_fields_and_gets_its_next_context(rest: Rest) -> None:
    agent = rest.agent()
    thread = rest.thread(agent)
    posted = agent.post(thread, "one")
    assert posted.status_code == 201
    said = posted.json()
    assert {k: said[k] for k in ("author", "author_id", "author_name", "role", "content", "priority")} == {
        "author": agent.name,
        "author_id": agent.id,
        "author_name": agent.name,
        "role": "user",
        "content": "one",
        "priority": "normal",
    }
    assert (said["reply_to_msg_id"], said["metadata"], said["author_emoji"]) == (None, None, "🤖")
    assert (said["current_seq"], said["reply_window"]) == (said["seq"], RW)
    next_post = agent.post(thread, "two", expected_last_seq=said["current_seq"], reply_token=said["reply_token"])
    assert next_post.status_code == 201


def test_a_person_posts_with_everything_that_a_message_may_carry(rest: Rest) -> None:
    agent = rest.agent()
    thread = rest.thread(agent)
    first = agent.post(thread, "one").json()
    body = {
        "author": "human",
        "content": "two **md**",
        "mentions": [agent.id],
        "images": [{"url": "/api/uploads/x", "name": "x"}],
        "metadata": {"k": 1},
        "reply_to_msg_id": first["id"],
        "priority": "urgent",
        "role": "user",
        "unknown": "ignored",
    }
    said = rest.operator.post(f"/api/threads/{thread}/messages", json=body).json()
    assert (said["author"], said["author_id"], said["author_emoji"]) == ("human", None, "👤")
    assert (said["priority"], said["reply_to_msg_id"], said["reply_token"]) == ("urgent", first["id"], None)
    images = [{"url": "/api/uploads/x", "name": "x"}]
    assert json.loads(said["metadata"]) == {"k": 1, "images": images, "mentions": [agent.id]}
    shown = read(agent.http, thread)
    assert [message["content"] for message in shown] == ["one", "two **md**"]
    assert (shown[1]["edited_at"], shown[1]["edit_version"], shown[1]["reactions"]) == (None, 0, [])
    assert shown[1]["metadata"] == said["metadata"]


@pytest.mark.parametrize(
    ("fields", "refusal"),
    [
        ({"priority": "silly"}, (400, "bad_priority")),
        ({"reply_to_msg_id": "nope"}, (400, "bad_reply_to")),
        ({"metadata": {"stop_reason": "silly"}}, (400, "bad_stop_reason")),
        ({"metadata": {"handoff_target": 7}}, (400, "bad_handoff")),
        ({"role": "boss"}, (400, "bad_role")),
        ({"content": " \n"}, (400, "empty_content")),
        ({"content": "x" * 1_000_001}, (413, "content_too_long")),
        ({"mentions": ["a"] * 101}, (413, "too_many_mentions")),
        ({"author": "system"}, (400, "bad_author")),
    ],
)
def test_a_post_that_is_not_right_is_refused_with_what_to_write(
    rest: Rest, fields: dict[str, Any], refusal: tuple[int, str]
) -> None:
    thread = rest.thread()
    body = {"author": "human", "content": "x", **fields}
    assert code_of(rest.operator.post(f"/api/threads/{thread}/messages", json=body)) == refusal
    assert read(rest.operator, thread) == []


def test_nobody_posts_as_another_agent_or_into_what_is_not_there(rest: Rest) -> None:
    mine, other = rest.agent(), rest.agent()
    thread = rest.thread(mine)
    body = {"author": other.id, "content": "forged"}
    assert code_of(mine.http.post(f"/api/threads/{thread}/messages", json=body)) == (403, "author_not_yours")
    assert code_of(mine.post("nope", "x")) == (404, "thread_not_found")
    viewer = rest.bearer(kind="viewer")
    refused = viewer.post(f"/api/threads/{thread}/messages", json={"author": "human", "content": "x"})
    assert code_of(refused) == (403, "forbidden")
    assert read(mine.http, thread) == []


@pytest.mark.parametrize("before", [0, 50_000])
def test_a_secret_is_blocked_wherever_in_the_message_it_is(rest: Rest, before: int) -> None:
    thread = rest.thread()
    body = {"author": "human", "content": "." * before + " AKIAABCDEFGHIJKLMNOP"}
    refused = rest.operator.post(f"/api/threads/{thread}/messages", json=body)
    assert refused.status_code == 400
    detail = refused.json()["detail"]
    assert (detail["error"], detail["pattern"]) == ("Content blocked by filter", "AWS access key")


def test_messages_are_read_page_by_page(rest: Rest) -> None:
    agent = rest.agent()
    thread = rest.thread(agent, system_prompt="be kind")
    seqs = [agent.post(thread, f"m{n}", priority="urgent" if n % 5 == 0 else "normal").json()["seq"] for n in range(12)]
    assert [m["seq"] for m in read(agent.http, thread, after_seq=seqs[3], limit=2)] == seqs[4:6]
    assert [m["seq"] for m in read(agent.http, thread, before_seq=seqs[9], limit=3)] == seqs[6:9]
    assert [m["content"] for m in read(agent.http, thread, priority="urgent", limit=2)] == ["m0", "m5"]
    assert [m["content"] for m in read(agent.http, thread, priority="urgent", limit=2, after_seq=seqs[5])] == ["m10"]
    assert [m["content"] for m in read(agent.http, thread, priority="urgent", before_seq=seqs[10])] == ["m0", "m5"]
    assert read(agent.http, thread, after_seq=seqs[-1]) == []
    opening = read(agent.http, thread, include_system_prompt="true", limit=1)
    assert [(m["seq"], m["role"], m["content"]) for m in opening] == [(0, "system", "be kind"), (seqs[0], "user", "m0")]
    assert opening[0]["id"] == f"sys-{thread}"
    assert len(read(agent.http, thread, include_system_prompt="true", after_seq=seqs[0])) == 11


def test_a_long_message_comes_back_whole_everywhere(rest: Rest) -> None:
    agent = rest.agent()
    thread = rest.thread(agent)
    content = "長い " * 30_000
    posted = agent.post(thread, content).json()
    assert posted["content"] == content
    assert read(agent.http, thread)[0]["content"] == content
    one = agent.http.get(f"/api/messages/{posted['id']}").json()
    assert (one["content"], one["thread_id"], one["seq"]) == (content, thread, posted["seq"])


def test_an_author_changes_a_message_and_the_old_words_are_kept(rest: Rest) -> None:
    agent, other = rest.agent(), rest.agent()
    thread = rest.thread(agent)
    message = agent.post(thread, "one").json()["id"]
    path = f"/api/messages/{message}"
    edited = agent.http.put(path, json={"content": "two", "edited_by": agent.id}).json()
    assert (edited["msg_id"], edited["version"], edited["edited_by"]) == (message, 1, agent.id)
    assert agent.http.put(path, json={"content": "two", "edited_by": agent.id}).json() == {
        "no_change": True,
        "version": 1,
    }
    long = "y" * 50_000
    assert rest.operator.put(path, json={"content": long}).json()["version"] == 2
    assert agent.http.put(path, json={"content": "three"}).json()["version"] == 3
    history = other.http.get(f"{path}/history").json()
    assert (history["message_id"], history["current_content"], history["edit_version"]) == (message, "three", 3)
    assert [(e["version"], e["old_content"]) for e in history["edits"]] == [(1, "one"), (2, "two"), (3, long)]
    assert read(agent.http, thread)[0]["edit_version"] == 3


def test_others_do_not_change_a_message(rest: Rest) -> None:
    agent, other = rest.agent(), rest.agent()
    path = f"/api/messages/{agent.post(rest.thread(agent), 'one').json()['id']}"
    assert code_of(other.http.put(path, json={"content": "q", "edited_by": other.id})) == (403, "not_author")
    assert code_of(other.http.put(path, json={"content": "q", "edited_by": agent.id})) == (403, "author_not_yours")
    blocked = agent.http.put(path, json={"content": "AKIAABCDEFGHIJKLMNOP", "edited_by": agent.id})
    assert blocked.json()["detail"]["error"] == "Content blocked by filter"
    for method, end in (("PUT", ""), ("GET", ""), ("GET", "/history"), ("GET", "/receipts"), ("GET", "/reactions")):
        answer = agent.http.request(method, f"/api/messages/nope{end}", json={"content": "q"})
        assert code_of(answer) == (404, "message_not_found")


def test_a_reaction_is_put_once_and_taken_back_once(rest: Rest) -> None:
    agent = rest.agent()
    message = agent.post(rest.thread(agent), "one").json()["id"]
    path = f"/api/messages/{message}/reactions"
    made = [agent.http.post(path, json={"agent_id": agent.id, "reaction": "agree"}) for _ in range(2)]
    assert [answer.status_code for answer in made] == [201, 201]
    assert made[0].json() == made[1].json()
    said = made[0].json()
    assert (said["message_id"], said["agent_id"], said["agent_name"], said["reaction"]) == (
        message,
        agent.id,
        agent.name,
        "agree",
    )
    assert agent.http.get(path).json() == [said]
    assert rest.operator.post(path, json={"agent_id": "human", "reaction": "👍"}).status_code == 201
    for removed in (True, False):
        answer = agent.http.delete(f"{path}/agree", params={"agent_id": agent.id}).json()
        expected = {"removed": removed, "message_id": message, "reaction": "agree", "agent_id": agent.id}
        assert answer == expected
    assert [r["reaction"] for r in agent.http.get(path).json()] == ["👍"]
    assert code_of(agent.http.post(path, json={"agent_id": agent.id, "reaction": " "})) == (400, "bad_reaction")
    assert agent.http.post("/api/messages/nope/reactions", json={"reaction": "x"}).status_code == 404


def test_words_find_messages_that_the_caller_may_see(rest: Rest) -> None:
    agent = rest.agent()
    thread = rest.thread(agent, topic="where words are found")
    posted = agent.post(thread, "a zebra and an 🦓 in the 動物園", metadata={"k": 1}).json()
    found = agent.http.get("/api/search", params={"q": "zebra 動物園"}).json()
    assert (found["total"], found["query"]) == (1, "zebra 動物園")
    result = found["results"][0]
    assert (result["message_id"], result["thread_id"], result["seq"]) == (posted["id"], thread, posted["seq"])
    assert (result["thread_topic"], result["author"]) == ("where words are found", agent.name)
    assert "zebra" in result["snippet"] and json.loads(result["metadata"]) == {"k": 1}
    assert agent.http.get("/api/search", params={"q": "zebra", "thread_id": rest.thread()}).json()["results"] == []
    scoped = rest.bearer(kind="agent", threads=[rest.thread()])
    assert scoped.get("/api/search", params={"q": "zebra"}).json()["total"] == 0
    for query in ({}, {"q": ""}, {"q": " "}, {"q": "x", "limit": "0"}, {"q": "x" * 1001}):
        assert code_of(agent.http.get("/api/search", params=query)) == (400, "bad_request")


def test_what_fits_is_found_however_much_fits_better_in_threads_of_others(rest: Rest) -> None:
    here, elsewhere = rest.thread(), rest.thread()
    for _ in range(25):
        rest.operator.post(f"/api/threads/{elsewhere}/messages", json={"content": "okapi"})
    long = "an okapi, told of at greater length than anywhere else"
    rest.operator.post(f"/api/threads/{here}/messages", json={"content": long})
    scoped = rest.bearer(kind="agent", threads=[here])
    found = scoped.get("/api/search", params={"q": "okapi", "limit": 2}).json()
    assert [result["snippet"] for result in found["results"]] == [long]


def test_what_is_for_people_only_is_not_there_for_agents(rest: Rest) -> None:
    agent = rest.agent()
    thread = rest.thread(agent)
    context = agent.context(thread)
    body = {"content": "between giraffes", "metadata": {"visibility": "human_only"}}
    message = rest.operator.post(f"/api/threads/{thread}/messages", json=body).json()
    path = f"/api/messages/{message['id']}"
    for place in ("", "/history", "/reactions", "/receipts"):
        assert code_of(agent.http.get(path + place)) == (404, "message_not_found")
        assert rest.operator.get(path + place).status_code == 200
    assert agent.http.get("/api/search", params={"q": "giraffes", "thread_id": thread}).json()["results"] == []
    refused = agent.post(thread, "x", expected_last_seq=context[0], reply_token=context[1])
    assert refused.status_code == 409
    assert refused.json()["detail"]["new_messages"] == []
    assert "giraffes" not in agent.http.get(f"/api/threads/{thread}/export").text
    enrolling = rest.bearer(kind="agent", rights=["read", "chat", "register", "all"])
    assert code_of(enrolling.get(path)) == (404, "message_not_found")
    waited = enrolling.get(f"/api/threads/{thread}/wait", params={"after_seq": 0, "timeout_ms": 0})
    assert (waited.json()["messages"], enrolling.get(f"/api/threads/{thread}/messages").json()) == ([], [])


@pytest.mark.parametrize(
    "words", ['"', "NEAR(", "* -", "body:x", "y AND", "%_", "'); --", "\x00", "(" * 500, "y " * 400]
)
def test_whatever_is_searched_for_is_only_words(rest: Rest, words: str) -> None:
    answer = rest.operator.get("/api/search", params={"q": words})
    assert answer.status_code == 200
    assert answer.json()["results"] == []


def test_receipts_tell_how_far_a_message_has_come(rest: Rest) -> None:
    author, reader = rest.agent(), rest.agent()
    thread = rest.thread(author)
    reader.http.post(f"/api/threads/{thread}/join")
    message = author.post(thread, "one").json()

    def state() -> str:
        receipts = author.http.get(f"/api/messages/{message['id']}/receipts").json()["receipts"]
        assert [(r["agent_id"], r["agent_name"]) for r in receipts] == [(reader.id, reader.name)]
        return str(receipts[0]["state"])

    assert state() == "queued"
    assert read(reader.http, thread)
    wait = f"/api/threads/{thread}/wait"
    assert reader.http.get(wait, params={"after_seq": message["seq"], "timeout_ms": 300}).json()["messages"] == []
    assert state() == "seen"
    assert reader.http.post(f"/api/messages/{message['id']}/reactions", json={"reaction": "ok"}).status_code == 201
    assert state() == "acted"


def test_mail_is_read_by_its_agent_and_by_nobody_else(rest: Rest) -> None:
    sender, receiver, other = rest.agent(), rest.agent(), rest.agent()
    assert read(receiver.http, f"mbx_{receiver.id}") == []
    sent = sender.http.post(f"/api/agents/{receiver.id}/mail", json={"content": "for you"})
    assert sent.status_code == 201
    mailbox = f"mbx_{receiver.id}"
    assert [m["content"] for m in read(receiver.http, mailbox)] == ["for you"]
    assert code_of(other.http.get(f"/api/threads/{mailbox}/messages")) == (404, "thread_not_found")
    assert other.http.get(f"/api/messages/{sent.json()['id']}").status_code == 404
    assert sender.http.get(f"/api/messages/{sent.json()['id']}/receipts").status_code == 200
    assert code_of(sender.http.post("/api/agents/nope/mail", json={"content": "x"})) == (404, "agent_not_found")
    wrong = sender.http.post(f"/api/agents/{receiver.id}/mail", json={"content": "x", "contents": "y"})
    assert code_of(wrong) == (400, "bad_request")
    assert "contents" in wrong.json()["detail"]
