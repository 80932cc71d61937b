"""Prints text, tables and JSON. Control characters in the text of others are escaped."""

import json
import re
import shutil
import sys
import time
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from greenroom import settings
from greenroom.errors import Refused

_LEAST = 16
"""Columns that a folded cell needs to be read with ease."""
WHOLE_ID = re.compile(r"[a-z]+_[0-9a-z]{26}")
_SHORT = 6
"""Letters of an id that a list shows on a terminal: its last ones, because ids of one time begin alike."""
_COLOURS = {
    "32": "completed approve approved connected online valid allow armed ready accepted invitable done",
    "31": "failed high deny denied interrupted revoked lost error",
    "33": "waiting paused medium open pending held ask warning delayed queued snoozed draining",
    "36": "running busy starting stopping idle discuss implement review",
    "2": "cancelled asleep skipped withdrawn expired closed archived low off away",
}
_COLOUR_OF = {word: code for code, words in _COLOURS.items() for word in words.split()}
_COLOURED = ("STATUS", "STATE", "IS", "RISK", "SAYS")
"""Columns whose words are coloured."""
_SIZES = ("B", "KiB", "MiB", "GiB", "TiB")
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def escape_line(text: object) -> str:
    """Text as part of one line: what could move the cursor, hide, or begin a new line is shown as an escape."""
    return "".join(_escape_char(c) if unicodedata.category(c) in _HIDDEN else c for c in str(text))


def escape_lines(text: str) -> str:
    """Text of several lines, which stay; all else as in `line`."""
    return "\n".join("\t".join(escape_line(cell) for cell in row.split("\t")) for row in text.split("\n"))


