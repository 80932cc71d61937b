"""A model of what a terminal shows, redrawn for viewers, so that none of its escapes reach them.

The model answers what programs ask of a terminal, whether anybody looks or not, and keeps what has scrolled away in a
ring that is bounded in bytes.
"""

import codecs
import re
from collections import deque
from collections.abc import Callable
from typing import Any

import pyte

from greenroom.node.screen_text import render_ansi, render_text

SCROLLBACK_BYTES = 512 * 1024
MOST_ROWS, MOST_COLUMNS = 300, 500
_PRIVATE = 5
_KEYS = {1: "cursor_keys", 2004: "paste"}
_ALTERNATE = {47, 1047, 1049}
_WIDTH_CHANGE = 3
_SAVEPOINTS = 16
_STRING_BEGINS = re.compile(r"\x1b[\]PX^_]|[\x90\x98\x9d-\x9f]")
_STRING_ENDS = re.compile(r"\x07|\x1b\\|[\x18\x1a\x9c]")
_MOST_IN_STRING = 1 << 20
_UNFINISHED = re.compile(r"\x1b(\[[ -?]{0,255})?\Z")
_SEQUENCE = re.compile(r"\x1b\[([ -?]*)([@-~])")
_MOST_IN_SEQUENCE = 64
_UNKNOWN = frozenset("<=!\"'*&#%")
_MARKS = 8
_ABOVE = 200


class Scrollback:
    """Lines that have left the screen: the newest, up to a number of bytes, and how much is gone."""

    def __init__(self, limit_bytes: int = SCROLLBACK_BYTES) -> None:
        self._limit = limit_bytes
        self._lines: deque[str] = deque()
        self.size = 0
        self.dropped_bytes = 0

    def add(self, text: str) -> None:
        self._lines.append(text)
        self.size += _cost(text)
        while self.size > self._limit:
            lost = _cost(self._lines.popleft())
            self.size -= lost
            self.dropped_bytes += lost

    def lines(self) -> list[str]:
        """The lines that are kept, oldest first; the first one says what is missing."""
        if not self.dropped_bytes:
            return list(self._lines)
        return [f"[{self.dropped_bytes} bytes dropped]", *self._lines]


def _cost(text: str) -> int:
    return len(text.encode("utf-8", "replace")) + 1


class ScreenModel(pyte.Screen):
    """pyte's screen, with a second page, a scrollback, and no way to grow without end."""

    def __init__(self, columns: int, rows: int, answer: Callable[[bytes], None]) -> None:
        self._answer = answer
        self._first_page: tuple[dict[int, Any], Any] | None = None
        self._last_drawn = " "
        self.scrollback = Scrollback()
        super().__init__(columns, rows)

    def write_process_input(self, data: str) -> None:
        self._answer(data.encode())

    def index(self) -> None:
        bottom = self.margins.bottom if self.margins else self.lines - 1
        top = self.margins.top if self.margins else 0
        if self.cursor.y == bottom and top == 0 and self._first_page is None:
            self.scrollback.add(render_text(self.buffer[0], self.columns))
        super().index()

    def set_mode(self, *modes: int, **named: Any) -> None:
        super().set_mode(*self._turn_page(modes, named, away=True), **named)

    def reset_mode(self, *modes: int, **named: Any) -> None:
        super().reset_mode(*self._turn_page(modes, named, away=False), **named)

    def _turn_page(self, modes: tuple[int, ...], named: dict[str, Any], *, away: bool) -> list[int]:
        """Change between the two pages where that is meant; a program does not change our width."""
        if not named.get("private"):
            return list(modes)
        if not _ALTERNATE.isdisjoint(modes):
            if away and self._first_page is None:
                self._first_page = dict(self.buffer), (self.cursor.x, self.cursor.y)
                self.buffer.clear()
            elif not away and self._first_page is not None:
                lines, (x, y) = self._first_page
                self._first_page = None
                self.buffer.clear()
                self.buffer.update(lines)
                self.cursor.x, self.cursor.y = min(x, self.columns - 1), min(y, self.lines - 1)
            self.dirty.update(range(self.lines))
        return [mode for mode in modes if mode != _WIDTH_CHANGE]

    def draw(self, data: str) -> None:
        self._last_drawn = data[-1:]
        super().draw(data)

    def repeat(self, count: int = 1, **named: Any) -> None:
        """Draw the last character again."""
        super().draw(self._last_drawn * min(count or 1, self.columns))

    def scroll_up(self, count: int = 1, **named: Any) -> None:
        self._scroll(count, self.delete_lines)

    def scroll_down(self, count: int = 1, **named: Any) -> None:
        self._scroll(count, self.insert_lines)

    def _scroll(self, count: int, change: Callable[[int], None]) -> None:
        x, y = self.cursor.x, self.cursor.y
        self.cursor.y = self.margins.top if self.margins else 0
        change(min(count or 1, self.lines))
        self.cursor.x, self.cursor.y = x, y

    def resize(self, lines: int | None = None, columns: int | None = None) -> None:
        """Keep the line with the cursor: lines above it go only when there is no room."""
        rows, width = lines or self.lines, columns or self.columns
        if surplus := max(0, self.cursor.y - rows + 1):
            y, self.cursor.y = self.cursor.y, 0
            self.margins = None
            self.delete_lines(surplus)
            self.cursor.y = y - surplus
        for row in [row for row in self.buffer if row >= rows]:
            del self.buffer[row]
        self.lines = rows
        super().resize(rows, width)
        self.set_margins()
        self.cursor.x = min(self.cursor.x, width - 1)
        self.tabstops = set(range(8, width, 8))
        self.dirty.update(range(rows))

    def reset(self) -> None:
        self._first_page = None
        self._last_drawn = " "
        super().reset()

    def save_cursor(self) -> None:
        super().save_cursor()
        del self.savepoints[:-_SAVEPOINTS]

    def select_graphic_rendition(self, *attrs: int, **named: Any) -> None:
        if not named:  # with a private mark it is not about colours
            super().select_graphic_rendition(*attrs)

    def report_device_attributes(self, mode: int = 0, **named: Any) -> None:
        super().report_device_attributes(mode)

    def report_device_status(self, mode: int = 0, **named: Any) -> None:
        super().report_device_status(mode)

    def trim_marks(self) -> None:
        """A cell keeps a few combining marks; a program can write any number of them."""
        line = self.buffer[self.cursor.y]
        for x in (self.cursor.x - 1, self.cursor.x - 2):
            if x in line and len(line[x].data) > _MARKS:
                line[x] = line[x]._replace(data=line[x].data[:_MARKS])

    def has(self, private_mode: int) -> bool:
        return private_mode << _PRIVATE in self.mode


