"""Each refusal of the command line itself, by its code."""

from pathlib import Path

import pytest

from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests.cli.shell import refuse
from tests.rules.asks.desk import Desk

WITHOUT_HUB = [
    ("bad_anchor", "audit verify --anchor zz"),
    ("bad_config", "mcp --config /nowhere"),
    ("bad_pin", "node --join https://127.0.0.1:9 --token-file /dev/null --pin zz"),
    ("bad_profile", "driver check rehearsal --profile /nowhere.toml"),
    ("bad_restore", "restore"),
    ("bad_token", "thread list --url http://127.0.0.1:9 --token é"),
    ("bad_url", "thread list --url ftp://hub --token x"),
    ("bad_use", "node"),
    ("data_unusable", "node --join http://127.0.0.1:9 --token-file /dev/null --data /dev/null/x"),
    ("insecure_url", "thread list --url http://192.0.2.1:9 --token x"),
    ("no_contract", "driver check pty"),
    ("no_driver", "driver check none"),
    ("no_shell", "completion"),
    ("text_missing", "input"),
    ("bad_text", "input --base64 !!"),
    ("token_missing", "thread list --url http://127.0.0.1:9 --token-file /nowhere"),
]
WITH_HUB = [
    ("ambiguous_id", "ask show {beginning}"),
    ("bad_amendment", "dag amend wfr_none a --set x"),
    ("bad_file", "ask answer {ask} --text hi --file /nowhere"),
    ("bad_input", "dag run {workflow} --input x"),
    ("bad_json", "ask answer {ask} --form no"),
    ("bad_rule", "policy add x --file /nowhere.toml"),
    ("bad_use", "dag run"),
    ("cannot_read", "audit verify --file /nowhere"),
    ("cannot_write", "dag graph {workflow} --output /nowhere/file"),
    ("file_unusable", "token create --name x --out /nowhere/file"),
    ("id_not_found", "thread show Plann"),
    ("name_missing", "token create"),
    ("no_run", "agent logs {agent}"),
    ("no_terminal", "agent attach {agent}"),
    ("rule_not_found", "policy suggest --accept none"),
    ("several_asks", "ask answer --text x"),
    ("trigger_not_found", "dag arm {workflow} none"),
    ("tool_not_found", "tools show book none"),
    ("step_not_found", "dag unblock {run} none"),
    ("not_waiting", "dag unblock {run} a"),
]


@pytest.mark.parametrize(("code", "line"), WITHOUT_HUB)
def test_a_wrong_command_is_refused_before_a_hub_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, line: str
) -> None:
    assert refuse(tmp_path / "data", monkeypatch, line.split()) == code


@pytest.fixture(scope="module")
def known(shared_hub: HubProcess) -> dict[str, str]:
    """What the commands name: two asks, an agent, a workflow, and a server without tools."""
    with Desk(shared_hub) as desk:
        for topic in ("Plan", "Talk"):
            desk.thread(topic=topic)
        definition = {"name": "plain", "steps": [{"id": "a", "set": {}}]}
        desk.operator.put("/api/workflows/plain", json={"definition": definition}).raise_for_status()
        desk.operator.put("/api/servers/book", json={"command": ["true"], "enabled": False}).raise_for_status()
        run = desk.operator.post("/api/workflow-runs", json={"workflow": "plain"}).json()["id"]
        desk.operator.get(f"/api/workflow-runs/{run}/wait", params={"for_s": WAIT_S}).raise_for_status()
        desk.ask()
        ask = desk.ask()["id"]
        return {"ask": ask, "beginning": ask[:8], "agent": desk.asking.id, "workflow": "plain", "run": run}


@pytest.mark.parametrize(("code", "line"), WITH_HUB)
def test_a_command_that_does_not_fit_what_the_hub_has_is_refused(
    shared_hub: HubProcess, monkeypatch: pytest.MonkeyPatch, known: dict[str, str], code: str, line: str
) -> None:
    argv = [word.format_map(known) for word in line.split()]
    assert refuse(shared_hub.data, monkeypatch, argv) == code


def test_what_keeps_its_log_in_postgres_is_not_backed_up_from_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GREENROOM_DATABASE", "postgresql:///greenroom")
    assert refuse(tmp_path, monkeypatch, ["backup", str(tmp_path / "file")]) == "log_in_postgres"


def test_an_outbox_that_is_no_database_is_named_before_a_hub_is_dialled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outbox = tmp_path / "node" / "outbox.db"
    outbox.parent.mkdir()
    outbox.write_bytes(b"no database" * 100)
    argv = ["node", "--join", "http://127.0.0.1:9", "--token-file", "/dev/null", "--data", str(tmp_path)]
    assert refuse(tmp_path, monkeypatch, argv) == "outbox_unusable"
    assert outbox.read_bytes() == b"no database" * 100


def test_a_driver_is_not_checked_where_no_hub_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GREENROOM_HOST", "0.0.0.0")  # which takes a certificate
    assert refuse(tmp_path, monkeypatch, ["driver", "check", "rehearsal"]) == "no_stand"


def test_what_the_desktops_program_does_not_type_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    typist = tmp_path / "xdotool"
    typist.write_text("#!/bin/sh\nexit 1\n")
    typist.chmod(0o700)
    for name, value in {"DISPLAY": ":9", "WAYLAND_DISPLAY": "", "PATH": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    assert refuse(tmp_path, monkeypatch, ["input", "hello"]) == "not_typed"
    typist.write_text("no program")
    assert refuse(tmp_path, monkeypatch, ["input", "hello"]) == "not_typed"
