"""The sandbox works wherever Greenroom and the agent's program are installed, and still hides what it must."""

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from greenroom.node.sandbox import Sandbox, make_sandbox
from greenroom.testing.hub_process import HubProcess
from greenroom.testing.machine_requirements import need_program
from greenroom.testing.timeouts import WAIT_S
from tests.cli.shell import environment
from tests.conftest import checked, end_node
from tests.node.installs import install_cli, install_greenroom
from tests.stage import Stage

pytestmark = pytest.mark.anywhere
START = """
import json, os, subprocess, sys
from pathlib import Path
from greenroom.node.sandbox import make_sandbox
data, home, desk = sys.argv[1:]
box = make_sandbox("bwrap", Path(data, "node"), home, [])
started = [sys.executable, "-c", "import greenroom; print(greenroom.__file__)"]
print(json.dumps(box.wrap(started, Path(desk))))
"""
"""What a node does: it is started by the interpreter under test, and wraps a command."""


@pytest.fixture
def folder() -> Iterator[Path]:
    """In /tmp, of which the sandbox has its own, and with a name that must be quoted."""
    need_program("bwrap")
    made = Path(tempfile.mkdtemp(prefix="green room é ", dir="/tmp"))
    yield made
    shutil.rmtree(made)


def ran(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def wrapped(python: Path, data: Path, home: Path, desk: Path) -> list[str]:
    """How a node that runs on this interpreter would start that same interpreter for an agent."""
    for path in (data / "node", home, desk):
        path.mkdir(parents=True, exist_ok=True)
    command: list[str] = json.loads(ran([str(python), "-c", START, str(data), str(home), str(desk)]))
    return command


def test_a_hub_below_tmp_runs_an_agent_in_the_sandbox_and_its_files_are_not_there(folder: Path) -> None:
    python = install_greenroom(folder)
    hub = HubProcess(folder / "data", env={"GREENROOM_LOCAL_NODE": "1"}, python=str(python))
    try:
        for running in checked(hub):
            with Stage(running) as stage:
                (folder / "desk").mkdir()
                (folder / "desk" / "probe.sh").write_text(f"ls -A '{folder}' '{hub.data}'\n")
                stage.profile("boxed", sandbox="bwrap", directory=str(folder / "desk"))
                run_id = stage.start("SHELL sh probe.sh\nSAY done", profile="boxed")
                assert stage.decide(stage.asked()["id"], "approve").status_code == 200
                assert stage.end(run_id)["status"] == "completed"
                (call,) = stage.api.get(f"/api/runs/{run_id}/calls").json()
                assert "src" in call["output"], call
                assert "operator.token" not in call["output"]
    finally:
        end_node(hub.data)


def test_greenroom_starts_from_below_tmp_from_a_hidden_folder_and_through_links(folder: Path) -> None:
    home = folder / "home"
    places = {"tmp": folder / "plain", "data": folder / "data" / "versions" / "1", "secret": home / ".docker" / "tools"}
    for at, place in places.items():
        python = install_greenroom(place)
        said = ran(wrapped(python, folder / "data", home, folder / "desk"))
        assert said.strip() == str(place / "src" / "greenroom" / "__init__.py"), at
    link = folder / "current"
    link.symlink_to(places["tmp"])
    said = ran(wrapped(link / ".venv" / "bin" / "python", folder / "data", home, folder / "desk"))
    assert said.strip().endswith("src/greenroom/__init__.py")


def test_what_is_hidden_inside_of_what_is_shown_stays_hidden(folder: Path) -> None:
    python = install_greenroom(folder)
    environment_folder = folder / ".venv"
    data, home = environment_folder / "data", folder / "src"
    secrets = [data / "operator.token", home / ".ssh" / "id_rsa", home / ".netrc", folder / "beside"]
    for secret in secrets:
        secret.parent.mkdir(parents=True, exist_ok=True)
        secret.write_text("canary")
    start = wrapped(python, data, home, folder / "desk")
    look = f"import os; print(sum(os.path.exists(p) and os.path.getsize(p) for p in {[str(s) for s in secrets]!r}))"
    assert ran([*start[:-1], look]).strip() == "0"


def test_a_program_of_npm_below_tmp_is_started_with_its_interpreter_and_its_packages(folder: Path) -> None:
    program, runtime = install_cli(folder)
    desk = folder / "desk"
    desk.mkdir()
    linked = folder / "local" / "bin" / "agent"
    linked.parent.mkdir(parents=True)
    linked.symlink_to(program)
    box = make_sandbox("bwrap", folder / "data" / "node", None, [])
    assert box is not None
    path = f"{runtime}:/usr/bin:/bin"
    for command in (program, linked):
        done = subprocess.run(
            box.wrap([str(command)], desk, path), env={"PATH": path}, capture_output=True, text=True, timeout=WAIT_S
        )
        assert (done.stdout, done.returncode) == ("the dependency is there\n", 0), done.stderr


def test_an_agent_cannot_have_a_hidden_folder_shown_by_changing_its_program(folder: Path) -> None:
    hidden = folder / "data" / "tools" / "bin"
    for path in (hidden, folder / "data" / "node", folder / "desk"):
        path.mkdir(parents=True)
    shutil.copy("/bin/cat", hidden / "cat")
    (folder / "data" / "tools" / "key").write_text("canary")
    (folder / "desk" / "link").symlink_to(hidden / "cat")
    (folder / "desk" / "folder").symlink_to(hidden)
    (folder / "desk" / "script").write_text(f"#!{hidden / 'cat'}\n")
    box = make_sandbox("bwrap", folder / "data" / "node", None, [])
    assert box is not None
    for program in ("link", "folder/cat", "script"):
        assert not [
            shown
            for shown in box.find_shown(str(folder / "desk" / program), folder / "desk")
            if shown.is_relative_to(folder)
        ]


def examine(python: Path, data: Path) -> dict[str, str]:
    """What the doctor of this installation says of the sandbox."""
    command = [str(python), "-m", "greenroom", "doctor", "--json", "--data", str(data)]
    env = environment(data, GREENROOM_PORT="0")
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=WAIT_S, check=False)
    (found,) = (finding for finding in json.loads(done.stdout) if finding["name"] == "sandbox")
    return dict(found)


def test_a_prefix_that_is_the_hubs_own_directory_is_refused_and_the_doctor_says_so(folder: Path) -> None:
    python = install_greenroom(folder)
    data = folder / ".venv"
    (data / "node").mkdir()
    found = examine(python, data)
    assert found["level"] == "note"
    assert found["found"].startswith(f"the sandbox hides {data}, which the agent needs to start: install it in another")


def test_the_doctor_lists_what_the_sandbox_shows_of_what_it_covers(folder: Path) -> None:
    found = examine(install_greenroom(folder), folder / "data")
    assert found["level"] == "ok", found
    assert str(folder / ".venv") in found["found"]
    assert str(folder / "src") in found["found"]


def test_a_machine_on_which_bubblewrap_cannot_work_refuses_with_its_words(tmp_path: Path) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n")
    fake.chmod(0o755)
    with pytest.raises(ValueError, match=r"cannot make a sandbox .*uid map: Permission denied.*namespaces"):
        Sandbox([], [], path=str(tmp_path))
