"""Reading a call takes work in proportion to its size, and no more than the budget: counted, not timed."""

import sys
from types import FrameType
from typing import Any

import pytest

from greenroom.link.policy_facts import shell_parser
from greenroom.link.policy_facts.call_request import CallRequest
from greenroom.link.policy_facts.parse_budget import ReadingBudget, TextSource
from greenroom.runtimes.call_facts import read_call_facts
from tests.security.test_freezes import CALLS, COMMANDS

MOST_CALLS = 250_000
UNITS = [
    "a;",
    "a|",
    "$(a ",
    "'a' ",
    '"$a" ',
    "<<A ",
    "a=b ",
    ">a ",
    "a?",
    ")",
    "${a:-",
    "{a,b}",
    "eval ",
    "sudo ",
    "env -S ",
]
WRAPPED = ["flock ", "env ", "su -c ", "xargs ", "nohup "]


def count_calls(tool: str, arguments: Any) -> int:
    """How many functions are called to see what a call does, those in C included."""
    calls = 0

    def count(frame: FrameType, event: str, arg: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    shell_parser.parse_shell.cache_clear()
    wanted = CallRequest(tool=tool, arguments=arguments, directory="/w")
    sys.setprofile(count)
    try:
        read_call_facts(wanted)
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("name", CALLS)
def test_no_call_takes_more_than_so_many_steps(name: str) -> None:
    assert count_calls(*CALLS[name]) < MOST_CALLS


@pytest.mark.parametrize("unit", UNITS)
def test_twice_the_text_takes_twice_the_steps_at_most(unit: str) -> None:
    once, twice = [count_calls("Bash", {"command": (unit * chars)[:chars]}) for chars in (4000, 8000)]
    assert twice < 2.5 * once + 1000


@pytest.mark.parametrize("wrapper", WRAPPED)
def test_commands_that_hold_commands_do_not_multiply(wrapper: str) -> None:
    inner = wrapper * 12 + '"' + "a;" * 150 + '"'
    parsed = shell_parser.parse_shell(wrapper * 12 + f"'{inner}'")
    assert len(parsed.commands) <= 200
    assert count_calls("Bash", {"command": wrapper * 12 + f"'{inner}'"}) < MOST_CALLS


@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_beyond_the_budget_cannot_be_inspected(name: str) -> None:
    facts = read_call_facts(CallRequest(tool="Bash", arguments={"command": COMMANDS[name]}, directory="/w"))
    assert facts.doubt or name == "a long name of a host"


def test_a_grammar_that_goes_back_too_often_gets_no_more_text() -> None:
    source = TextSource(b"x" * 6400)
    for _ in range(900):
        source.read(0, None)
    assert source.is_exhausted
    assert source.read(0, None) == b""
    assert shell_parser.parse_shell("a?" * 400).doubt


def test_a_budget_is_shared_by_a_text_and_the_texts_in_it() -> None:
    budget = ReadingBudget()
    while not budget.refuse("x" * 19_000):
        pass
    assert not budget.take()


def test_an_ordinary_script_is_read_whole() -> None:
    lines = [f"mkdir -p build/{n} && cp src/{n}.c build/{n}/ 2>/dev/null || echo none" for n in range(60)]
    assert shell_parser.parse_shell("\n".join(lines)).doubt is None
