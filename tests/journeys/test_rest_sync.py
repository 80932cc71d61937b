"""The sync rules and waiting, over REST."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from greenroom.testing.hub_process import HubProcess, wait_until
from greenroom.testing.timeouts import LONG_MS, WAIT_S
from tests.conftest import checked
from tests.doors.rest.rest_rig import RW, Agent, Rest, code_of


@pytest.fixture
def rest(shared_hub: HubProcess) -> Iterator[Rest]:
    with Rest(shared_hub) as rest:
        yield rest


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(16) as pool:
        yield pool


def test_a_post_on_an_old_seq_is_refused_with_what_is_new(rest: Rest) -> None:
    agent = rest.agent()
    thread = rest.thread(agent)
    first = agent.post(thread, "one").json()
    rest.operator.post(f"/api/threads/{thread}/messages", json={"author": "human", "content": "two"})
    seq, token = agent.context(thread)
    refused = agent.post(thread, "z", expected_last_seq=first["seq"], reply_token=token)
    assert refused.status_code == 409
    detail = refused.json()["detail"]
    assert {k: detail[k] for k in ("error", "expected_last_seq", "current_seq", "action")} == {
        "error": "SEQ_MISMATCH",
        "expected_last_seq": first["seq"],
        "current_seq": seq,
        "action": "RE_READ_AND_RETRY",
    }
    (new,) = detail["new_messages"]
    assert (new["seq"], new["author"], new["author_id"], new["content"]) == (seq, "human", None, "two")
    assert new["msg_id"].startswith("msg_") and "id" not in new


def test_a_token_is_good_once_for_its_agent_and_thread(rest: Rest) -> None:
    agent, other = rest.agent(), rest.agent()
    thread = rest.thread(agent)
    seq, token = agent.context(thread)
    posted = agent.post(thread, "good", expected_last_seq=seq, reply_token=token)
    assert posted.status_code == 201
    now = posted.json()["seq"]

    def detail(author: Agent, expected: int | None, reply_token: str | None) -> dict[str, Any]:
        fields = {"expected_last_seq": expected, "reply_token": reply_token}
        answer = author.post(thread, "z", **{k: v for k, v in fields.items() if v is not None})
        assert answer.status_code == 400, answer.text
        said: dict[str, Any] = answer.json()["detail"]
        assert said["action"] == "CALL_SYNC_CONTEXT_THEN_RETRY"
        assert answer.json()["code"] == said["error"]
        return said

    assert detail(agent, now, token)["error"] == "TOKEN_REPLAY"
    assert detail(agent, now, "zz")["error"] == "TOKEN_INVALID"
    assert detail(other, now, agent.context(thread)[1])["error"] == "TOKEN_INVALID"
    assert detail(agent, now, None)["missing_fields"] == ["reply_token"]
    assert detail(agent, None, agent.context(thread)[1])["missing_fields"] == ["expected_last_seq"]
    assert detail(agent, now, "")["error"] == "MISSING_SYNC_FIELDS"


def test_a_persons_token_is_good_once_too(rest: Rest) -> None:
    path = f"/api/threads/{rest.thread()}"
    context = rest.operator.post(f"{path}/sync-context").json()
    assert set(context) == {"current_seq", "reply_token", "reply_window"}
    body = {"author": "human", "content": "x", "reply_token": context["reply_token"]}
    posted = rest.operator.post(f"{path}/messages", json={**body, "expected_last_seq": context["current_seq"]})
    assert posted.status_code == 201
    again = rest.operator.post(f"{path}/messages", json={**body, "expected_last_seq": posted.json()["seq"]})
    assert again.json()["detail"]["error"] == "TOKEN_REPLAY"


def test_a_refused_post_changes_nothing_but_the_authors_tokens(rest: Rest) -> None:
    agent = rest.agent()
    thread = rest.thread(agent)
    _, held = agent.context(thread)
    agent.post(thread, "z", expected_last_seq=0, reply_token="zz")
    assert agent.http.get(f"/api/threads/{thread}/messages").json() == []
    refused = agent.post(thread, "z", expected_last_seq=0, reply_token=held)
    assert refused.json()["detail"]["error"] == "TOKEN_REPLAY"
    seq, fresh = agent.context(thread)
    assert agent.post(thread, "z", expected_last_seq=seq, reply_token=fresh).status_code == 201


def wait(client: httpx.Client, thread: str, **query: Any) -> dict[str, Any]:
    answer = client.get(f"/api/threads/{thread}/wait", params={"timeout_ms": LONG_MS, **query})
    assert answer.status_code == 200, answer.text
    said: dict[str, Any] = answer.json()
    assert said["reply_window"] == RW
    return said


def until(check: Callable[[], Any]) -> Any:
    """What the check says once it says something, within a bounded time."""
    found: list[Any] = []
    wait_until(lambda: found.append(check()) or found[-1])
    return found[-1]


def waiting_in(rest: Rest, thread: str) -> list[dict[str, Any]]:
    state = rest.operator.get(f"/api/threads/{thread}/wait-state").json()
    assert state["count"] == len(state["agents_waiting"])
    found: list[dict[str, Any]] = state["agents_waiting"]
    return found


def test_a_wait_ends_with_the_message_that_it_waited_for(rest: Rest, pool: ThreadPoolExecutor) -> None:
    agent, other = rest.agent(), rest.agent()
    thread = rest.thread(agent)
    waited: Future[dict[str, Any]] = pool.submit(wait, agent.http, thread, after_seq=0)
    (entry,) = until(lambda: waiting_in(rest, thread))
    assert (entry["agent_id"], entry["timeout_ms"]) == (agent.id, LONG_MS)
    assert entry["entered_at"] and entry["wait_call_id"]
    listed = rest.operator.get(f"/api/threads/{thread}").json()
    assert listed["waiting_agents"] == [{"id": agent.id, "display_name": agent.name, "emoji": "🤖"}]
    posted = other.post(thread, "wake up").json()
    said = waited.result(WAIT_S)
    assert [(m["id"], m["content"]) for m in said["messages"]] == [(posted["id"], "wake up")]
    assert said["current_seq"] == posted["seq"]
    answer = agent.post(thread, "I am", expected_last_seq=said["current_seq"], reply_token=said["reply_token"])
    assert answer.status_code == 201
    assert until(lambda: not waiting_in(rest, thread))


def test_a_wait_without_a_seq_goes_on_where_the_agent_was(rest: Rest) -> None:
    agent, other = rest.agent(), rest.agent()
    thread = rest.thread(agent)
    contents = [other.post(thread, f"m{n}").json()["content"] for n in range(5)]
    heard: list[str] = []
    for _ in range(3):
        heard += [m["content"] for m in wait(agent.http, thread, limit=2)["messages"]]
    assert heard == contents
    assert wait(agent.http, thread, timeout_ms=10)["messages"] == []


def test_a_wait_for_an_agent_hears_only_what_is_handed_to_it(rest: Rest) -> None:
    agent, other = rest.agent(), rest.agent()
    thread = rest.thread(agent)
    other.post(thread, "to all")
    handed = other.post(thread, "to you", metadata={"handoff_target": agent.id}).json()
    said = wait(agent.http, thread, after_seq=0, for_agent=agent.id)
    assert [m["id"] for m in said["messages"]] == [handed["id"]]


def test_an_agent_waits_for_its_first_mail(rest: Rest, pool: ThreadPoolExecutor) -> None:
    agent, other = rest.agent(), rest.agent()
    mailbox = f"mbx_{agent.id}"
    assert other.http.get(f"/api/threads/{mailbox}/wait").status_code == 404
    waited: Future[dict[str, Any]] = pool.submit(wait, agent.http, mailbox)
    until(lambda: agent.http.get(f"/api/threads/{mailbox}/wait-state").json().get("count"))
    other.http.post(f"/api/agents/{agent.id}/mail", json={"content": "for you"})
    assert [m["content"] for m in waited.result(WAIT_S)["messages"]] == ["for you"]


def test_a_caller_that_goes_away_waits_no_more(rest: Rest) -> None:
    agent = rest.agent()
    thread = rest.thread(agent)
    with pytest.raises(httpx.ReadTimeout):
        agent.http.get(f"/api/threads/{thread}/wait", params={"after_seq": 0}, timeout=httpx.Timeout(WAIT_S, read=0.2))
    assert until(lambda: not waiting_in(rest, thread))


def test_an_agent_has_a_bounded_number_of_waits(rest: Rest, pool: ThreadPoolExecutor) -> None:
    agent, thread = rest.agent(), rest.thread()
    held = [pool.submit(wait, agent.http, thread, after_seq=0) for _ in range(16)]
    until(lambda: rest.operator.get(f"/api/threads/{thread}/wait-state").json().get("count") == 16)
    refused = agent.http.get(f"/api/threads/{thread}/wait", params={"after_seq": 0})
    assert code_of(refused) == (429, "too_many_waits")
    rest.operator.post(f"/api/threads/{thread}/messages", json={"author": "human", "content": "x"}).raise_for_status()
    assert all(one.result(WAIT_S)["messages"] for one in held)


def test_a_wait_ends_with_its_credential(rest: Rest, pool: ThreadPoolExecutor) -> None:
    agent = rest.agent()
    thread = rest.thread()
    waited = pool.submit(agent.http.get, f"/api/threads/{thread}/wait", params={"after_seq": 0, "timeout_ms": LONG_MS})
    until(lambda: waiting_in(rest, thread))
    kicked = rest.operator.post(f"/api/agents/{agent.id}/kick").json()
    assert kicked["threads_interrupted"] == [thread]
    assert waited.result(WAIT_S).status_code == 401


@pytest.mark.parametrize("query", [{"after_seq": -1}, {"timeout_ms": -1}, {"timeout_ms": 10**18}, {"limit": 0}])
def test_a_wait_for_nonsense_is_refused(rest: Rest, query: dict[str, int]) -> None:
    assert code_of(rest.operator.get(f"/api/threads/{rest.thread()}/wait", params=query)) == (400, "bad_request")


def test_who_posts_too_much_is_told_when_to_go_on(tmp_path: Path) -> None:
    hub = HubProcess(tmp_path / "data", {"GREENROOM_POSTS_PER_MINUTE": "2"})
    for running in checked(hub):
        with Rest(running) as rest:
            agent = rest.agent()
            thread = rest.thread(agent)
            answers = [agent.post(thread, f"m{n}") for n in range(4)]
            limited = answers[-1]
            assert limited.status_code == 429
            said = limited.json()
            assert (said["error"], said["limit"], said["window"]) == ("Rate limit exceeded", 2, 60)
            assert int(limited.headers["retry-after"]) == said["retry_after"] > 0
            assert len(agent.http.get(f"/api/threads/{thread}/messages").json()) == sum(
                answer.status_code == 201 for answer in answers
            )
