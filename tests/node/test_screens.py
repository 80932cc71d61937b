"""Nothing that a program writes to its terminal has power over the terminal of whoever looks at it."""

import re
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from greenroom.node.screen_model import SCROLLBACK_BYTES
from greenroom.node.screens import MOST_COLUMNS, MOST_ROWS, Screen

_HARMLESS = re.compile(r"(?:\x1b\[[0-9;]*m|[^\x00-\x1f\x7f-\x9f])*")
_ANSWERS = re.compile(rb"(?:\x1b\[[0-9;?]*[cRn]|\x1b\[\?[0-9;]*c)*")
CORPUS = {
    "clipboard": b"\x1b]52;c;cm0gLXJmIH4=\x07",
    "clipboard, as C1": b"\xc2\x9d52;c;cm0gLXJmIH4=\xc2\x9c",
    "clipboard read": b"\x1b]52;c;?\x1b\\",
    "title": b"\x1b]0;rm -rf ~\x07",
    "title report": b"\x1b]2;echo owned\x07\x1b[21t",
    "icon and title stack": b"\x1b[22;0t\x1b[23;0t",
    "hyperlink": b"\x1b]8;;file:///etc/passwd\x1b\\click\x1b]8;;\x1b\\",
    "notification": b"\x1b]9;look\x07\x1b]777;notify;a;b\x07",
    "working directory": b"\x1b]7;file://host/etc\x07",
    "shell integration": b"\x1b]133;A\x07\x1b]633;E;rm -rf ~\x07",
    "picture": b"\x1b]1337;File=name=x:AAAA\x07",
    "kitty picture": b"\x1b_Gf=24,s=1,v=1;AAAA\x1b\\",
    "sixel": b"\x1bPq#0;2;0;0;0~~@@\x1b\\",
    "settings request": b"\x1bP$q\x22p\x1b\\",
    "terminfo request": b"\x1bP+q544e\x1b\\",
    "user keys": b"\x1bP1;1|17/726d202d7266\x1b\\",
    "answerback": b"\x05",
    "colours changed": b"\x1b]4;1;rgb:00/00/00\x07\x1b]10;#000\x07\x1b]11;?\x07",
    "tmux passthrough": b"\x1bPtmux;\x1b\x1b]52;c;AAAA\x07\x1b\\",
    "screen title": b"\x1bkowned\x1b\\",
    "keyboard protocol": b"\x1b[>1u\x1b[=5;1u\x1b[?u",
    "mouse": b"\x1b[?1000h\x1b[?1003h\x1b[?1006h",
    "focus and paste": b"\x1b[?1004h\x1b[?2004h",
    "alternate page": b"\x1b[?1049h\x1b[?47h",
    "reset": b"\x1bc\x1b[!p",
    "resize": b"\x1b[8;1;1t\x1b[?3h\x1b[?40h",
    "print": b"\x1b[5i\x1b[4i",
    "alignment": b"\x1b#8",
    "charsets": b"\x1b(0\x0e\x1b)B\x0f",
    "hidden text": b"\x1b[8mhidden\x1b[28m",
    "bidi": "\u202egnp.exe\u202c\u2066x\u2069".encode(),
    "invisible": "a\u200b\u200d\ufeff\u00adb".encode(),
    "marks without end": b"e" + "\u0301".encode() * 5000,
    "string without end": b"\x1b]0;" + b"A" * 300_000,
    "sequence without end": b"\x1b[" + b"1;" * 50_000,
    "huge counts": b"\x1b[99999999b\x1b[99999999S\x1b[99999999L\x1b[99999999X\x1b[99999999;99999999H",
    "save without end": b"\x1b7" * 50_000,
    "torn utf-8": b"\xe2\x82\xf0\x9f\xff\xfe",
    "nul and delete": b"\x00\x7f\x08\x08\x0b\x0c",
    "eight-bit controls": bytes(range(0x80, 0xA0)),
}


def look(data: bytes, piece: int = 0) -> tuple[Screen, bytes]:
    """A screen after a program has written this, at once or in pieces; and what it was answered."""
    answers = bytearray()
    screen = Screen(24, 80, answers.extend)
    step = piece or len(data) or 1
    for at in range(0, len(data), step):
        screen.feed(data[at : at + step])
    return screen, bytes(answers)


