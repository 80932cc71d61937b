"""The first minute of the README works when it is followed to the letter, in both languages."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests import ROOT
from tests.conftest import checked


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def hub_at_home(home: Path) -> Iterator[HubProcess]:
    """What `make run` starts, on a free port."""
    yield from checked(HubProcess(home / ".greenroom"))


def steps(readme: str) -> str:
    """The commands for the second terminal with which two agents talk."""
    path, talk = re.findall(r"```bash\n((?:export PATH|greenroom token).*?)```", (ROOT / readme).read_text(), re.DOTALL)
    return f"{path}{talk}"


@pytest.mark.anywhere
@pytest.mark.parametrize("readme", ["README.md", "README.zh-CN.md"])
def test_two_agents_talk_in_the_first_minute(hub_at_home: HubProcess, home: Path, readme: str) -> None:
    ran = subprocess.run(
        ["bash", "-eu", "-c", steps(readme)],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        timeout=WAIT_S,
    )
    assert ran.returncode == 0, ran
    *_, shown = ran.stdout.partition("[")
    heads = [line for line in shown.splitlines() if re.match(r"\[?\d+\] ", line)]
    assert [head.split()[1] for head in heads] == ["Ann", "Ann", "Bob"]
    assert "Bob" in ran.stdout


@pytest.mark.parametrize("readme", ["README.md", "README.zh-CN.md"])
def test_what_the_readme_says_to_type_first_are_targets_of_make(readme: str) -> None:
    text = (ROOT / readme).read_text()
    first = re.search(r"```bash\n(.*?)```", text, re.DOTALL)
    assert first is not None
    assert [line.split()[:2] for line in first[1].splitlines()] == [["make", "run"], ["make", "test"]]
    makefile = (ROOT / "Makefile").read_text()
    assert "\nrun: " in makefile
    assert "\ntest: " in makefile


@pytest.mark.parametrize("english", ["README.md", "docs/promises.md"])
def test_the_chinese_page_has_the_shape_of_the_english_one(english: str) -> None:
    texts = [(ROOT / name).read_text() for name in (english, english.replace(".md", ".zh-CN.md"))]
    for pattern in (r"^#+ ", r"^\| ", r"^```", r"^- "):
        first, second = (len(re.findall(pattern, text, re.M)) for text in texts)
        assert first == second, pattern
    for pattern in (r"`(tests/[^`]+)`", r"\]\(([^)]+)\)"):
        first, second = ({found.replace(".zh-CN", "") for found in re.findall(pattern, text)} for text in texts)
        assert first == second, pattern


def test_every_story_that_is_told_about_agents_names_a_test_or_a_command() -> None:
    stories = [line for line in (ROOT / "docs/why.md").read_text().splitlines() if line.startswith('| "')]
    assert len(stories) > 10
    for story in stories:
        assert re.search(r"`(tests/|greenroom )", story.split("|")[3]), story
