"""Logs that older versions wrote: today's hub starts on them, finds all that is in them, and goes on."""

import contextlib
import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import apsw
import httpx
import pytest

from greenroom.app import NOUNS
from greenroom.log.check_sqlite import check_sqlite
from greenroom.log.data_directory import FILES
from greenroom.log.store_sqlite import APPLICATION_ID, MECHANISM
from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S

LOGS = sorted(Path(__file__).parent.glob("*.jsonl"))
AT_WORK = Path(__file__).parent / "0.1.0-agents.jsonl"


def put_back(log: Path, data: Path) -> list[dict[str, Any]]:
    """Make a data directory of what was written down; returns its events."""
    data.mkdir(mode=0o700)
    lines: list[dict[str, Any]] = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    events = [line for line in lines if "seq" in line]
    with contextlib.closing(apsw.Connection(str(data / "greenroom.db"))) as connection:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = 1")
        connection.execute(MECHANISM)
        for event in events:
            row = [event[name] for name in ("seq", "at", "by", "type", "v")]
            connection.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", (*row, event["data"].encode()))
            if event["chain"]:
                connection.execute("INSERT INTO chain VALUES (?, ?)", (event["seq"], bytes.fromhex(event["chain"])))
    for line in lines:
        if "file" in line:
            folder = data / FILES / line["file"][:2]
            folder.mkdir(parents=True, exist_ok=True)
            (folder / line["file"]).write_bytes(b64decode(line["bytes"]))
    return events


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.stem)
def test_an_old_log_is_read_shown_and_continued(log: Path, tmp_path: Path) -> None:
    events = put_back(log, tmp_path / "data")
    with HubProcess(tmp_path / "data") as hub:
        headers = {"Authorization": f"Bearer {hub.token}"}
        with httpx.Client(base_url=hub.url, headers=headers) as api:
            threads = {thread["topic"]: thread for thread in api.get("/api/threads").json()["threads"]}
            assert threads["settled"]["status"] == "closed"
            messages = api.get(f"/api/threads/{threads['engines']['id']}/messages").json()
            assert [message["content"] for message in messages] == [
                "What does the engine weave?",
                "Patterns.",
                "A person looks in.",
                "long " * 100,
            ]
            assert messages[0]["edit_version"] == 1
            assert messages[0]["reactions"][0]["reaction"] == "👍"
            assert api.get("/api/search", params={"q": "patterns"}).json()["total"] == 1
            names = {agent["display_name"] for agent in api.get("/api/agents").json()}
            assert ("Countess" in names, "Bob" in names) == (True, False)
            said = api.post(f"/api/threads/{threads['engines']['id']}/messages", json={"content": "and on it goes"})
            assert said.json()["seq"] > events[-1]["seq"]
        assert hub.stop() == 0, hub.stderr
    assert check_sqlite(tmp_path / "data", NOUNS).findings == []


def test_runs_asks_and_workflows_of_an_old_log_are_there_and_go_on(tmp_path: Path) -> None:
    put_back(AT_WORK, tmp_path / "data")
    with HubProcess(tmp_path / "data") as hub:
        headers = {"Authorization": f"Bearer {hub.token}"}
        with httpx.Client(base_url=hub.url, headers=headers, timeout=WAIT_S) as api:
            runs = {run["prompt"]: run for run in api.get("/api/runs").json()}
            assert runs["THINK hm\nSAY hello\nUSAGE 100 20"]["input_tokens"] == 100
            assert runs["SAY below"]["parent_id"] == runs["SPAWN rehearsal SAY below"]["id"]
            assert runs["SLEEP 600"]["status"] == "cancelled"
            assert runs["ASK Which port?\nSAY {{answer}}"]["output"].endswith("8080")
            asks = api.get("/api/asks", params={"state": "answered"}).json()["asks"]
            assert sorted(ask["answer"]["verdict"] for ask in asks) == ["answer", "approve", "approve", "deny"]
            assert [rule["name"] for rule in api.get("/api/policy").json()["rules"]] == ["no-deploys"]
            waiting, done = api.get("/api/workflow-runs").json()
            assert (waiting["status"], done["status"]) == ("running", "completed")
            (gate,) = api.get("/api/asks").json()["asks"]
            answered = api.post(f"/api/asks/{gate['id']}/answer", json={"verdict": "approve"})
            assert answered.is_success, answered.text
            ended = api.get(f"/api/workflow-runs/{waiting['id']}/wait", params={"for_s": 20}).json()
            assert (ended["status"], ended["output"]) == ("completed", done["output"])
        assert hub.stop() == 0, hub.stderr
    assert check_sqlite(tmp_path / "data", NOUNS).findings == []


def test_the_owner_of_an_old_log_has_one_name_on_all_their_credentials(tmp_path: Path) -> None:
    put_back(AT_WORK, tmp_path / "data")
    with HubProcess(tmp_path / "data") as hub:
        headers = {"Authorization": f"Bearer {hub.token}"}
        with httpx.Client(base_url=hub.url, headers=headers, timeout=WAIT_S) as api:
            assert api.put("/api/me/name", json={"name": "Ana"}).is_success
            owned = [one["person"] for one in api.get("/api/credentials").json() if one["kind"] == "operator"]
            assert (len(owned) > 1, set(owned)) == (True, {"Ana"})
            answers = api.get("/api/audit", params={"type": "AskAnswered", "limit": 1000}).json()["events"]
            assert {event["name"] for event in answers} == {"Ana"}
        assert hub.stop() == 0, hub.stderr


def test_there_is_an_old_log() -> None:
    assert len(LOGS) > 1
