"""`greenroom connect`: other programs get to know the hub, and forget it again, and keep all else that they have."""

import json
import os
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from greenroom.cli.connect_files import PROGRAMS
from greenroom.testing.agent_clis import CLAUDE, CODEX
from greenroom.testing.hub_process import HubProcess
from greenroom.testing.machine_requirements import skip_or_fail
from greenroom.testing.timeouts import WAIT_S
from tests import ROOT
from tests.cli.shell import done, environment, greenroom

CLIS = ROOT / ".clis"
OTHER = {"theme": "dark", "own": {"key": [1]}}


def written(file: Path) -> Any:
    text = file.read_text()
    return tomllib.loads(text) if file.suffix == ".toml" else json.loads(text)


def command_in(servers: Any) -> list[str]:
    entry = servers["greenroom"]
    return entry["command"] if isinstance(entry["command"], list) else [entry["command"], *entry["args"]]


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_a_program_is_connected_once_and_let_go_of(name: str, shared_hub: HubProcess) -> None:
    data, program = shared_hub.data, PROGRAMS[name]
    file = data.parent / program.file
    file.parent.mkdir(parents=True, exist_ok=True)
    before = 'model = "x"  # mine\n' if file.suffix == ".toml" else json.dumps({**OTHER, program.key: {"other": {}}})
    file.write_text(before)

    first = done(data, "connect", name, "--json").json
    assert (first["changed"], first["new_credential"]) == (True, True)
    command = command_in(written(file)[program.key])
    assert command[1:] == ["mcp", "--data", str(data), "--token-file", first["token_file"]]
    token_file = Path(first["token_file"])
    assert token_file.stat().st_mode & 0o777 == 0o600
    token = token_file.read_text().strip()
    assert token not in file.read_text()
    if file.suffix == ".toml":
        assert file.read_text().startswith(before)
    else:
        assert written(file).items() >= OTHER.items()
        assert "other" in written(file)[program.key]

    again = done(data, "connect", name, "--json").json
    assert (again["changed"], again["new_credential"], token_file.read_text().strip()) == (False, False, token)

    gone = done(data, "connect", name, "--remove", "--json").json
    assert (gone["changed"], gone["credential_ended"]) == (True, True)
    assert written(file) == (tomllib.loads(before) if file.suffix == ".toml" else json.loads(before))
    assert not token_file.exists()
    assert greenroom(data, "thread", "list", "--url", shared_hub.url, "--token", token).code == 1
    assert done(data, "connect", name, "--remove", "--json").json["changed"] is False


def test_a_credential_that_was_ended_is_made_anew(shared_hub: HubProcess) -> None:
    data = shared_hub.data
    done(data, "connect", "cursor")
    note = json.loads((data / "connections" / "cursor.json").read_text())
    done(data, "agent", "kick", note["agent_id"])
    assert done(data, "connect", "cursor", "--json").json["new_credential"] is True
    done(data, "connect", "cursor", "--remove")


def test_printing_writes_nothing_and_makes_no_credential(shared_hub: HubProcess, tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    shown = done(shared_hub.data, "connect", "gemini", "--print", "--file", str(file))
    assert json.loads(shown.out.partition("\n")[2])["mcpServers"]["greenroom"]["args"][0] == "mcp"
    assert not file.exists()
    assert not (shared_hub.data / "connections" / "gemini.token").exists()


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("cursor", "{ // mine\n}", "put it in by hand"),
        ("cursor", '{"mcpServers": []}', "is no object"),
        ("codex", "[mcp_servers.greenroom]\n", "somebody else wrote"),
        ("codex", "not toml", "put it in by hand"),
    ],
)
def test_a_file_that_is_not_understood_is_left_alone(
    name: str, text: str, said: str, shared_hub: HubProcess, tmp_path: Path
) -> None:
    file = tmp_path / Path(PROGRAMS[name].file).name
    file.write_text(text)
    ran = greenroom(shared_hub.data, "connect", name, "--file", str(file))
    assert (ran.code, said in ran.err, file.read_text()) == (1, True, text), ran


@pytest.mark.anywhere
@pytest.mark.parametrize(("name", "program"), [("claude", CLAUDE), ("codex", CODEX)])
def test_a_real_program_finds_the_hub(name: str, program: Path, shared_hub: HubProcess, tmp_path: Path) -> None:
    if not (CLIS / "ready").exists():
        skip_or_fail(f"{name} is not installed: run `make clis`")
    home = tmp_path / "home"
    file = home / PROGRAMS[name].file
    file.parent.mkdir(parents=True)
    env = environment(shared_hub.data, HOME=str(home))
    passed = {key: os.environ[key] for key in ("PYTHONPATH",) if key in os.environ}
    done(shared_hub.data, "connect", name, "--file", str(file))
    listed = subprocess.run(
        [str(CLIS / program), "mcp", "list"],
        env={**env, **passed},
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
    )
    assert "greenroom" in listed.stdout, listed
    assert "Failed" not in listed.stdout, listed
    done(shared_hub.data, "connect", name, "--remove", "--file", str(file))


@pytest.mark.parametrize("name", sorted(name for name in PROGRAMS if PROGRAMS[name].moved_by[0]))
def test_a_program_whose_settings_are_elsewhere_is_connected_there(
    name: str, shared_hub: HubProcess, tmp_path: Path
) -> None:
    variable, file = PROGRAMS[name].moved_by
    told = done(shared_hub.data, "connect", name, "--json", **{variable: str(tmp_path)}).json
    assert Path(told["file"]) == tmp_path / file
    assert "greenroom" in written(tmp_path / file)[PROGRAMS[name].key]
    done(shared_hub.data, "connect", name, "--remove", **{variable: str(tmp_path)})
