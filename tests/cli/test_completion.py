"""Tab in a real shell completes verbs, options, their values, and what the hub has."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from greenroom.testing.timeouts import WAIT_S
from tests.cli.person import Person
from tests.cli.shell import done, environment, greenroom
from tests.stage import Stage

pytestmark = pytest.mark.one_stage
BIN = Path(sys.executable).parent


def completed(data: Path, *words: str) -> list[str]:
    """What bash offers for the last word of a command line."""
    script = done(data, "completion", "bash").out
    typed = " ".join(f"'{word}'" for word in ("greenroom", *words))
    ask = f'\nCOMP_WORDS=({typed}); COMP_CWORD={len(words)}; _greenroom; printf "%s\\n" "${{COMPREPLY[@]}}"\n'
    env = environment(data)
    env["PATH"] = f"{BIN}:{env['PATH']}"
    ran = subprocess.run(
        ["bash", "--norc"], input=script + ask, env=env, capture_output=True, text=True, timeout=WAIT_S
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["st"], ["status", "stop"]),
        (["ask", "de"], ["deny", "delegate"]),
        (["workflow", "gra"], ["graph"]),
        (["ask", "list", "--st"], ["--state", "--status"]),
        (["ask", "list", "--state", ""], ["open", "answered", "expired", "withdrawn", "all"]),
        (["ask", "list", "--risk", "h"], ["high"]),
        (["runs", "list", "--data", "x", "--status", "wai"], ["waiting"]),
        (["runs", "list", "--status", "=", "wai"], ["waiting"]),
        (["completion", ""], ["bash", "zsh", "fish"]),
        (["nonsense", ""], []),
    ],
)
def test_bash_completes_verbs_options_and_their_values(tmp_path: Path, words: list[str], offered: list[str]) -> None:
    assert completed(tmp_path / "data", *words) == offered


def test_bash_completes_profiles_and_ids_of_the_hub(stage: Stage) -> None:
    run_id = stage.done("SAY hello")["id"]
    assert completed(stage.hub.data, "run", "rehe") == ["rehearsal"]
    (found,) = [one for one in completed(stage.hub.data, "runs", "show", "run_") if run_id.endswith(one[4:])]
    assert done(stage.hub.data, "runs", "show", found, "--json").json["id"] == run_id


def test_bash_completes_files(tmp_path: Path) -> None:
    (tmp_path / "team.toml").touch()
    assert completed(tmp_path / "data", "profile", "import", f"{tmp_path}/te") == [f"{tmp_path}/team.toml"]


def test_tab_completes_at_a_prompt(tmp_path: Path) -> None:
    data = tmp_path / "data"
    path = f"{BIN}:{environment(data)['PATH']}"
    with Person(data, "--norc", "-i", program=["bash"], PATH=path, PS1="READY> ") as person:
        person.sees("READY> ")
        person.types('eval "$(greenroom completion bash)"; echo LOADED=$?\n')
        person.sees("LOADED=0")
        person.sees("READY> ")
        person.types("greenroom ask appr\t")
        person.sees("greenroom ask approve ")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_one_that_the_shell_can_read(tmp_path: Path, shell: str) -> None:
    script = tmp_path / "script"
    script.write_text(done(tmp_path, "completion", shell).out)
    if shutil.which(shell):
        checked = subprocess.run([shell, "-n", str(script)], capture_output=True, text=True, timeout=WAIT_S)
        assert (checked.returncode, checked.stderr) == (0, "")
    assert "ask approve" in script.read_text()


def test_a_shell_must_be_named(tmp_path: Path) -> None:
    assert greenroom(tmp_path, "completion").code == 1
    assert greenroom(tmp_path, "completion", "tcsh").code == 2
