"""What is printed: text of strangers without its powers over a terminal, tables, and JSON."""

import json
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from greenroom.log.errors import Refused

_LEAST = 16
"""Columns that a folded cell needs to be read with ease."""
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def line(text: object) -> str:
    """Text as part of one line: what could move the cursor, hide, or begin a new line is shown as an escape."""
    return "".join(_escape(c) if unicodedata.category(c) in _HIDDEN else c for c in str(text))


def lines(text: str) -> str:
    """Text of several lines, which stay; all else as in `line`."""
    return "\n".join("\t".join(line(cell) for cell in row.split("\t")) for row in text.split("\n"))


def _escape(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def width(text: str) -> int:
    """How many columns a text takes: some characters take two, and marks upon others none."""
    return sum(_columns(char) for char in text)


def _columns(char: str) -> int:
    return 0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1


def cut(text: str, most: int) -> str:
    """A text that takes at most so many columns, with a mark where it was cut."""
    if width(text) <= most:
        return text
    room = most - 1
    for place, char in enumerate(text):
        room -= _columns(char)
        if room < 0:
            return text[:place] + "…"
    return text


def columns() -> int:
    """How many columns a row may take: all but one of the terminal's, or as many as it likes in a pipe."""
    return shutil.get_terminal_size().columns - 1 if sys.stdout.isatty() else sys.maxsize


def padded(text: str, wide: int) -> str:
    """A text with blanks after it, as many columns wide as is wanted."""
    return text + " " * (wide - width(text))


def show_json(value: Any) -> None:
    """A value for programs: one line, ASCII only, so that it is safe on a terminal too."""
    print(json.dumps(value, ensure_ascii=True), flush=True)


def show_table(rows: Iterable[Sequence[object]], heads: Sequence[str]) -> None:
    """Rows under their heads, each cell on one line; on a terminal that is too narrow the last ones are folded."""
    cells = [[head.upper() for head in heads], *([line(cell) for cell in row] for row in rows)]
    widths = [max(width(row[i]) for row in cells) for i in range(len(heads))]
    room = columns()
    kept = len(widths) - 1
    while kept > 1 and sum(widths[:kept]) + len("  ") * (kept - 1) > room:
        kept -= 1
    before = sum(widths[:kept]) + len("  ") * kept
    for row in cells:
        begin, last = _in_columns(row[:kept], widths), _in_columns(row[kept:], widths[kept:]).rstrip()
        if not last or before + width(last) <= room:
            print((begin + last).rstrip())
        elif room - before >= _LEAST:
            print(begin + f"\n{' ' * before}".join(folded(last, room - before)))
        else:
            print("\n    ".join([begin.rstrip(), *folded(last, max(_LEAST, room - 4))]))


def _in_columns(cells: list[str], widths: list[int]) -> str:
    return "".join(f"{padded(cell, most)}  " for cell, most in zip(cells, widths, strict=False))


def folded(text: str, wide: int) -> list[str]:
    """A text on as many lines as it takes, cut between words where there are some."""
    out: list[str] = []
    while width(text) > wide:
        end = len(cut(text, wide + 1)) - 1
        space = text.rfind(" ", 1, end + 1)
        end = space if space > 0 else end
        out.append(text[:end].rstrip())
        text = text[end:].lstrip()
    return [*out, text]


def local_time(text: str) -> str:
    """A time of the hub (RFC 3339) as a clock on the wall shows it, to the minute."""
    return datetime.fromisoformat(text).astimezone().strftime("%Y-%m-%d %H:%M")


def duration(ms: int | None) -> str:
    """A time that people can read."""
    if ms is None:
        return ""
    if ms < 60_000:
        return f"{ms / 1000:.1f} s"
    minutes, seconds = divmod(ms // 1000, 60)
    return f"{minutes} min {seconds} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def show_message(message: Mapping[str, Any]) -> None:
    """A message: who and when on one line, what was said indented below it, so that no text can pose as a head."""
    print(f"[{message['seq']}] {line(message['author'])} ({line(message['role'])}) {line(message['created_at'])}")
    print("\n".join(f"    {row}" for row in lines(message["content"]).split("\n")), flush=True)


def read_stdin() -> str:
    """All of the standard input as text."""
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise Refused("bad_text", f"The standard input is no text in UTF-8 ({error.reason}).") from error


def explained(error: Exception) -> str:
    """Why a file could not be used, in words without numbers of errors."""
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


def say(text: str) -> None:
    """Tell a person something that is not the answer."""
    print(text, file=sys.stderr, flush=True)