def _escape_char(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def measure_width(text: str) -> int:
    """How many columns a text takes: some characters take two, and marks upon others none."""
    return sum(_measure_char(char) for char in text)


def _measure_char(char: str) -> int:
    return 0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1


def truncate_text(text: str, most: int) -> str:
    """A text that takes at most so many columns, with a mark where it was cut."""
    if measure_width(text) <= most:
        return text
    room = most - 1
    for place, char in enumerate(text):
        room -= _measure_char(char)
        if room < 0:
            return text[:place] + "…"
    return text


def measure_room() -> int:
    """How many columns a row may have: all but one of the terminal's, or any number in a pipe."""
    return shutil.get_terminal_size().columns - 1 if sys.stdout.isatty() else sys.maxsize


def pad_text(text: str, wide: int) -> str:
    """A text with blanks after it, as many columns wide as is wanted."""
    return text + " " * (wide - measure_width(text))


def has_colour() -> bool:
    """Whether colours are shown: on a terminal, unless $NO_COLOR says no."""
    return sys.stdout.isatty() and settings.wants_colour()


def colour_text(text: str) -> str:
    """A text in the colour of the word that it begins with, where there are colours; the text itself stays whole."""
    code = _COLOUR_OF.get(re.split(r"[^a-z]", text, maxsplit=1)[0])
    return f"\x1b[{code}m{text}\x1b[0m" if code and has_colour() else text


def format_id(text: str) -> str:
    """An id as a list shows it: short on a terminal, where every command takes it back, and whole in a pipe."""
    return shorten_id(text) if sys.stdout.isatty() else text


def shorten_id(text: str) -> str:
    """The kind and the last letters of an id; anything else stays as it is."""
    kind, _, letters = text.rpartition("_")
    return f"{kind}_{letters[-_SHORT:]}" if WHOLE_ID.fullmatch(text) else text


def show_json(value: Any) -> None:
    """A value for programs: one line, ASCII only, so that it is safe on a terminal too."""
    print(json.dumps(_put_ids_first(value), ensure_ascii=True), flush=True)


def _put_ids_first(value: Any) -> Any:
    """The same value, in which each object begins with its `id`: people read this too."""
    if isinstance(value, list):
        return [_put_ids_first(item) for item in value]
    if isinstance(value, dict):
        return {name: _put_ids_first(value[name]) for name in sorted(value, key=lambda name: name != "id")}
    return value


def show_table(rows: Iterable[Sequence[object]], heads: Sequence[str], none: str = "") -> None:
    """Rows under their heads, each cell on one line; on a terminal that is too narrow the last ones are folded.

    Where there are no rows, the sentence `none` is said instead, if there is one.
    """
    names = [head.upper() for head in heads]
    cells = [names, *([format_id(escape_line(cell)) for cell in row] for row in rows)]
    if none and len(cells) == 1:
        print_notice(none)
        return
    widths = [max(measure_width(row[i]) for row in cells) for i in range(len(heads))]
    room = measure_room()
    kept = len(widths) - 1
    while kept > 1 and sum(widths[:kept]) + len("  ") * (kept - 1) > room:
        kept -= 1
    before = sum(widths[:kept]) + len("  ") * kept
    for row in cells:
        begin = _join_columns(row[:kept], widths, names)
        last = _join_columns(row[kept:], widths[kept:], ()).rstrip()
        if not last or before + measure_width(last) <= room:
            print((begin + _join_columns(row[kept:], widths[kept:], names[kept:])).rstrip())
        elif room - before >= _LEAST:
            print(begin + f"\n{' ' * before}".join(wrap_text(last, room - before)))
        else:
            print("\n    ".join([begin.rstrip(), *wrap_text(last, max(_LEAST, room - 4))]))


def _join_columns(cells: list[str], widths: list[int], names: Sequence[str]) -> str:
    """Cells as wide as their columns, and in colour where the name of the column says so."""
    out = []
    for place, (cell, most) in enumerate(zip(cells, widths, strict=False)):
        is_coloured = place < len(names) and names[place] in _COLOURED and cell not in _COLOURED
        out.append((colour_text(cell) if is_coloured else cell) + pad_text("", most - measure_width(cell)) + "  ")
    return "".join(out)


def wrap_text(text: str, wide: int) -> list[str]:
    """A text on as many lines as it takes, cut between words where there are some."""
    out: list[str] = []
    while measure_width(text) > wide:
        end = len(truncate_text(text, wide + 1)) - 1
        space = text.rfind(" ", 1, end + 1)
        end = space if space > 0 else end
        out.append(text[:end].rstrip())
        text = text[end:].lstrip()
    return [*out, text]


def format_local_time(text: str) -> str:
    """A time of the hub (RFC 3339) as a clock on the wall shows it, to the minute."""
    return datetime.fromisoformat(text).astimezone().strftime("%Y-%m-%d %H:%M")


def format_duration(ms: int | None) -> str:
    """A time that people can read."""
    if ms is None:
        return ""
    if ms < 60_000:
        return f"{ms / 1000:.1f} s"
    minutes, seconds = divmod(ms // 1000, 60)
    return f"{minutes} min {seconds} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def count_things(count: int, noun: str) -> str:
    """How many of something there are: 1 step, 2 steps."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def format_size(count: int) -> str:
    """A number of bytes that people can read, in powers of 1024."""
    value, unit = float(count), 0
    while value >= 1024 and unit < len(_SIZES) - 1:
        value, unit = value / 1024, unit + 1
    return f"{value:.1f} {_SIZES[unit]}" if unit else f"{count} B"


def format_age(at_ms: int | str) -> str:
    """How long ago a time of the hub is, in milliseconds or as RFC 3339, in one unit."""
    at_s = at_ms / 1000 if isinstance(at_ms, int) else datetime.fromisoformat(at_ms).timestamp()
    gone_s = max(0, int(time.time() - at_s))
    for unit, long_s in (("d", 86_400), ("h", 3600), ("m", 60)):
        if gone_s >= long_s:
            return f"{gone_s // long_s}{unit}"
    return f"{gone_s}s"


def show_message(message: Mapping[str, Any]) -> None:
    """A message: author and time on one line, the text indented below it, so that no text can pose as a head."""
    print(
        f"[{message['seq']}] {escape_line(message['author'])} ({escape_line(message['role'])}) "
        f"{escape_line(message['created_at'])}"
    )
    print("\n".join(f"    {row}" for row in escape_lines(message["content"]).split("\n")), flush=True)


def read_stdin() -> str:
    """All of the standard input as text."""
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise Refused.in_words("bad_text", f"The standard input is no text in UTF-8 ({error.reason}).") from error


def explain_error(error: Exception) -> str:
    """Why a file could not be used, in words without numbers of errors."""
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


def print_notice(text: str) -> None:
    """Print something for a person that is not the answer."""
    print(text, file=sys.stderr, flush=True)
