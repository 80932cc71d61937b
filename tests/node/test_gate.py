"""Between an approval and the run: whatever is swapped meanwhile, only what was approved may run."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from greenroom.link.call_digest import Subject, hash_call
from greenroom.link.orders import DecideOrder
from greenroom.node.call_paths import resolve_call_paths
from greenroom.node.permission_gate import PermissionGate
from greenroom.node.program_digests import digest_programs
from greenroom.runtimes.contract import PermissionAsked

PLACE = Subject(tool="", agent_id="agt_1", run_id="run_1")


def approved_after(gate: PermissionGate, tool: str, arguments: Any, directory: Path) -> DecideOrder:
    """A call is asked about, and this is the order that a person's yes makes."""
    seen = gate.add_call(PermissionAsked(permission="1", call="c", tool=tool, input=arguments), PLACE, directory)
    subject = msgspec.structs.replace(PLACE, tool=tool, arguments=arguments, directory=seen.directory, files=seen.files)
    return DecideOrder(native="1", decision="allow", digest=hash_call(subject))


def test_a_path_that_leads_elsewhere_after_the_approval_is_refused(tmp_path: Path) -> None:
    """AP-05"""
    (tmp_path / "notes").mkdir()
    (tmp_path / "outside").mkdir()
    work = tmp_path / "work"
    work.mkdir()
    (work / "docs").symlink_to(tmp_path / "notes")
    gate = PermissionGate()
    order = approved_after(gate, "Write", {"file_path": "docs/a.txt", "content": "x"}, work)
    (work / "docs").unlink()
    (work / "docs").symlink_to(tmp_path / "outside")
    assert "leads elsewhere" in str(gate.get_refusal(order))


