"""Every command explains itself, ends with the right code, and starts quickly."""

import argparse
import resource
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from greenroom.cli.main import build_parser
from greenroom.testing.timeouts import WAIT_S
from tests.cli.shell import greenroom


def commands(
    of: argparse.ArgumentParser, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], argparse.ArgumentParser]]:
    """Every command that can be run, with its parser."""
    inner = [action for action in of._actions if isinstance(action, argparse._SubParsersAction)]
    if not any(action.required for action in inner):
        yield path, of
    for action in inner:
        named = {choice.dest: action.choices[choice.dest] for choice in action._choices_actions}  # without aliases
        for name, chosen in named.items():
            yield from commands(chosen, (*path, name))


COMMANDS = dict(commands(build_parser()))


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_has_help_with_an_example(path: tuple[str, ...]) -> None:
    text = COMMANDS[path].format_help()
    assert f"example: greenroom {' '.join(path)}" in text or path == ("mcp",)
    assert "example:" in text
    assert "--data" in text


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_that_answers_can_answer_in_json(path: tuple[str, ...]) -> None:
    if path not in {("serve",), ("demo",), ("mcp",), ("node",), ("agent", "attach")}:
        assert "--json" in COMMANDS[path].format_help()


@pytest.mark.parametrize("args", [[], ["nonsense"], ["thread"], ["thread", "show"], ["thread", "list", "--limit", "x"]])
def test_wrong_use_exits_2_and_shows_the_usage(tmp_path: Path, args: list[str]) -> None:
    ran = greenroom(tmp_path / "data", *args)
    assert ran.code == 2
    assert "usage: greenroom" in ran.err


@pytest.mark.parametrize(
    "args", [["thread", "list"], ["agent", "list"], ["token", "list"], ["audit", "list"], ["mcp"], ["token", "login"]]
)
def test_without_a_hub_commands_exit_3_and_say_how_to_start_one(tmp_path: Path, args: list[str]) -> None:
    ran = greenroom(tmp_path / "data", *args)
    assert (ran.code, ran.out) == (3, "")
    assert "greenroom serve" in ran.err
    assert len(ran.err.strip().splitlines()) == 1
    assert not (tmp_path / "data").exists()


def test_a_hub_that_was_killed_is_told_apart_from_none(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "hub.json").write_text('{"url": "http://127.0.0.1:9", "pid": 1}')
    (data / "operator.token").write_text("gr_operator_x")
    ran = greenroom(data, "thread", "list")
    assert ran.code == 3
    assert "http://127.0.0.1:9" in ran.err
    (data / "hub.json").write_text("half")
    ran = greenroom(data, "thread", "list")
    assert (ran.code, "--url" in ran.err) == (3, True)


@pytest.mark.parametrize("args", [["check"], ["backup", "x.tar"], ["audit", "verify"]])
def test_without_a_database_the_operators_tools_say_so(tmp_path: Path, args: list[str]) -> None:
    ran = greenroom(tmp_path / "data", *args)
    assert (ran.code, ran.out) == (1, "")
    assert "--data" in ran.err


def test_help_comes_at_once() -> None:
    """Processor time of the best of several runs, so that neither a busy nor a slow machine counts."""
    standard = min(_cpu_seconds("-c", "import argparse, asyncio, json, pathlib, ssl") for _ in range(5))
    assert min(_cpu_seconds("-m", "greenroom", "--help") for _ in range(5)) < 4 * standard


def _cpu_seconds(*args: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *args], check=True, stdout=subprocess.DEVNULL, timeout=WAIT_S)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


@pytest.mark.anywhere
def test_a_reader_who_has_seen_enough_causes_no_complaint(tmp_path: Path) -> None:
    line = f"{shlex.quote(sys.executable)} -m greenroom doctor --data {shlex.quote(str(tmp_path))} | head -n 1"
    shown = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=WAIT_S)
    assert shown.stderr == ""
    assert shown.stdout.startswith("ok")


