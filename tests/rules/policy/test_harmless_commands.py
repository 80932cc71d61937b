"""Whatever the policy calls harmless is run, with every option, in three real shells: nothing may change or leak."""

import hashlib
import shlex
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from greenroom.link.policy_facts.call_request import CallRequest
from greenroom.link.policy_facts.read_only_programs import READERS, ReadOnlyProgram
from greenroom.rules.policy.judge import judge
from greenroom.testing.machine_requirements import need_program
from greenroom.testing.timeouts import TEST_LIMIT_S
from tests.rules.policy.shelf import NOW, Shelf

SHELLS = ("bash", "dash", "zsh")
CANARY = "canary-of-what-is-secret"
PIECES = (
    *("ls", "cat", "echo", "printf", "grep", "date", "pwd", "sort", "rg", "head", "zsh -c", "sh -c", "test", "["),
    *(
        "a.txt",
        ".",
        "..",
        "link",
        "-v",
        "-n",
        "-f",
        "-o",
        "made",
        "PATH",
        "%n",
        "%d",
        "=ls",
        "+%F",
        "1",
        "~",
        "=",
        "@a.txt",
    ),
    *(
        "'x[$(touch made)]'",
        '"x[$(touch made)]"',
        "x[1]",
        "'touch made'",
        "$(touch made)",
        "`touch made`",
        "$HOME",
        "*",
    ),
    *(
        "*(e:'touch made':)",
        "{a.txt,made}",
        ";",
        "|",
        "&&",
        "||",
        "&",
        ">made",
        "<a.txt",
        "<<<made",
        "!!",
        "#",
        "\\",
        "''",
    ),
)


def is_allowed(command: str, directory: str) -> bool:
    return (
        judge(Shelf(), CallRequest(tool="Bash", arguments={"command": command}, directory=directory), NOW).decision
        == "allow"
    )


def options_of(reader: ReadOnlyProgram) -> Iterable[str]:
    yield ""
    yield from (f"-{letter}" for letter in reader.flags + reader.values)
    yield from (f"-{letter}{glued}" for letter in reader.values for glued in ("1", "o", "R", "l"))
    yield from sorted(reader.long)
    yield from (f"{name}=1" for name in sorted(reader.long))
    if reader.numbers:
        yield "-1"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A folder with an open file, a secret, and a link that leads out of it to another secret."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text(CANARY)
    inside = tmp_path / "work"
    inside.mkdir()
    (inside / "a.txt").write_text("1 one\n2 two\n")
    (inside / "b.txt").write_text("1 one\n3 three\n")
    (inside / ".env").write_text(CANARY)
    (inside / "link").symlink_to(outside)
    return inside


def run_in_shells(lines: list[str], workspace: Path) -> bytes:
    """Run each line in each shell, with no network and nothing but the workspace to write in; what they printed."""
    bwrap = str(need_program("bwrap"))
    script = "".join(
        f"timeout 20 {need_program(shell)} -c {shlex.quote(line)} </dev/null\n" for shell in SHELLS for line in lines
    )
    jail = [bwrap, "--die-with-parent", "--unshare-all", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    jail += ["--bind", str(workspace), str(workspace), "--chdir", str(workspace), "--", "sh", "-s"]
    done = subprocess.run(jail, input=script.encode(), capture_output=True, timeout=TEST_LIMIT_S, check=False)
    return done.stdout + done.stderr


def snapshot(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): f"{path.lstat().st_mode} {path.lstat().st_mtime_ns} "
        + (hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() and not path.is_symlink() else "")
        for path in sorted(folder.rglob("*"))
    }


def assert_harmless(lines: list[str], workspace: Path) -> None:
    before = snapshot(workspace.parent)
    printed = run_in_shells(lines, workspace)
    assert snapshot(workspace.parent) == before
    assert CANARY.encode() not in printed


@pytest.mark.timeout(2 * TEST_LIMIT_S)
def test_no_option_of_a_reading_program_changes_or_discloses_anything(workspace: Path) -> None:
    lines = [
        f"{program} {option} {operand}"
        for program, reader in READERS.items()
        for option in options_of(reader)
        for operand in (("1 a.txt .", "1 made .") if option else (".", "a.txt b.txt"))
    ]
    allowed = [line for line in lines if is_allowed(line, str(workspace))]
    assert len(allowed) > len(lines) // 2  # the table is about what is allowed, not about what asks
    assert_harmless(allowed, workspace)


@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(st.lists(st.lists(st.sampled_from(PIECES), min_size=1, max_size=5).map(" ".join), min_size=150, max_size=300))
@pytest.mark.timeout(2 * TEST_LIMIT_S)
def test_no_line_that_is_allowed_changes_or_discloses_anything(workspace: Path, lines: list[str]) -> None:
    resolved = [line for line in lines if "link" not in line and is_allowed(line, str(workspace))]
    if resolved:
        assert_harmless(resolved, workspace)
