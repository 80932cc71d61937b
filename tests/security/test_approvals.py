"""Ways around an approval, through every door, by everybody who is no person asked: AP-01, AP-13."""

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from greenroom.app import NOUNS
from greenroom.log.check_sqlite import check_sqlite
from greenroom.testing.hub_process import HubProcess, wait_until
from greenroom.testing.machine_requirements import need_program
from greenroom.testing.timeouts import WAIT_S
from tests.conftest import end_node
from tests.doors.compat.assist.facts import make, parse
from tests.security.conftest import House
from tests.security.rig import Mcp
from tests.stage import Stage

WRONG = ["revoked", "expired"]
NOBODY_ASKED = [None, "ada", "bob", "confined", "enroller", "viewer", "node", "webhook", *WRONG]
CANARY = "the secret plan"


@pytest.fixture(scope="module")
def gate(house: House) -> str:
    body = {"kind": "gate", "title": CANARY, "risk": "high"}
    return str(house.call("operator", "POST", "/api/asks", json=body).json()["id"])


def headers(house: House, who: str | None) -> dict[str, str]:
    return {} if who is None else {"Authorization": f"Bearer {house.tokens[who]}"}


REST: list[tuple[str, str, Any]] = [
    ("POST", "/api/asks/{id}/answer", {"verdict": "approve"}),
    ("POST", "/api/asks/answers", {"answers": [{"ask_id": "{id}", "verdict": "approve"}]}),
    ("POST", "/api/asks/{id}/delegate", {"to": "me"}),
    ("POST", "/api/asks/{id}/snooze", {"for_s": 60}),
    ("POST", "/api/asks/{id}/withdraw", {}),
    ("GET", "/api/asks/{id}", None),
    ("GET", "/api/asks/{id}/wait?for_s=0", None),
    ("GET", "/api/asks", None),
    ("POST", "/agent_backend/chat/permission-response", {"session_id": "s", "request_id": "{id}", "approved": True}),
    ("POST", "/api/notify/act", {"ticket": "{id}", "verdict": "approve"}),
    ("PUT", "/api/policy/rules/mine", {"rule": {"decision": "allow"}}),
    ("POST", "/api/policy/templates/trusted-repo", {}),
    ("PUT", "/api/profiles/mine", {"driver": "rehearsal", "approvals": "never"}),
    ("POST", "/api/credentials", {"kind": "operator", "name": "mine"}),
    ("POST", "/api/servers/x/accept", {"tools": {}}),
]


@pytest.mark.parametrize("who", NOBODY_ASKED)
@pytest.mark.parametrize(("method", "path", "body"), REST)
def test_ap_01_over_rest(house: House, gate: str, who: str | None, method: str, path: str, body: Any) -> None:
    given = None if body is None else json.loads(json.dumps(body).replace("{id}", gate))
    answer = house.call(who, method, path.replace("{id}", gate), json=given)
    too_often = {429} if who in WRONG else set()  # many wrong credentials from one address are told to slow down
    assert answer.status_code in {401, 403, 404} | too_often, answer.text
    assert CANARY not in answer.text
    assert_untouched(house, gate)


def login(house: House, gate: str, who: str | None) -> str:
    """Agent Assistant's login, with the token inside of the frame."""
    with connect(house.hub.url.replace("http", "ws", 1) + "/ws") as socket:
        message = make("WebsocketMessage", Cmd="UserLogin", StrParam=house.tokens[who] if who else "")
        socket.send(message.SerializeToString())
        answer = parse("WebsocketMessage", socket.recv(timeout=WAIT_S))  # type: ignore[arg-type]
        assert not answer.UserLoginResponse.success
        return str(answer)


def socket_at(path: str, *frames: dict[str, Any]) -> Callable[[House, str, str | None], str]:
    """All that a socket says to who sends these frames; nothing when it does not even open."""

    def heard(house: House, gate: str, who: str | None) -> str:
        url = house.hub.url.replace("http", "ws", 1) + path
        said: list[str] = []
        try:
            with connect(url, additional_headers=headers(house, who)) as socket:
                for frame in frames:
                    socket.send(json.dumps(frame).replace("{id}", gate))
                for _ in frames:
                    said.append(str(socket.recv(timeout=WAIT_S)))
        except (InvalidStatus, ConnectionClosed, TimeoutError):
            said.append("")
        return "".join(said)

    return heard


