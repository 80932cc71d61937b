"""Requests that are sent again with the same Idempotency-Key."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from greenroom.testing.hub_process import HubProcess
from tests.doors.rest.rest_rig import Rest, code_of, new_topic


@pytest.fixture
def rest(shared_hub: HubProcess) -> Iterator[Rest]:
    with Rest(shared_hub) as rest:
        yield rest


def keyed(key: str) -> dict[str, str]:
    return {"Idempotency-Key": key}


def test_a_message_sent_again_is_there_once_and_its_answer_is_the_first(rest: Rest) -> None:
    agent = rest.agent()
    thread = rest.thread(agent)
    path, body = f"/api/threads/{thread}/messages", {"author": agent.id, "content": "once"}
    with ThreadPoolExecutor(5) as pool:
        answers = list(pool.map(lambda _: agent.http.post(path, json=body, headers=keyed("k1")), range(5)))
    assert [answer.status_code for answer in answers] == [201] * 5
    assert len({answer.content for answer in answers}) == 1
    assert len(agent.http.get(path).json()) == 1
    other = agent.http.post(path, json={**body, "content": "other"}, headers=keyed("k1"))
    assert code_of(other) == (409, "key_reused")
    assert rest.agent().http.post(path, json={"content": "mine"}, headers=keyed("k1")).status_code == 201


def test_a_strict_message_sent_again_does_not_count_as_a_replay(rest: Rest) -> None:
    agent = rest.agent()
    thread = rest.thread(agent)
    seq, token = agent.context(thread)
    body = {"author": agent.id, "content": "once", "expected_last_seq": seq, "reply_token": token}
    path = f"/api/threads/{thread}/messages"
    answers = [agent.http.post(path, json=body, headers=keyed("strict")) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].json() == answers[1].json()


def test_a_repeat_after_a_crash_is_still_known(hub: HubProcess) -> None:
    with Rest(hub) as rest:
        agent = rest.agent()
        thread = rest.thread(agent)
        path, body = f"/api/threads/{thread}/messages", {"author": agent.id, "content": "once"}
        first = agent.http.post(path, json=body, headers=keyed("k"))
        hub.kill()
        hub.restart()
        with httpx.Client(base_url=hub.url, headers={"X-Agent-Token": agent.token}) as again:
            assert again.post(path, json=body, headers=keyed("k")).json() == first.json()
            assert len(again.get(path).json()) == 1


def test_what_else_is_made_is_made_once(rest: Rest) -> None:
    def twice(
        path: str, body: dict[str, object], other: dict[str, object]
    ) -> tuple[dict[str, object], dict[str, object]]:
        key = keyed(path)
        first, second = (rest.operator.post(path, json=body, headers=key) for _ in range(2))
        assert first.status_code == second.status_code < 300, second.text
        assert code_of(rest.operator.post(path, json={**body, **other}, headers=key)) == (409, "key_reused")
        return first.json(), second.json()

    first, second = twice("/api/threads", {"topic": new_topic()}, {"topic": new_topic()})
    assert first == second
    first, second = twice("/api/templates", {"id": "rep", "name": "R", "system_prompt": "s"}, {"id": "rep2"})
    assert first == second
    first, second = twice("/api/agents/register", {"ide": "Once", "model": "M"}, {"ide": "Twice"})
    assert first["token"] and second == {**first, "token": None}
    first, second = twice("/api/credentials", {"kind": "viewer", "name": "v"}, {"name": "w"})
    assert first["token"] and second == {**first, "token": None}
    agent = rest.agent()
    first, second = twice(f"/api/agents/{agent.id}/mail", {"content": "m"}, {"content": "n"})
    assert first == second


def test_a_key_is_for_one_kind_of_request(rest: Rest) -> None:
    assert rest.operator.post("/api/threads", json={"topic": new_topic()}, headers=keyed("kind")).status_code == 201
    body = {"id": "kind", "name": "K", "system_prompt": "s"}
    assert code_of(rest.operator.post("/api/templates", json=body, headers=keyed("kind"))) == (409, "key_reused")


@pytest.mark.parametrize("key", ["", "x" * 201, "a b"])
def test_a_key_that_is_none_is_refused(rest: Rest, key: str) -> None:
    answer = rest.operator.post("/api/threads", json={"topic": new_topic()}, headers=keyed(key))
    assert code_of(answer) == (400, "bad_request")
