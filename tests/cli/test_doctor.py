"""The doctor sees what is there and says what to do about what is not."""

import json
import socket
import time
from pathlib import Path
from typing import Any

import psycopg

from greenroom.testing.hub_process import HubProcess
from greenroom.testing.postgres import PostgresServer
from tests import ROOT
from tests.cli.shell import greenroom


def examine(data: Path, **env: str) -> tuple[int, dict[str, dict[str, Any]]]:
    ran = greenroom(data, "doctor", "--json", **env)
    return ran.code, {finding["name"]: finding for finding in json.loads(ran.out)}


def test_a_running_hub_in_a_closed_directory_is_well(shared_hub: HubProcess) -> None:
    code, found = examine(shared_hub.data)
    assert code == 0
    assert [found[name]["level"] for name in ("python", "sqlite", "data directory", "hub")] == ["ok"] * 4
    assert shared_hub.url in found["hub"]["found"]
    assert "port" not in found


def test_the_doctor_and_the_security_page_name_the_risks_that_remain(tmp_path: Path) -> None:
    _, found = examine(tmp_path / "data", GREENROOM_PORT="0")
    assert "can do what you can" in found["your account"]["found"]
    assert "can approve in a browser that is logged in" in found["your browser"]["found"]
    written = " ".join((ROOT / "SECURITY.md").read_text().split())
    for sentence in ("An agent under your own account can do what you can.", "in a browser that is logged in"):
        assert sentence in written


def test_a_fresh_machine_is_told_how_to_begin(tmp_path: Path) -> None:
    _, found = examine(tmp_path / "data", GREENROOM_PORT="0")
    assert found["hub"]["remedy"] == "start it with `greenroom serve`."
    assert found["data directory"]["level"] == "note"
    assert found["port"]["level"] == "ok"
    assert not (tmp_path / "data").exists()


def test_an_open_directory_and_token_are_errors_with_a_remedy(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o755)
    (data / "operator.token").write_text("x")
    (data / "operator.token").chmod(0o644)
    code, found = examine(data, GREENROOM_PORT="0")
    assert code == 1
    assert found["data directory"]["remedy"] == f"close it: chmod 700 {data}"
    assert found["operator token"]["remedy"].startswith("close it: chmod 600")
    (tmp_path / "link").symlink_to(data)
    _, found = examine(tmp_path / "link", GREENROOM_PORT="0")
    assert "is a link" in found["data directory"]["found"]


def test_a_profile_whose_file_is_wrong_is_an_error_with_its_key(tmp_path: Path) -> None:
    agents = tmp_path / "data" / "agents"
    agents.mkdir(mode=0o700, parents=True)
    (agents / "mine.toml").write_text('driver = "rehearsal"\ndisplay_nam = "Mine"')
    code, found = examine(tmp_path / "data", GREENROOM_PORT="0")
    assert (code, found["profile"]["level"]) == (1, "error")
    assert f"{agents / 'mine.toml'} (mine): display_nam: this key is not known" in found["profile"]["found"]


def test_a_node_that_does_not_stay_up_is_an_error_with_its_last_words(tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "node" / "outbox.db").mkdir(mode=0o700, parents=True)
    data.chmod(0o700)
    hub = HubProcess(data, env={"GREENROOM_LOCAL_NODE": "1"})
    with hub:
        deadline = time.monotonic() + 60
        while "outbox.db" not in (found := examine(data)[1]).get("node", {}).get("found", ""):
            assert time.monotonic() < deadline, found
    assert found["node"]["level"] == "error"
    assert "move it away" in found["node"]["found"]
    assert found["node"]["remedy"] == f"see {data / 'node' / 'node.log'}."


def test_a_taken_port_and_wrong_settings_are_errors(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, found = examine(tmp_path / "data", GREENROOM_PORT=str(taken.getsockname()[1]))
    assert (code, found["port"]["level"]) == (1, "error")
    code, found = examine(tmp_path / "data", GREENROOM_PORT="many")
    assert (code, "GREENROOM_PORT" in found["settings"]["found"]) == (1, True)


def test_agents_are_found_with_their_versions_and_broken_ones_do_no_harm(tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, script in {
        "claude": "echo '2.1.0 (Claude Code)'",
        "codex": "echo broken >&2; exit 3",
        "gemini": "printf '\\033[31mred\\n'",
    }.items():
        (programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (programs / name).chmod(0o755)
    _, found = examine(tmp_path / "data", PATH=f"{programs}:/usr/bin:/bin", GREENROOM_PORT="0")
    assert found["claude"]["level"] == "ok"
    assert "2.1.0" in found["claude"]["found"]
    assert (found["codex"]["level"], "broken" in found["codex"]["found"]) == ("note", True)
    assert found["opencode"]["found"] == "not installed"
    shown = greenroom(tmp_path / "data", "doctor", PATH=f"{programs}:/usr/bin:/bin", GREENROOM_PORT="0")
    assert "\x1b" not in shown.out
    assert "\\x1b[31mred" in shown.out


def test_the_database_of_several_hubs_is_looked_at(tmp_path: Path, postgres: PostgresServer) -> None:
    url = postgres.create_database()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE ROLE guest LOGIN PASSWORD 'secret'")

    def database(setting: str) -> dict[str, Any]:
        return examine(tmp_path / "data", GREENROOM_PORT="0", GREENROOM_DATABASE=setting)[1]["database"]

    well = database(url)
    assert (well["level"], well["found"].startswith("PostgreSQL ")) == ("ok", True), well
    guest = database(url.replace("greenroom@", "guest:secret@"))
    assert guest["level"] == "error"
    assert "guest may not create tables and a schema" in guest["found"]
    assert guest["remedy"] == "let the role own the database."
    gone = database("postgresql://greenroom:secret@127.0.0.1:1/nowhere")
    assert (gone["level"], "cannot be reached" in gone["found"], "secret" in str(gone)) == ("error", True, False)
    assert database("mysql://here/it")["remedy"] == "write postgresql://user@host/name."