SUBSCRIBE = {"op": "subscribe", "id": 1}
ANSWER = {"Cmd": "AskQuestionReply", "AskQuestionRequest": {"ID": "{id}"}, "AskQuestionResponse": {"ID": "{id}"}}
LEAVE = {"type": "agent_tool_permission_response", "data": {"execution_id": "{id}", "approved": True}}
SOCKETS = {
    "agentassist": login,
    "sync inbox": socket_at("/sync", {**SUBSCRIBE, "view": "inbox"}),
    "sync policy": socket_at("/sync", {**SUBSCRIBE, "view": "policy"}),
    "people": socket_at("/people", {"Cmd": "UserLogin", "StrParam": "room:any"}, ANSWER),
    "agent_backend": socket_at("/agent_backend/ws/s", LEAVE),
    "node": socket_at("/node", {"type": "hello"}),
}


@pytest.mark.parametrize("who", NOBODY_ASKED)
@pytest.mark.parametrize("door", SOCKETS)
def test_ap_01_over_sockets(house: House, gate: str, who: str | None, door: str) -> None:
    assert CANARY not in SOCKETS[door](house, gate, who)
    assert_untouched(house, gate)


@pytest.mark.parametrize("who", ["ada", "bob", "confined", "enroller", "viewer"])
def test_ap_01_over_mcp_there_is_no_tool_that_answers(house: House, gate: str, who: str) -> None:
    with house.client(who) as client:
        mcp = Mcp(client)
        names = {tool["name"] for tool in mcp.tools()}
        assert not [name for name in names if "answer" in name or "approve" in name or "policy" in name]
        for tool in ("ask_answer", "approve", "permission_response"):
            asked = mcp.send("tools/call", {"name": tool, "arguments": {"ask_id": gate, "verdict": "approve"}})
            assert "Unknown tool" in asked.text
    assert_untouched(house, gate)


@pytest.mark.parametrize("who", ["ada", "viewer"])
def test_ap_01_from_the_command_line_with_ones_own_token(house: House, gate: str, who: str) -> None:
    command = [sys.executable, "-m", "greenroom", "ask", "approve", gate, "--url", house.hub.url, "--token"]
    done = subprocess.run([*command, house.tokens[who]], capture_output=True, text=True, timeout=WAIT_S, check=False)
    assert done.returncode == 1
    assert CANARY not in done.stdout + done.stderr
    assert_untouched(house, gate)


def test_ap_13_every_try_of_who_is_known_is_in_the_audit(house: House, gate: str) -> None:
    tried = f"POST /api/asks/{{ask_id}}/answer {gate}"

    def noted() -> set[str]:
        events = house.call("operator", "GET", "/api/audit?limit=1000&type=CallRefused").json()["events"]
        return {
            one["by"] for one in (e["data"]["refused"] for e in events) if one.get("action") == tried and "by" in one
        }

    for who in ("ada", "viewer", "node", "webhook"):
        house.call(who, "POST", f"/api/asks/{gate}/answer", json={"verdict": "approve"})
    wait_until(lambda: len(noted()) >= 4)


def assert_untouched(house: House, gate: str) -> None:
    ask = house.call("operator", "GET", f"/api/asks/{gate}").json()
    assert (ask["state"], ask.get("delegated_to"), ask.get("snoozed_until")) == ("open", None, None)


