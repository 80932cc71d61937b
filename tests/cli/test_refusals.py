"""Each refusal of the command line itself, by its code: the verb is parsed and run as `main` does it."""

from pathlib import Path

import pytest

from greenroom.cli.main import build_parser
from greenroom.errors import Refused
from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
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


def refuse(data: Path, monkeypatch: pytest.MonkeyPatch, argv: list[str]) -> str:
    """The code with which a command is refused."""
    monkeypatch.setenv("GREENROOM_DATA", str(data))
    args = build_parser(None).parse_args(argv)
    with pytest.raises(Refused) as no:
        args.run(args)
    return no.value.code


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
        return {"ask": desk.ask()["id"], "agent": desk.asking.id, "workflow": "plain", "run": run}


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
