"""What one principal can do with what belongs to another: AU-08 to AU-11, PR-11."""

import json
from typing import Any

import httpx
import pytest

from tests.security.conftest import House
from tests.security.rig import Mcp

NOWHERE = {"thread": "thr_01nothing", "message": "msg_01nothing", "agent": "agt_01nothing"}


def test_a_session_of_mcp_is_not_there_for_another_principal(house: House) -> None:
    """AU-08"""
    with house.client("ada") as ada, house.client("bob") as bob:
        hers, his = Mcp(ada), Mcp(bob)
        stolen = {**his.headers(), "mcp-session-id": hers.session}
        stream = ada.stream("GET", "/mcp", headers=hers.headers(accept="text/event-stream"))
        with stream as opened:
            assert opened.status_code == 200
            call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
            assert bob.post("/mcp", json=call, headers=stolen).status_code == 404
            assert bob.get("/mcp", headers={**stolen, "accept": "text/event-stream"}).status_code == 404
            assert bob.delete("/mcp", headers=stolen).status_code == 404
            assert not opened.is_closed
            assert len(hers.tools()) > 10
        assert bob.delete("/mcp", headers=his.headers()).status_code == 200
        assert hers.send("tools/list").status_code == 200


def test_a_stream_of_legacy_sse_is_not_there_for_another_principal(house: House) -> None:
    """AU-08"""
    with house.client("ada") as ada, ada.stream("GET", "/sse", headers={"accept": "text/event-stream"}) as stream:
        lines = stream.iter_lines()
        endpoint = next(line[6:] for line in lines if line.startswith("data: "))
        message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        assert house.call("bob", "POST", endpoint, json=message).status_code == 404
        assert house.call(None, "POST", endpoint, json=message).status_code == 401
        assert house.call("ada", "POST", endpoint, json=message).status_code == 202
        assert json.loads(next(line[6:] for line in lines if line.startswith("data: ")))["id"] == 1


REST_HANDLES = [
    ("GET", "/api/threads/{thread}", None),
    ("GET", "/api/threads/{thread}/messages", None),
    ("GET", "/api/threads/{thread}/wait?timeout_ms=0", None),
    ("GET", "/api/threads/{thread}/wait-state", None),
    ("GET", "/api/threads/{thread}/export", None),
    ("GET", "/api/threads/{thread}/settings", None),
    ("GET", "/api/threads/{thread}/admin", None),
    ("GET", "/api/threads/{thread}/agents", None),
    ("POST", "/api/threads/{thread}/sync-context", {}),
    ("POST", "/api/threads/{thread}/join", {}),
    ("POST", "/api/threads/{thread}/state", {"state": "done"}),
    ("POST", "/api/threads/{thread}/close", {}),
    ("POST", "/api/threads/{thread}/archive", {}),
    ("POST", "/api/threads/{thread}/unarchive", {}),
    ("POST", "/api/threads/{thread}/settings", {"timeout_seconds": 99}),
    ("POST", "/api/threads/{thread}/admin/decision", {"action": "takeover"}),
    ("DELETE", "/api/threads/{thread}", None),
    ("GET", "/api/search?q=said&thread_id={thread}", None),
    ("GET", "/api/messages/{message}", None),
    ("GET", "/api/messages/{message}/history", None),
    ("GET", "/api/messages/{message}/receipts", None),
    ("GET", "/api/messages/{message}/reactions", None),
    ("PUT", "/api/messages/{message}", {"content": "changed", "edited_by": "me"}),
    ("POST", "/api/messages/{message}/reactions", {"reaction": "x", "agent_id": "{me}"}),
    ("DELETE", "/api/messages/{message}/reactions/x?agent_id={me}", None),
]


@pytest.mark.parametrize(("who", "room"), [("confined", "closed_room"), ("bob", "mailbox")])
@pytest.mark.parametrize(("method", "path", "body"), REST_HANDLES)
def test_what_is_not_yours_looks_like_what_is_not_there(
    house: House, method: str, path: str, body: Any, who: str, room: str
) -> None:
    """AU-09"""
    mine = {"me": house.agents[who]}
    foreign = {"thread": house.threads[room], "message": house.messages[room], **mine}
    answers = []
    for handles in (foreign, {**NOWHERE, **mine}):
        request = {} if body is None else {"json": json.loads(json.dumps(body).replace("{me}", mine["me"]))}
        answer = house.call(who, method, path.format(**handles), **request)
        text = answer.text
        for value in handles.values():
            text = text.replace(value, "<id>")
        answers.append((answer.status_code, text))
    assert answers[0] == answers[1]
    assert answers[0][0] in (400, 403, 404) or '"removed":false' in answers[0][1]
    assert_untouched(house, room)