ATTACK = """
import json, os, pathlib, sqlite3, subprocess, sys, urllib.error, urllib.request

token = open(sys.argv[1]).read().strip()
url, data, ask, out = sys.argv[2:6]
own = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
found = {"env": {k: v for k, v in os.environ.items()}, "status": {}}

def call(name, path, body, headers):
    request = urllib.request.Request(url + path, json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            found["status"][name] = answer.status
    except urllib.error.HTTPError as no:
        found["status"][name] = no.code

for who, headers in (("own", own), ("nobody", {"Content-Type": "application/json"})):
    call(f"{who} answer", f"/api/asks/{ask}/answer", {"verdict": "approve"}, headers)
    call(f"{who} batch", "/api/asks/answers", {"answers": [{"ask_id": ask, "verdict": "approve"}]}, headers)
    call(f"{who} rule", "/api/policy/rules/mine", {"rule": {"decision": "allow"}}, headers)
    call(f"{who} token", "/api/credentials", {"kind": "operator", "name": "mine"}, headers)

def attempt(name, work):
    try:
        found[name] = work()
    except (OSError, sqlite3.Error, subprocess.SubprocessError) as error:
        found[name] = f"failed: {type(error).__name__}"

def edit():
    before, after = (f'"state":"{state}"' for state in ("open", "answered"))
    with sqlite3.connect(f"{data}/greenroom.db", timeout=10) as db:
        change = "UPDATE row_ask SET state='answered', data=replace(data, ?, ?)"
        return db.execute(change, (before, after)).rowcount

attempt("operator_token", lambda: len(pathlib.Path(data, "operator.token").read_text()))
attempt("edited", edit)
attempt("policy", lambda: pathlib.Path(data, "policy.toml").write_text(""))
processes = [p for p in os.listdir("/proc") if p.isdigit()]
attempt("hubs", lambda: [p for p in processes if "serve" in open(f"/proc/{p}/cmdline").read()])
pathlib.Path(out).write_text(json.dumps(found))
"""
"""An agent with a shell of its own that tries to approve what another agent asks for."""


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """Not checked on its way out: an agent tampers with its database."""
    hub = HubProcess(tmp_path / "data", env={"GREENROOM_LOCAL_NODE": "1"})
    try:
        with Stage(hub.start()) as stage:
            yield stage
    finally:
        hub.stop()
        end_node(hub.data)


def attack(stage: Stage, folder: Path, sandbox: str) -> tuple[dict[str, Any], str, Path]:
    """What an attacking agent got at this level, the ask that it was about, and the canary."""
    folder.mkdir()
    (folder / "attack.py").write_text(ATTACK)
    canary, out = folder / "canary", folder / "out.json"
    run_id = stage.start(f"SHELL touch {canary}\nSAY done")
    ask = stage.asked()["id"]
    given = ["{token_file}", "{bus_address}", str(stage.hub.data), ask, str(out)]
    command = [sys.executable, str(folder / "attack.py"), *given]
    stage.profile(
        "thief", driver="pty", command=command, options={"prompt": "none"}, sandbox=sandbox, directory=str(folder)
    )
    thief = stage.start("steal", profile="thief")
    stage.until(out.exists, "the attack to be over")
    stage.api.post(f"/api/runs/{thief}/cancel", json={})
    assert stage.run(run_id)["status"] == "waiting"
    found: dict[str, Any] = json.loads(out.read_text())
    assert stage.hub.token not in json.dumps(found["env"])
    assert set(found["status"].values()) <= {401, 403, 404, 405}, found["status"]
    assert not canary.exists()
    return found, ask, canary


def test_ap_01_an_agent_without_a_sandbox_does_not_get_a_call_approved_by_what_it_has(
    stage: Stage, tmp_path: Path
) -> None:
    """Here it can read its operator's files, which is said in the trust model. A row that it writes runs nothing."""
    found, _, canary = attack(stage, tmp_path / "desk", "none")
    assert found["edited"] in (1, 2) or "failed" in str(found["edited"])
    assert not canary.exists(), "nothing follows from a row, only from the event that makes it"
    stage.hub.stop()
    codes = {finding.code for finding in check_sqlite(stage.hub.data, NOUNS).findings}
    assert codes == ({"rows_differ"} if isinstance(found["edited"], int) else set())
    with sqlite3.connect(stage.hub.data / "greenroom.db") as db:
        assert db.execute("SELECT count(*) FROM events WHERE type = 'AskAnswered'").fetchone() == (0,)
    stage.hub.start()


@pytest.mark.anywhere
def test_ap_01_an_agent_in_the_sandbox_finds_nothing_to_approve_with(stage: Stage, tmp_path: Path) -> None:
    need_program("bwrap")
    found, ask, canary = attack(stage, tmp_path / "desk", "bwrap")
    for name in ("operator_token", "edited"):
        assert str(found[name]).startswith("failed"), name
    assert not (stage.hub.data / "policy.toml").exists(), "it wrote where nobody looks"
    assert not found["hubs"]
    assert stage.decide(ask, "approve").status_code == 200
    stage.until(canary.exists, "the call to run once a person has said so")
    stage.hub.stop()
    assert check_sqlite(stage.hub.data, NOUNS).findings == []
    stage.hub.start()