@pytest.mark.parametrize(
    "url", ["zz", "http://127.0.0.1:door", "http://[::1", "http://127.0.0.1:99999", "http://127.0.0.1:0"]
)
def test_what_is_no_address_is_named_as_such(tmp_path: Path, url: str) -> None:
    ran = greenroom(tmp_path, "thread", "list", "--url", url, "--token", "gr_x")
    assert (ran.code, ran.out) == (1, "")
    assert "is no address of a hub" in ran.err


@pytest.mark.parametrize("token", ["two\nlines", "gr_\u00fc"])
def test_what_is_no_token_is_named_as_such(tmp_path: Path, token: str) -> None:
    ran = greenroom(tmp_path, "thread", "list", "--url", "http://127.0.0.1:9", "--token", token)
    assert (ran.code, "A token is one word" in ran.err) == (1, True)


@pytest.mark.parametrize("port", ["-1", "65536", "99999"])
def test_a_port_that_does_not_exist_is_refused(tmp_path: Path, port: str) -> None:
    ran = greenroom(tmp_path / "data", "serve", "--port", port)
    assert (ran.code, "write a whole number from 0 to 65535" in ran.err) == (1, True)


@pytest.mark.parametrize(
    "args",
    [
        ["ask", "list", "--state", "bogus"],
        ["ask", "list", "--kind", "bogus"],
        ["dag", "list", "--status", "bogus"],
        ["thread", "list", "--status", "bogus"],
        ["runs", "list", "--status", "bogus"],
        ["agent", "list", "--status", "bogus"],
        ["token", "create", "--name", "x", "--days", "-1"],
        ["token", "create", "--name", "x", "--days", "99999999"],
    ],
)
def test_a_word_that_is_not_known_is_not_taken_for_an_empty_list(tmp_path: Path, args: list[str]) -> None:
    ran = greenroom(tmp_path / "data", *args)
    assert (ran.code, "usage: greenroom" in ran.err) == (2, True)


@pytest.mark.parametrize(("args", "listed"), [([], "start the hub"), (["thread"], "export a thread as Markdown")])
def test_who_says_no_verb_is_shown_what_there_is(tmp_path: Path, args: list[str], listed: str) -> None:
    assert listed in greenroom(tmp_path, *args).err


def test_a_mistyped_verb_is_answered_with_what_was_perhaps_meant(tmp_path: Path) -> None:
    assert "did you mean thread?" in greenroom(tmp_path, "trhead", "list").err
    assert "did you mean list?" in greenroom(tmp_path, "thread", "lsit").err
    assert "there are list, show" in greenroom(tmp_path, "thread", "xyz").err


def test_a_mistyped_word_of_an_option_is_answered_with_what_was_perhaps_meant(tmp_path: Path) -> None:
    mistyped = greenroom(tmp_path, "runs", "list", "--status", "runing").err
    assert "argument --status: there is no 'runing': did you mean running?" in mistyped


def test_a_budget_below_zero_is_refused_by_the_verb(tmp_path: Path) -> None:
    ran = greenroom(tmp_path / "data", "run", "rehearsal", "SAY hi", "--cost", "-1")
    assert (ran.code, "argument --cost: write a number from 0 on" in ran.err) == (2, True)


def test_an_option_that_a_verb_does_not_have_is_told_of_by_that_verb(tmp_path: Path) -> None:
    mistyped, unknown = greenroom(tmp_path, "runs", "list", "--jsn"), greenroom(tmp_path, "runs", "list", "--most", "6")
    assert (mistyped.code, unknown.code) == (2, 2)
    assert "'--jsn' is not understood: did you mean --json?" in mistyped.err
    assert "'--most 6' is not understood: see `greenroom runs list --help`." in unknown.err


def test_help_is_a_word_too(tmp_path: Path) -> None:
    assert "start the hub" in greenroom(tmp_path, "help").out
    assert "--no-open" in greenroom(tmp_path, "help", "demo").out