MCP_HANDLES: list[tuple[str, dict[str, Any]]] = [
    ("thread_get", {"thread_id": "{thread}"}),
    ("thread_delete", {"thread_id": "{thread}", "confirm": True}),
    ("thread_close", {"thread_id": "{thread}"}),
    ("thread_archive", {"thread_id": "{thread}"}),
    ("thread_set_state", {"thread_id": "{thread}", "state": "done"}),
    ("thread_settings_get", {"thread_id": "{thread}"}),
    ("thread_settings_update", {"thread_id": "{thread}", "timeout_seconds": 99}),
    ("thread_wait_state_get", {"thread_id": "{thread}"}),
    ("close_meeting", {"thread_id": "{thread}"}),
    ("msg_list", {"thread_id": "{thread}", "return_format": "json"}),
    ("msg_wait", {"thread_id": "{thread}", "timeout_ms": 0}),
    ("msg_get", {"message_id": "{message}"}),
    ("msg_edit", {"message_id": "{message}", "new_content": "changed"}),
    ("msg_edit_history", {"message_id": "{message}"}),
    ("msg_react", {"message_id": "{message}", "reaction": "x"}),
    ("msg_unreact", {"message_id": "{message}", "reaction": "x"}),
    ("msg_receipts", {"message_id": "{message}"}),
    ("msg_search", {"query": "said", "thread_id": "{thread}"}),
    ("agent_set_typing", {"thread_id": "{thread}", "is_typing": True}),
]


@pytest.mark.parametrize(("who", "room"), [("confined", "closed_room"), ("bob", "mailbox")])
def test_over_mcp_what_is_not_yours_looks_like_what_is_not_there(house: House, who: str, room: str) -> None:
    """AU-09"""
    foreign = {"thread": house.threads[room], "message": house.messages[room]}
    with house.client(who) as client:
        mcp = Mcp(client)
        for tool, arguments in MCP_HANDLES:
            answers = []
            for handles in (foreign, NOWHERE):
                filled = json.loads(json.dumps(arguments).replace("{thread}", handles["thread"]))
                filled = json.loads(json.dumps(filled).replace("{message}", handles["message"]))
                said = json.dumps(mcp.call(tool, **filled))
                for value in handles.values():
                    said = said.replace(value, "<id>")
                answers.append(said)
            assert answers[0] == answers[1], tool
            assert "error" in answers[0] or '"found": false' in answers[0], tool
        for address in ("transcript", "summary", "state"):
            answers = []
            for thread in (foreign["thread"], NOWHERE["thread"]):
                read = mcp.send("resources/read", {"uri": f"chat://threads/{thread}/{address}"})
                answers.append((read.status_code, read.text.replace(thread, "<id>").partition('"error"')[2]))
            assert answers[0] == answers[1]
            assert answers[0][1]
    assert_untouched(house, room)


def assert_untouched(house: House, room: str) -> None:
    """The thread and its one message are as they were."""
    thread = house.call("operator", "GET", f"/api/threads/{house.threads[room]}").json()
    assert thread["status"] == "discuss"
    message = house.call("operator", "GET", f"/api/messages/{house.messages[room]}").json()
    assert message["content"].startswith(("said in", "for ada"))
    assert not message.get("reactions")


def test_lists_and_searches_show_only_what_is_ones_own(house: House) -> None:
    """AU-09"""
    with house.client("confined") as client:
        assert {t["id"] for t in client.get("/api/threads").json()["threads"]} == {house.threads["open"]}
        assert house.messages["closed_room"] not in client.get("/api/search?q=said").text
        assert house.messages["open"] in client.get("/api/search?q=said").text
        mcp = Mcp(client)
        assert house.threads["closed_room"] not in json.dumps(mcp.call("thread_list"))
        assert house.messages["closed_room"] not in json.dumps(mcp.call("msg_search", query="said"))
        shown = mcp.send("resources/read", {"uri": "chat://threads/active"}).text
        assert house.threads["closed_room"] not in shown
    for who in ("bob", "viewer", "enroller"):
        assert house.messages["mailbox"] not in house.call(who, "GET", "/api/search?q=ada").text
        assert house.threads["mailbox"] not in house.call(who, "GET", "/api/threads").text


