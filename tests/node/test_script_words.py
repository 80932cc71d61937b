"""Words of others are never part of a script that a shell runs."""

from pathlib import Path

import pytest

from tests.stage import Stage

HOSTILE = "x'; touch made; echo '"


@pytest.mark.parametrize(
    "command", [["sh", "-c", "echo '{prompt}'"], ["env", "A=1", "/bin/bash", "-lc", "echo {prompt}"]]
)
def test_a_placeholder_in_the_script_of_a_shell_starts_nothing(
    stage: Stage, tmp_path: Path, command: list[str]
) -> None:
    stage.profile("script", driver="command", command=command, directory=str(tmp_path))
    ended = stage.done(HOSTILE, profile="script")
    assert (ended["status"], list(tmp_path.glob("made"))) == ("failed", [])
    assert "a shell would run" in ended["error"]


def test_a_placeholder_behind_the_script_of_a_shell_is_one_word(stage: Stage, tmp_path: Path) -> None:
    command = ["sh", "-c", 'echo "$1"', "sh", "{prompt}"]
    stage.profile("word", driver="command", command=command, directory=str(tmp_path))
    ended = stage.done(HOSTILE, profile="word")
    assert (ended["status"], list(tmp_path.glob("made"))) == ("completed", [])