class XtermStream(pyte.Stream):
    """pyte's parser, which also knows the sequences of xterm that programs use most."""

    csi = {**pyte.Stream.csi, "S": "scroll_up", "T": "scroll_down", "b": "repeat"}


class Screen:
    """The screen of one terminal: fed with its bytes, drawn for viewers as a whole or by its changes."""

    def __init__(self, rows: int, columns: int, answer: Callable[[bytes], None]) -> None:
        self._model = ScreenModel(columns, rows, answer)
        self._stream = self._new_stream()
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._in_string = 0
        self._held = ""

    def _new_stream(self) -> pyte.Stream:
        stream = XtermStream(self._model, strict=False)
        stream.use_utf8 = False  # else it does not draw lines
        return stream

    @property
    def size(self) -> tuple[int, int]:
        return self._model.lines, self._model.columns

    @property
    def scrollback(self) -> Scrollback:
        return self._model.scrollback

    def feed(self, data: bytes) -> None:
        """Take what a program has written. Nothing that it can write is an error."""
        text = self._without_strings(self._held + self._decode(data))
        try:
            self._stream.feed(_SEQUENCE.sub(_normalize_sequence, text))
        except (TypeError, ValueError, IndexError, KeyError, AttributeError, AssertionError):
            # A sequence that the model does not take: what came with it is lost, as on any terminal.
            self._model.dirty.update(range(self._model.lines))
        self._model.trim_marks()

    def skip(self, count: int) -> None:
        """So many bytes came too fast to be looked at."""
        self.scrollback.dropped_bytes += count

    def resize(self, rows: int, columns: int) -> None:
        self._model.resize(min(max(rows, 2), MOST_ROWS), min(max(columns, 2), MOST_COLUMNS))

    def text(self) -> list[str]:
        """What can be read on it, line by line."""
        return [render_text(self._model.buffer[y], self._model.columns) for y in range(self._model.lines)]

    @property
    def changed(self) -> bool:
        return bool(self._model.dirty)

    def draw(self, *, whole: bool) -> dict[str, Any]:
        """The lines that have changed since they were drawn last, or all, and all else that a viewer must know."""
        model = self._model
        rows = range(model.lines) if whole else sorted(row for row in model.dirty if row < model.lines)
        model.dirty.clear()
        lines = {str(row): render_ansi(model.buffer[row], model.columns) for row in rows}
        drawn = {"whole": whole, "rows": model.lines, "columns": model.columns, "lines": lines, **self.state()}
        return {**drawn, "above": self.scrollback.lines()[-_ABOVE:]} if whole else drawn

    def state(self) -> dict[str, Any]:
        """The cursor (row, column, whether it is shown), the kinds of keys the program wants, and what was dropped."""
        cursor = self._model.cursor
        return {
            "cursor": [cursor.y, min(cursor.x, self._model.columns - 1), int(not cursor.hidden)],
            "modes": [name for mode, name in _KEYS.items() if self._model.has(mode)],
            "dropped_bytes": self.scrollback.dropped_bytes,
        }

    def _without_strings(self, text: str) -> str:
        """Leave out titles, clipboards, pictures and the like, however long, also across pieces."""
        unfinished = _UNFINISHED.search(text)
        self._held = unfinished[0] if unfinished else ""
        text = text.removesuffix(self._held)
        out: list[str] = []
        at = 0
        while at < len(text):
            if self._in_string:
                end = _STRING_ENDS.search(text, at)
                self._in_string += (end.end() if end else len(text)) - at
                at = end.end() if end else len(text)
                if end or self._in_string > _MOST_IN_STRING:
                    self._in_string = 0
                continue
            begin = _STRING_BEGINS.search(text, at)
            out.append(text[at : begin.start() if begin else len(text)])
            at = begin.end() if begin else len(text)
            self._in_string = int(begin is not None)
        return "".join(out)


def _normalize_sequence(sequence: "re.Match[str]") -> str:
    """A control sequence in a form that pyte takes; nothing for one that it would take for text, or for another."""
    parameters, what = sequence.groups()
    if len(parameters) > _MOST_IN_SEQUENCE or not _UNKNOWN.isdisjoint(parameters):
        return ""
    if parameters.startswith(">") and what != "c":  # asks for other codes of keys
        return ""
    if ":" in parameters:
        parts = [_normalize_style(part) if ":" in part else part for part in parameters.split(";")]
        return f"\x1b[{';'.join(parts)}{what}"
    return sequence[0]


def _normalize_style(part: str) -> str:
    """One style written with colons, without: a colour, or a kind of underline."""
    words = part.split(":")
    if words[0] in ("38", "48"):
        return ";".join([*words[:2], *words[-3:]] if words[1] == "2" else words)
    return "24" if words == ["4", "0"] else words[0]