RESERVED = [
    "operator",
    "system",
    "hub",
    "Greenroom",
    "human",
    "\u043eperator",
    "oper\u0430tor",
    "\u0455\u0443stem",
    "o\u200bperator",
    "operator\u200d",
    " operator ",
    "OPERATOR",
    "\uff4f\uff50\uff45\uff52\uff41\uff54\uff4f\uff52",
    "op\u0435r\u0430tor",
    "sys\u0301tem",
    "\u202eoperator",
    "a\nb",
    "\x1b[31mred",
    "",
    "   ",
    "x" * 65,
    "\u2028",
]


@pytest.mark.parametrize("name", RESERVED)
def test_a_name_that_could_be_taken_for_somebody_else_is_refused(house: House, name: str) -> None:
    """AU-10"""
    for fields in ({"ide": name, "model": "m"}, {"ide": "fine", "model": "m", "display_name": name or " "}):
        answer = house.call("enroller", "POST", "/api/agents/register", json=fields)
        assert answer.status_code in (400, 422), (fields, answer.text)
    answer = house.call("ada", "PUT", f"/api/agents/{house.agents['ada']}", json={"display_name": name or " "})
    assert answer.status_code == 400, answer.text


@pytest.mark.parametrize("name", ["ada (test)", "Ada (Test)", "\u0430da (test)", "ada  (test)", "a\u0301da (test)"])
def test_an_agent_cannot_look_like_another(house: House, name: str) -> None:
    """AU-10"""
    changed = house.call("bob", "PUT", f"/api/agents/{house.agents['bob']}", json={"display_name": name})
    assert changed.status_code == 200
    assert changed.json()["display_name"] == f"{name} 2"
    made = house.call(
        "enroller", "POST", "/api/agents/register", json={"ide": name.partition(" (")[0], "model": "test"}
    )
    assert made.json()["name"].rpartition(" ")[2].isdigit()
    house.call("bob", "PUT", f"/api/agents/{house.agents['bob']}", json={"display_name": "bob"})


def test_the_author_of_a_message_is_whoever_holds_the_credential(house: House) -> None:
    """AU-10"""
    path = f"/api/threads/{house.threads['open']}/messages"
    ada, bob = house.agents["ada"], house.agents["bob"]
    for author in (ada, "ada (test)", "operator", "system", "human", "hub", "nobody"):
        answer = house.call("bob", "POST", path, json={"author": author, "content": "forged"})
        assert answer.status_code in (400, 403), (author, answer.text)
    for fields in ({"role": "system"}, {"author_id": ada}, {"agent_id": ada}, {"from": ada}, {"author_name": "ada"}):
        answer = house.call("bob", "POST", path, json={"content": "mine", **fields})
        assert answer.status_code in (400, 403) or answer.json()["author_id"] == bob, (fields, answer.text)
    for author in (ada, "ada (test)", "system", "hub"):
        answer = house.call("operator", "POST", path, json={"author": author, "content": "forged"})
        assert answer.status_code in (400, 403), (author, answer.text)
    assert house.call("viewer", "POST", path, json={"content": "x"}).status_code == 403
    stored = house.call("operator", "GET", f"{path}?limit=1000").json()
    assert not [m for m in stored if m["content"] == "forged"]


def test_nobody_acts_as_an_agent_that_is_not_theirs(house: House) -> None:
    """AU-10"""
    ada = house.agents["ada"]
    with house.client("bob") as client:
        mcp = Mcp(client)
        own = {"token": house.tokens["bob"]}
        for tool, arguments in {
            "agent_heartbeat": {"agent_id": ada},
            "agent_resume": {"agent_id": ada},
            "agent_unregister": {"agent_id": ada},
            "agent_update": {"agent_id": ada, "description": "taken over"},
            "agent_set_typing": {"agent_id": ada, "thread_id": house.threads["open"], "is_typing": True},
            "msg_react": {"agent_id": ada, "message_id": house.messages["open"], "reaction": "x"},
            "msg_wait": {"agent_id": ada, "thread_id": house.threads["open"], "timeout_ms": 0},
            "thread_create": {"agent_id": ada, "topic": "in her name"},
        }.items():
            for proof in ({}, own):
                known = next(t for t in mcp.tools() if t["name"] == tool)["inputSchema"]["properties"]
                said = mcp.call(tool, **arguments, **{k: v for k, v in proof.items() if k in known})
                assert "error" in said, (tool, proof, said)
        for path in ("heartbeat", "resume", "unregister"):
            for proof in ({}, own):
                answer = client.post(f"/api/agents/{path}", json={"agent_id": ada, **proof})
                assert answer.status_code in (401, 403, 404), (path, answer.text)
        assert client.put(f"/api/agents/{ada}", json={"description": "taken over"}).status_code in (401, 403, 404)
        assert client.post(f"/api/agents/{ada}/kick").status_code == 403
    shown = house.call("operator", "GET", f"/api/agents/{ada}").json()
    assert shown["description"] == ""