def test_a_plain_folder_that_became_a_link_after_the_approval_is_refused(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    gate = PermissionGate()
    order = approved_after(gate, "Write", {"file_path": "docs/a.txt", "content": "x"}, tmp_path)
    (tmp_path / "docs").rmdir()
    (tmp_path / "docs").symlink_to("/etc")
    assert gate.get_refusal(order) is not None


def test_a_working_directory_that_was_swapped_is_refused(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    work = tmp_path / "work"
    work.symlink_to(tmp_path / "one")
    gate = PermissionGate()
    order = approved_after(gate, "Bash", {"command": "make"}, work)
    work.unlink()
    work.symlink_to(tmp_path / "two")
    assert gate.get_refusal(order) is not None


def test_a_call_of_which_nothing_has_changed_runs(tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text("true")
    gate = PermissionGate()
    order = approved_after(gate, "Bash", {"command": "sh run.sh > out.txt", "cwd": "."}, tmp_path)
    assert gate.get_refusal(order) is None


@pytest.mark.parametrize(
    "command",
    [
        "./run.sh",
        "ls;./run.sh",
        "ls&&./run.sh",
        "ls\n./run.sh",
        "(./run.sh)",
        "echo $(./run.sh)",
        "bash -c './run.sh now'",
        "timeout 5 ./run.sh",
        "nice -n 5 sh run.sh",
        "A=1 ./run.sh",
        "find . -exec ./run.sh {} ;",
        "source run.sh",
        "sh -eu ./run.sh",
        "if true; then ./run.sh; fi",
        "./run.sh 'unfinished",
        "sub/../run.sh",
        "python3 -u run.sh",
        "python3 -W ignore run.sh",
        "python3.11 run.sh",
        "bash < run.sh",
        "cat run.sh | bash",
        "head -5 run.sh | sh -s",
        "make -f run.sh",
        "make -frun.sh",
        "make --file=run.sh",
        "npm exec run.sh",
        "awk -f run.sh data",
        "sed -f run.sh data",
        "perl -I lib run.sh",
        "cd sub && cd .. && bash < run.sh",
        "pushd sub; popd; cat run.sh | sh",
        "zsh run.sh",
        "xargs sh < run.sh",
    ],
)
def test_a_script_is_bound_wherever_it_stands_in_the_command(tmp_path: Path, command: str) -> None:
    """AP-05"""
    script = tmp_path / "run.sh"
    (tmp_path / "sub").mkdir()
    script.write_text("true")
    before = digest_programs("Bash", {"command": command}, tmp_path)
    script.write_text("false")
    assert before
    assert digest_programs("Bash", {"command": command}, tmp_path) != before


@pytest.mark.parametrize(
    "arguments",
    [
        {"command": "cd sub && ./run.sh"},
        {"command": "./run.sh", "workdir": "sub"},
        {"cmd": ["sh", "run.sh"], "cwd": "sub"},
        {"script": "sub/run.sh"},
        {"command": "make -C sub test; cd sub; sh run.sh"},
        {"command": "env -Csub sh run.sh"},
        {"command": "env --chdir=sub sh run.sh"},
        {"command": "cd other; " * 20 + "cd ../sub; sh run.sh"},
    ],
)
def test_a_script_is_bound_in_the_directory_that_it_runs_in(tmp_path: Path, arguments: Any) -> None:
    script = tmp_path / "sub" / "run.sh"
    script.parent.mkdir()
    (tmp_path / "other").mkdir()
    script.write_text("true")
    assert list(digest_programs("Bash", arguments, tmp_path)) in (["sub/run.sh"], ["run.sh"], ["./run.sh"])


def test_neither_size_nor_a_detour_nor_a_crowd_hides_a_script(tmp_path: Path) -> None:
    large = tmp_path / "large.sh"
    with large.open("wb") as file:
        file.truncate(80 << 20)
    before = digest_programs("Bash", {"command": "./large.sh"}, tmp_path)
    with large.open("r+b") as file:
        file.write(b"harm")
    assert digest_programs("Bash", {"command": "./large.sh"}, tmp_path) != before
    (tmp_path / "run.sh").write_text("true")
    detour = f"/usr/..{tmp_path}/run.sh"
    assert list(digest_programs("Bash", {"command": detour}, tmp_path)) == [detour]
    for number in range(20):
        (tmp_path / f"s{number}").write_text("true")
    crowd = "; ".join(f"./s{number}" for number in range(20)) + "; ./run.sh"
    assert "./run.sh" in digest_programs("Bash", {"command": crowd}, tmp_path)
    for number in range(20, 100):
        (tmp_path / f"s{number}").write_text("true")
    crowd = "; ".join(f"./s{number}" for number in range(100)) + "; ./run.sh"
    before = digest_programs("Bash", {"command": crowd}, tmp_path)
    (tmp_path / "run.sh").write_text("false")
    after = digest_programs("Bash", {"command": crowd}, tmp_path)
    assert len(after) == len(before) < 100
    assert after != before


@pytest.mark.parametrize(
    ("command", "file"),
    [
        ("make test", "Makefile"),
        ("make -Csub test", "sub/Makefile"),
        ("make --directory=sub test", "sub/Makefile"),
        ("npm run build", "package.json"),
        ("npm --prefix sub test", "sub/package.json"),
        ("just build", "justfile"),
        ("mvn package", "pom.xml"),
    ],
)
def test_the_file_that_a_builder_runs_unnamed_is_bound(tmp_path: Path, command: str, file: str) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / file).write_text("one")
    bound = digest_programs("Bash", {"command": command}, tmp_path)
    assert list(bound) == [file]
    (tmp_path / file).write_text("another")
    assert digest_programs("Bash", {"command": command}, tmp_path) != bound


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Read", {"file_path": "hub/operator.key"}),
        ("Write", {"file_path": "hub/greenroom.db", "content": ""}),
        ("Bash", {"command": "cat hub/greenroom.db"}),
        ("Bash", {"command": "tee sub/../hub/x"}),
        ("Grep", {"pattern": "gr_", "path": "."}),
        ("Grep", {"pattern": "gr_"}),
    ],
)
def test_the_hubs_files_are_not_an_agents_even_where_they_lie_in_its_folder(
    tmp_path: Path, tool: str, arguments: Any
) -> None:
    (tmp_path / "hub").mkdir()
    (tmp_path / "sub").mkdir()
    assert resolve_call_paths(tmp_path, tool, arguments, tmp_path / "hub").is_own
    assert not resolve_call_paths(tmp_path, "Read", {"file_path": "sub/a"}, tmp_path / "hub").is_own
    desk = tmp_path / "hub" / "node" / "work" / "agt_1"
    desk.mkdir(parents=True)
    assert not resolve_call_paths(desk, "Read", {"file_path": "a.txt"}, tmp_path / "hub").is_own
    assert not resolve_call_paths(desk, "Grep", {"pattern": "x"}, tmp_path / "hub").is_own