def assert_harmless(screen: Screen, answers: bytes) -> None:
    drawn = screen.draw(whole=True)
    for text in (*drawn["lines"].values(), *drawn["above"]):
        assert _HARMLESS.fullmatch(text), repr(text)
    assert _ANSWERS.fullmatch(answers), answers
    assert screen.size == (24, 80)
    assert sum(len(text) for text in drawn["lines"].values()) < 200_000
    assert screen.scrollback.size <= SCROLLBACK_BYTES


@pytest.mark.parametrize("name", CORPUS)
@pytest.mark.parametrize("piece", [0, 1, 7])
def test_an_escape_has_no_power_over_who_looks(name: str, piece: int) -> None:
    data = CORPUS[name] if piece != 1 else CORPUS[name][:3000]
    screen, answers = look(b"before " + data + b"\x1b\\\x07 after", piece)
    assert_harmless(screen, answers)
    screen.feed(b"\x1bcstill drawn")
    assert any("still drawn" in row for row in screen.text())


@settings(max_examples=150, deadline=None)
@given(parts=st.lists(st.one_of(st.sampled_from(list(CORPUS.values())).map(lambda b: b[:500]), st.binary(max_size=40))))
def test_no_mixture_of_escapes_has_power_either(parts: list[bytes]) -> None:
    screen, answers = look(b"".join(parts), 11)
    assert_harmless(screen, answers)


STORMS = {
    "test pictures": b"\x1b#8",
    "reversed cells": b"\x1b[?5h\x1b[?5l",
    "reversed cells, without a mark": b"\x1b[160h\x1b[160l",
    "erased screens": b"\x1b[7m\x1b[2J",
    "half erased screens": b"\x1b[H\x1b[J",
    "repeated letters": b"x\x1b[999b",
    "deleted letters": b"\x1b[P",
    "inserted letters": b"\x1b[4hx",
    "scrolled lines": b"\n",
    "changes of the page": b"\x1b[?1049hx\x1b[?1049l",
    "resets": b"\x1bc",
}


@pytest.mark.parametrize("storm", STORMS)
def test_a_storm_of_sequences_costs_less_than_filling_the_screen(storm: str) -> None:
    """A node reads pieces of 2 kB, between which it does everything else."""
    screen, _ = look(b"")
    screen.resize(MOST_ROWS, MOST_COLUMNS)
    filling_s = measure_cpu_s(lambda: screen.feed((b"x" * MOST_COLUMNS + b"\r\n") * MOST_ROWS))
    storming_s = measure_cpu_s(lambda: screen.feed((STORMS[storm] * 2048)[:2048]))
    assert storming_s < filling_s
    screen.feed(b"\x1bcstill drawn")
    assert any("still drawn" in row for row in screen.text())


def measure_cpu_s(work: Callable[[], object]) -> float:
    began = time.thread_time()
    work()
    return time.thread_time() - began


def test_a_large_screen_is_drawn_in_parts_that_add_up_to_it() -> None:
    screen, _ = look(b"")
    screen.resize(MOST_ROWS, MOST_COLUMNS)
    for row in range(MOST_ROWS):
        screen.feed(f"\x1b[{row + 1};1Hrow {row}".encode())
    parts = [screen.draw(whole=True)]
    while screen.changed:
        parts.append(screen.draw(whole=False))
    assert [part["whole"] for part in parts] == [True, *[False] * (len(parts) - 1)]
    assert max(len(part["lines"]) for part in parts) * MOST_COLUMNS <= 16_000
    drawn = {int(row): text for part in parts for row, text in part["lines"].items()}
    assert [drawn[row] for row in range(MOST_ROWS)] == [f"row {row}" for row in range(MOST_ROWS)]


def test_a_program_does_not_change_the_width() -> None:
    screen, _ = look(b"\x1b[?3h\x1b[96h")
    assert screen.size == (24, 80)


def test_a_screen_is_never_larger_than_it_may_be() -> None:
    screen, _ = look(b"x")
    screen.resize(10**9, 10**9)
    assert screen.size == (MOST_ROWS, MOST_COLUMNS)
    screen.resize(-5, 0)
    assert screen.size == (2, 2)