WIDER = [
    ("viewer", {"kind": "viewer", "name": "x"}),
    ("ada", {"kind": "agent", "name": "x"}),
    ("enroller", {"kind": "agent", "name": "x", "rights": ["read"]}),
    ("confined", {"kind": "agent", "name": "x"}),
    ("node", {"kind": "node", "name": "x"}),
    ("webhook", {"kind": "webhook", "name": "x"}),
]


@pytest.mark.parametrize(("who", "wish"), WIDER)
def test_only_an_operator_gives_credentials(house: House, who: str, wish: dict[str, Any]) -> None:
    """AU-11"""
    assert house.call(who, "POST", "/api/credentials", json=wish).status_code == 403
    assert house.call(who, "GET", "/api/credentials").status_code == 403
    assert house.call(who, "POST", "/api/login-codes").status_code == 403
    assert house.call(who, "GET", "/api/audit").status_code == 403


@pytest.mark.parametrize(
    "wish",
    [
        {"kind": "viewer", "name": "x", "rights": ["operate"]},
        {"kind": "agent", "name": "x", "rights": ["operate", "read"]},
        {"kind": "node", "name": "x", "rights": ["read"]},
        {"kind": "hub", "name": "x"},
        {"kind": "anonymous", "name": "x"},
        {"kind": "root", "name": "x"},
        {"kind": "viewer", "name": "x", "rights": ["everything"]},
        {"kind": "viewer", "name": "x", "expires_in_s": -1},
        {"kind": "viewer", "name": " "},
    ],
)
def test_a_credential_is_never_wider_than_its_kind(house: House, wish: dict[str, Any]) -> None:
    """AU-11"""
    answer = house.call("operator", "POST", "/api/credentials", json=wish)
    assert answer.status_code in (400, 403), answer.text


def test_an_agent_that_a_confined_credential_enrols_is_confined_too(house: House) -> None:
    """AU-11"""
    confined = house.call(
        "operator",
        "POST",
        "/api/credentials",
        json={
            "kind": "agent",
            "name": "narrow",
            "rights": ["read", "register", "chat", "all"],
            "threads": [house.threads["open"]],
        },
    ).json()
    with httpx.Client(base_url=house.hub.url, headers={"Authorization": f"Bearer {confined['token']}"}) as client:
        child = client.post("/api/agents/register", json={"ide": "child", "model": "m"}).json()
    with httpx.Client(base_url=house.hub.url, headers={"Authorization": f"Bearer {child['token']}"}) as client:
        assert client.get(f"/api/threads/{house.threads['closed_room']}").status_code == 404
        assert client.get(f"/api/threads/{house.threads['open']}").status_code == 200
        assert client.post("/api/credentials", json={"kind": "agent", "name": "x"}).status_code == 403


def test_a_tool_without_the_right_is_a_tool_that_is_not_there(house: House) -> None:
    """PR-11"""
    with house.client("operator") as boss, house.client("viewer") as client:
        every = [tool["name"] for tool in Mcp(boss).tools()]
        mcp = Mcp(client)
        seen = [tool["name"] for tool in mcp.tools()]
        assert seen == [name for name in every if name in seen], "the order is the same for everybody"
        assert seen == [tool["name"] for tool in mcp.tools()]
        hidden = [name for name in every if name not in seen]
        assert "msg_post" in hidden
        unknown = json.dumps(mcp.call("no_such_tool"))
        for name in [*hidden, "MSG_POST", "greenroom.msg_post", "msg_post ", "mcp__greenroom__msg_post", "../msg_post"]:
            assert json.dumps(mcp.call(name)).replace(name, "no_such_tool") == unknown, name
