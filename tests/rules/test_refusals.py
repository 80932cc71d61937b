"""Each refusal of the rules of access, agents, threads, channels and nodes, by its code and over REST."""

from collections.abc import Iterator
from typing import Any

import pytest

from greenroom.testing.hub_process import HubProcess
from tests.doors.rest.refusals import Case, assert_refused, describe_case
from tests.doors.rest.rest_rig import Rest, code_of

CASES = [
    Case("bad_room", 400, "POST", "/api/credentials", {"kind": "room", "name": "x"}),
    Case("bad_room", 400, "POST", "/api/credentials", {"kind": "viewer", "name": "x", "room": "lobby"}),
    Case("description_too_long", 413, "POST", "/api/agents/register", {"ide": "A", "model": "M", "emoji": "x" * 17}),
    Case(
        "description_too_long",
        413,
        "POST",
        "/api/agents/register",
        {"ide": "A", "model": "M", "capabilities": ["x"] * 51},
    ),
    Case("bad_template", 400, "POST", "/api/templates", {"id": "a b", "name": "x"}),
    Case("bad_template", 400, "POST", "/api/templates", {"id": "nameless", "name": " "}),
    Case("thread_archived", 409, "POST", "/api/threads/{archived}/state", {"state": "review"}),
    Case("thread_archived", 409, "POST", "/api/threads/{archived}/close", {}),
    Case("channel_not_found", 404, "DELETE", "/api/notify/channels/chn_none"),
    Case("channel_not_found", 404, "PUT", "/api/notify/channels/chn_none", {}),
    Case("bad_channel", 400, "POST", "/api/notify/channels", {"kind": "webhook", "name": " ", "url": "{address}"}),
    *[
        Case(
            "bad_rules",
            400,
            "POST",
            "/api/notify/channels",
            {"kind": "webhook", "name": "x", "url": "{address}", "rules": wrong},
        )
        for wrong in ({"zone": "Mars/Base"}, {"kinds": ["song"]}, {"risks": ["huge"]}, {"quiet": "at night"})
    ],
    Case("node_exists", 409, "POST", "/api/nodes", {"name": "north"}),
    Case("receiver_not_found", 404, "GET", "/api/input/receivers/rcv_none"),
    Case("receiver_not_found", 404, "POST", "/api/input", {"text": "x", "receiver": "rcv_none"}),
]


@pytest.fixture(scope="module")
def rest(shared_hub: HubProcess) -> Iterator[Rest]:
    with Rest(shared_hub) as rest:
        yield rest


@pytest.fixture(scope="module")
def known(rest: Rest) -> dict[str, str]:
    """What the requests name."""
    archived = rest.thread()
    rest.operator.post(f"/api/threads/{archived}/archive", json={}).raise_for_status()
    rest.operator.post("/api/nodes", json={"name": "north"}).raise_for_status()
    return {"archived": archived, "address": "https://example.invalid/hook"}


@pytest.mark.parametrize("case", CASES, ids=describe_case)
def test_a_wrong_request_is_refused_by_its_code(rest: Rest, known: dict[str, str], case: Case) -> None:
    assert_refused(rest.operator, known, case)


def test_nobody_gives_rights_that_they_do_not_have(rest: Rest) -> None:
    narrow = rest.bearer(kind="operator", rights=["read", "operate"])
    wide = narrow.post("/api/credentials", json={"kind": "operator", "name": "wide"})
    assert code_of(wide) == (403, "too_wide")


def test_metadata_that_is_too_deep_is_refused(rest: Rest) -> None:
    deep: dict[str, Any] = {}
    for _ in range(40):
        deep = {"in": deep}
    body = {"author": "human", "content": "x", "metadata": deep}
    answer = rest.operator.post(f"/api/threads/{rest.thread()}/messages", json=body)
    assert code_of(answer) == (400, "metadata_too_deep")


def test_a_message_takes_a_bounded_number_of_reactions(rest: Rest) -> None:
    agent = rest.agent()
    thread_id = rest.thread(agent)
    made = rest.operator.post(f"/api/threads/{thread_id}/messages", json={"author": "human", "content": "x"}).json()
    path = f"/api/messages/{made['id']}/reactions"
    for number in range(1000):
        agent.http.post(path, json={"agent_id": agent.id, "reaction": f"r{number}"}).raise_for_status()
    assert code_of(agent.http.post(path, json={"agent_id": agent.id, "reaction": "more"})) == (
        429,
        "too_many_reactions",
    )


def test_a_person_has_a_bounded_number_of_channels(rest: Rest) -> None:
    body = {"kind": "webhook", "name": "x", "url": "https://example.invalid/hook"}
    for _ in range(50):
        assert rest.operator.post("/api/notify/channels", json=body).status_code == 201
    assert code_of(rest.operator.post("/api/notify/channels", json=body)) == (429, "too_many_channels")


def test_a_person_has_a_bounded_number_of_devices_that_type(rest: Rest) -> None:
    for _ in range(100):
        assert rest.operator.post("/api/input/receivers", json={}).status_code == 201
    assert code_of(rest.operator.post("/api/input/receivers", json={})) == (429, "too_many_receivers")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/input", {"text": "x", "code": "guess"}),
        ("/api/notify/act", {"ticket": "guess", "verdict": "approve"}),
    ],
)
def test_who_guesses_codes_and_tickets_is_slowed_down(rest: Rest, path: str, body: dict[str, str]) -> None:
    answers = [rest.operator.post(path, json=body) for _ in range(60)]
    assert code_of(answers[-1]) == (429, "too_many_failures")
