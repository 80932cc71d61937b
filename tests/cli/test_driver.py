"""`greenroom driver`: what is here, and whether it keeps the contract."""

import sys
from pathlib import Path

from greenroom.runtimes.conformance_points import POINTS
from greenroom.runtimes.driver_list import DRIVER_INFOS
from tests.cli.shell import done, greenroom

MINE = f"""
driver = "acp"
command = ["{sys.executable}", "-c", "import os, sys; sys.exit(os.environ['MODEL'])"]

[env]
MODEL = "it was told of {{model_url}}"
"""


def test_every_driver_is_listed_with_what_is_found_here(tmp_path: Path) -> None:
    listed = done(tmp_path, "driver", "list", "--json").json
    assert [one["name"] for one in listed] == list(DRIVER_INFOS)
    found = {one["name"]: one["version"] for one in listed}
    assert found["rehearsal"]
    assert "rehearsal" in done(tmp_path, "driver", "list").out


def test_the_scripted_agent_is_put_through_every_point_and_told_of_one_by_one(tmp_path: Path) -> None:
    ran = done(tmp_path, "driver", "check", "rehearsal", "--json")
    assert [(one["point"], one["verdict"]) for one in ran.json] == [(point, "ok") for point in POINTS]
    told = ran.err.splitlines()
    assert len(told) == len(POINTS) + 1
    assert told[-1] == f"{len(POINTS)} ok, 0 lacking, 0 failed"


def test_an_agent_of_somebodys_own_is_checked_by_its_profile(tmp_path: Path) -> None:
    profile = tmp_path / "mine.toml"
    profile.write_text(MINE)
    ran = greenroom(tmp_path, "driver", "check", "acp", "--profile", str(profile), "--patience", "10")
    assert ran.code == 1
    assert "✗ opens a session" in ran.out
    assert "it was told of http://127.0.0.1:" in ran.out


def test_what_cannot_be_checked_is_refused_with_a_sentence(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.toml"
    wrong.write_text('driver = "acp"\ncomand = "x"\n')
    for words, said in (
        (["check", "nothing"], "There is no driver 'nothing'"),
        (["check", "pty"], "has no conversation to check"),
        (["check", "acp", "--profile", str(wrong)], "did you mean 'command'?"),
        (["check", "claude", "--profile", str(tmp_path / "none.toml")], "none.toml"),
    ):
        ran = greenroom(tmp_path, "driver", *words)
        assert (ran.code, said in ran.err) == (1, True), ran
