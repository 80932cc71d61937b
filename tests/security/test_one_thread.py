"""A viewer of one thread: over every route, view, tool and socket it sees that thread, and nothing of any other."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from greenroom.doors.mcp.tools import TOOLS
from greenroom.doors.sync.views import VIEWS
from greenroom.testing.timeouts import WAIT_S
from tests.conftest import staged
from tests.pictures import png
from tests.security.matrix_rest import MATRIX
from tests.security.rig import Mcp
from tests.stage import Stage

MARK = "zqhiddenqz"
"""A word in everything that belongs to another thread, or to none."""
OWN = "zqownqz"
_FLOW = {
    "inputs": {"what": {"type": "string", "required": True}},
    "steps": [{"id": "a", "agent": "rehearsal", "prompt": "SAY {{ inputs.what }}"}],
}


@dataclass
class Thread:
    """A thread with one of everything that can belong to it, by the name of the parameter that takes its id."""

    word: str
    ids: dict[str, str] = field(default_factory=dict)
    run_ids: dict[str, str] = field(default_factory=dict)
    """Ids that are called `run_id` too, by the word in the path."""

    def fill(self, path: str) -> str:
        runs = self.run_ids["workflow" if "workflow" in path else "agent"]
        known = {**self.ids, "run_id": runs, "name": f"{self.word}-flow" if "workflow" in path else self.word}
        return path.format(**{name: known.get(name, self.word) for name in re.findall(r"{(\w+)}", path)})


@dataclass
class Place:
    stage: Stage
    own: Thread
    hidden: Thread
    guest: httpx.Client
    token: str

    def leaks(self, text: str) -> bool:
        ids = [*self.hidden.ids.values(), *self.hidden.run_ids.values()]
        return MARK in text or any(one in text for one in ids)

    def socket(self, path: str) -> ClientConnection:
        headers = {"Authorization": f"Bearer {self.token}"}
        return connect(self.stage.hub.url.replace("http", "ws", 1) + path, additional_headers=headers)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    for stage in staged(tmp_path_factory.mktemp("one-thread")):
        own, hidden = _furnish(stage, OWN), _furnish(stage, MARK)
        asked = {"kind": "viewer", "name": "guest", "threads": [own.ids["thread_id"]]}
        token = stage.api.post("/api/credentials", json=asked).json()["token"]
        headers = {"Authorization": f"Bearer {token}"}
        with httpx.Client(base_url=stage.hub.url, headers=headers, timeout=WAIT_S) as guest:
            yield Place(stage, own, hidden, guest, token)
        stage.tidy()


def _furnish(stage: Stage, word: str) -> Thread:
    api, thread = stage.api, Thread(word)
    topic = {"topic": f"{word} topic", "system_prompt": word}
    thread.ids["thread_id"] = api.post("/api/threads", json=topic).json()["id"]
    image = api.post("/api/upload/image", files={"file": (f"{word}.png", png(), "image/png")}).json()
    thread.ids["upload_id"] = image["id"]
    said = {"content": f"{word} said", "images": [{"url": image["url"]}]}
    posted = api.post(f"/api/threads/{thread.ids['thread_id']}/messages", json=said)
    assert posted.status_code == 201, posted.text
    thread.ids["message_id"] = posted.json()["id"]
    stage.profile(word, description=word)
    api.post("/api/templates", json={"id": word, "name": word, "system_prompt": word})
    run = stage.done(f"SAY {word}", profile=word, thread_id=thread.ids["thread_id"], keep_as=f"{word}-kept")
    thread.ids["agent_id"] = run["agent_id"]
    thread.run_ids["agent"] = run["id"]
    definition = {"name": f"{word}-flow", "description": word, **_FLOW}
    asked = {"definition": definition, "inputs": {"what": word}, "thread_id": thread.ids["thread_id"]}
    flow = api.post("/api/workflow-runs", json=asked)
    assert flow.status_code == 201, flow.text
    thread.run_ids["workflow"] = flow.json()["id"]
    ended = api.get(f"/api/workflow-runs/{flow.json()['id']}/wait", params={"for_s": WAIT_S}).json()
    assert ended["status"] == "completed", ended
    return thread


_QUERIES: dict[str, dict[str, str]] = {
    "/api/search": {"q": "said"},
    "/api/metrics/messages": {"since": "0"},
    "/api/agents": {"all": "true"},
    "/api/threads": {"include_archived": "true"},
}
_WAITS = ("/api/threads/{thread_id}/wait", "/events")
_READS = [path for method, path in MATRIX if method == "GET" and path not in _WAITS]


@pytest.mark.parametrize("path", _READS)
def test_no_route_tells_of_another_thread(place: Place, path: str) -> None:
    answer = place.guest.get(place.hidden.fill(path), params=_QUERIES.get(path), follow_redirects=False)
    told = answer.text.replace(place.hidden.fill(path), "") if answer.status_code >= 400 else answer.text
    for own_word in (*place.hidden.ids.values(), *place.hidden.run_ids.values(), MARK):
        if answer.status_code >= 400:  # it is named in a refusal, in its words and its parameters
            told = told.replace(f"'{own_word}", "'").replace(f'"{own_word}', '"')
    assert not place.leaks(told), told
    if "{" in path and answer.status_code < 300:
        assert path in ("/api/policy/asked/{ask_id}", "/n/{ticket}"), (path, answer.text)


@pytest.mark.parametrize(("method", "path"), [one for one in MATRIX if "{" in one[1]])
def test_what_is_hidden_is_refused_in_the_words_for_what_is_not_there(place: Place, method: str, path: str) -> None:
    hidden = place.hidden
    missing = Thread("zqnothingqz", _never_given(hidden.ids), _never_given(hidden.run_ids))
    told = []
    for thread in (hidden, missing):
        answer = place.guest.request(method, thread.fill(path), json={} if method in ("POST", "PUT") else None)
        text = answer.text
        for known in (*thread.ids.values(), *thread.run_ids.values(), thread.word):
            text = text.replace(known, "…")
        told.append((answer.status_code, text))
    assert told[0] == told[1]


def _never_given(ids: dict[str, str]) -> dict[str, str]:
    return {name: f"{one[:-6]}zzzzzz" for name, one in ids.items()}


_OWN_READS = [
    "/api/threads/{thread_id}",
    "/api/threads/{thread_id}/messages",
    "/api/threads/{thread_id}/export",
    "/api/messages/{message_id}",
    "/api/agents/{agent_id}",
    "/api/runs/{run_id}",
    "/api/runs/{run_id}/tree",
    "/api/runs/{run_id}/items",
    "/api/workflow-runs/{run_id}",
    "/api/workflow-runs/{run_id}/report",
    "/api/uploads/{upload_id}",
]


@pytest.mark.parametrize("path", _OWN_READS)
def test_what_belongs_to_its_own_thread_is_there(place: Place, path: str) -> None:
    answer = place.guest.get(place.own.fill(path))
    assert answer.status_code == 200, answer.text
    assert not place.leaks(answer.text)


def test_lists_hold_what_belongs_to_its_own_thread(place: Place) -> None:
    assert {run["thread_id"] for run in place.guest.get("/api/runs").json()} == {place.own.ids["thread_id"]}
    flows = place.guest.get("/api/workflow-runs").json()
    assert {flow["thread_id"] for flow in flows} == {place.own.ids["thread_id"]}
    assert place.own.ids["agent_id"] in [agent["id"] for agent in place.guest.get("/api/agents").json()]


@pytest.mark.parametrize("kind", ["run", "agt", "thr", "wfr", "node", "ask", "cred", "grt", "chn"])
def test_no_id_of_another_thread_is_found_by_a_part_of_it(place: Place, kind: str) -> None:
    ids = {"run": place.hidden.run_ids["agent"], "wfr": place.hidden.run_ids["workflow"]}
    ids |= {"agt": place.hidden.ids["agent_id"], "thr": place.hidden.ids["thread_id"]}
    node = place.stage.api.get("/api/nodes").json()[0]
    wanted = ids.get(kind, node["id"])
    for text in (wanted, wanted[:12], wanted[-6:], MARK, node["name"]):
        found = place.guest.get("/api/ids", params={"kinds": kind, "text": text}).json()
        assert wanted not in [one["id"] for one in found["ids"]], found
        assert not place.leaks(json.dumps(found))


def _subscribe(socket: ClientConnection, number: int, view: str, key: str | None) -> dict[str, Any]:
    wish = {"op": "subscribe", "id": number, "view": view, **({} if key is None else {"key": key})}
    socket.send(json.dumps(wish))
    while True:
        frame: dict[str, Any] = json.loads(socket.recv(WAIT_S))
        if frame.get("id") == number:
            return frame


def test_no_view_shows_another_thread_at_first_or_later(place: Place) -> None:
    heard: list[str] = []
    keys = {"thread": "thread_id", "run": "agent", "tree": "agent", "workflow": "workflow"}
    assert set(keys) == {name for name, view in VIEWS.items() if view.keyed}
    with place.socket("/sync") as socket:
        for number, (name, view) in enumerate(VIEWS.items(), 1):
            named = {**place.hidden.ids, **place.hidden.run_ids}
            frame = _subscribe(socket, number, name, named[keys[name]] if view.keyed else None)
            assert frame["op"] == ("error" if view.keyed or view.needs != "read" else "snapshot"), frame
            if frame["op"] == "snapshot":
                heard.append(json.dumps(frame))
        for number, name in enumerate(keys, 100):
            named = {**place.own.ids, **place.own.run_ids}
            assert _subscribe(socket, number, name, named[keys[name]])["op"] == "snapshot"
        _stir(place)
        socket.send(json.dumps({"op": "ping"}))
        while '"pong"' not in (text := str(socket.recv(WAIT_S))):
            heard.append(text)
    assert any(OWN in text for text in heard)
    assert not [text for text in heard if place.leaks(text)]


def _stir(place: Place) -> None:
    """Change something of every kind in the hidden thread, and then in the own."""
    for thread in (place.hidden, place.own):
        api, word = place.stage.api, thread.word
        api.post(f"/api/threads/{thread.ids['thread_id']}/messages", json={"content": f"{word} again"})
        place.stage.profile(word, description=f"{word} changed")
        api.post("/api/templates", json={"id": f"{word}-2", "name": word, "system_prompt": word})
        place.stage.done(f"SAY {word} more", profile=word, thread_id=thread.ids["thread_id"])
        asked = {"workflow": f"{word}-flow", "inputs": {"what": word}, "thread_id": thread.ids["thread_id"]}
        flow = api.post("/api/workflow-runs", json=asked).json()["id"]
        api.get(f"/api/workflow-runs/{flow}/wait", params={"for_s": WAIT_S})
        api.put(f"/api/workflows/{word}-other", json={"definition": {"name": f"{word}-other", **_FLOW}})


def test_the_stream_of_events_tells_of_its_own_thread_only(place: Place) -> None:
    heard = []
    with place.guest.stream("GET", "/events") as stream:
        lines = stream.iter_lines()
        next(lines)
        _stir(place)
        for line in lines:
            heard.append(line)
            if f"{OWN} again" in line:
                break
    assert not [line for line in heard if place.leaks(line)]


def _arguments(schema: dict[str, Any], thread: Thread) -> dict[str, Any]:
    known = {**thread.ids, "query": "said", "template_id": thread.word, "timeout_ms": 0, "wait": False}
    taken = {*schema.get("required", ()), *(known.keys() & schema["properties"].keys())}
    return {name: known.get(name, thread.word) for name in taken}


def test_no_tool_and_no_resource_tells_of_another_thread(place: Place) -> None:
    mcp = Mcp(place.guest)
    offered = mcp.tools()
    assert len(offered) < len(TOOLS)
    for tool in offered:
        for runs in place.hidden.run_ids.values():
            given = _arguments(tool["inputSchema"], place.hidden)
            given |= {"run_id": runs} if "run_id" in given else {}
            told = json.dumps(mcp.call(tool["name"], **given))
            for asked_for in {str(value) for value in given.values() if value != MARK} | {f"'{MARK}'", f'"{MARK}"'}:
                told = told.replace(asked_for, "")  # what was asked for is named in the refusal
            assert not place.leaks(told), (tool["name"], told)
    for uri in ("chat://agents/active", "chat://threads/active", "chat://bus/config"):
        assert not place.leaks(mcp.send("resources/read", {"uri": uri}).text), uri
    for part in ("transcript", "summary", "state"):
        uri = f"chat://threads/{place.hidden.ids['thread_id']}/{part}"
        assert not place.leaks(mcp.send("resources/read", {"uri": uri}).text.replace(uri, "").replace("'thr_", ""))


def test_the_socket_of_run_trees_tells_of_its_own_thread_only(place: Place) -> None:
    heard: list[str] = []
    with place.socket("/ws") as socket:
        socket.send(json.dumps({"type": "agent_status_query"}))
        socket.send(json.dumps({"type": "agent_status_query", "sessionId": place.hidden.ids["thread_id"]}))
        socket.send(json.dumps({"type": "agent_status_query", "agentRunId": place.hidden.run_ids["agent"]}))
        _stir(place)
        while '"workflow_update"' not in (text := str(socket.recv(WAIT_S))) or '"completed"' not in text:
            heard.append(text)
    nothing = {"type": "agent_status", "sessionId": place.hidden.ids["thread_id"], "agentRuns": []}
    assert json.dumps(nothing) in heard
    heard = [text.replace(f"'{place.hidden.run_ids['agent']}'", "") for text in heard if text != json.dumps(nothing)]
    assert any(place.own.run_ids["agent"] in text for text in heard)
    assert not [text for text in heard if place.leaks(text)]


def test_the_terminal_of_an_agent_elsewhere_is_not_there(place: Place) -> None:
    def look(agent_id: str) -> str:
        try:
            with place.socket(f"/api/agents/{agent_id}/attach") as socket:
                return str(socket.recv(WAIT_S))
        except (InvalidStatus, ConnectionClosed) as closed:
            return f"closed: {closed}"

    assert look(place.hidden.ids["agent_id"]).startswith("closed")
    assert "writer" in look(place.own.ids["agent_id"])


def test_the_terminal_closes_once_the_agent_is_called_into_another_thread(place: Place) -> None:
    mine = place.stage.done("SAY here", thread_id=place.own.ids["thread_id"], keep_as="moves")
    with place.socket(f"/api/agents/{mine['agent_id']}/attach") as socket:
        assert "writer" in str(socket.recv(WAIT_S))
        place.stage.done("SAY there", agent="moves", thread_id=place.hidden.ids["thread_id"])
        with pytest.raises(ConnectionClosed) as closed:
            while True:
                assert not place.leaks(str(socket.recv(WAIT_S)))
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 4403


def test_an_agent_of_its_thread_does_not_tell_where_else_it_is_called(place: Place) -> None:
    own = place.own.ids["thread_id"]
    roams = place.stage.done(f"POST {own} here", thread_id=own, keep_as="roams")["agent_id"]
    elsewhere = place.stage.done("SAY there", agent="roams", thread_id=place.hidden.ids["thread_id"])["id"]
    heard: list[str] = []
    with place.socket("/sync") as socket:
        heard.append(json.dumps(_subscribe(socket, 1, "agents", None)))
        again = place.stage.done("SAY there", agent="roams", thread_id=place.hidden.ids["thread_id"])["id"]
        socket.send(json.dumps({"op": "ping"}))
        while '"pong"' not in (text := str(socket.recv(WAIT_S))):
            heard.append(text)
    assert len([text for text in heard if roams in text]) > 1
    assert not [text for text in heard if place.leaks(text) or elsewhere in text or again in text]


def test_a_run_that_was_started_from_another_thread_does_not_tell_of_what_started_it(place: Place) -> None:
    hidden, own = place.hidden.ids["thread_id"], place.own.ids["thread_id"]
    above = place.stage.start("SLEEP 60", profile=MARK, thread_id=hidden)
    place.stage.until(lambda: place.stage.run(above)["status"] == "running", "the run above")
    heard: list[str] = []
    with place.socket("/sync") as socket, place.socket("/ws") as tree_socket:
        heard.append(json.dumps(_subscribe(socket, 1, "runs", None)))
        below = place.stage.done(f"SAY {OWN} below", parent_id=above, thread_id=own)["id"]
        heard.append(json.dumps(_subscribe(socket, 2, "run", below)))
        heard.append(json.dumps(_subscribe(socket, 3, "runs", None)))
        for path in ("", "/tree", "/wait", "/items"):
            heard.append(place.guest.get(f"/api/runs/{below}{path}").text)
        heard.append(place.guest.get("/api/runs").text)
        socket.send(json.dumps({"op": "ping"}))
        while '"pong"' not in (text := str(socket.recv(WAIT_S))):
            heard.append(text)
        tree_socket.send(json.dumps({"type": "agent_status_query", "agentRunId": below}))
        while '"agent_status"' not in (text := str(tree_socket.recv(WAIT_S))):
            heard.append(text)
        heard.append(text)
    place.stage.api.post(f"/api/runs/{above}/cancel", json={})
    assert place.guest.get(f"/api/runs/{below}/tree").json()["tree"]["runs"] == 1
    assert any(below in text for text in heard)
    assert not [text for text in heard if above in text or place.leaks(text)]


def test_the_ids_of_the_templates_of_others_cannot_be_guessed(place: Place) -> None:
    asked = {"kind": "agent", "name": "confined", "threads": [place.own.ids["thread_id"]]}
    token = place.stage.api.post("/api/credentials", json=asked).json()["token"]
    told = []
    for template_id in (MARK, "zqnothingqz"):
        template = {"id": template_id, "name": "mine", "system_prompt": "mine"}
        headers = {"Authorization": f"Bearer {token}"}
        answer = place.guest.post("/api/templates", json=template, headers=headers)
        told.append((answer.status_code, answer.json()["code"]))
    assert told == [(403, told[0][1])] * 2
