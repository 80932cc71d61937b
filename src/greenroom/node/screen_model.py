"""A model of a terminal's screen: what a program has written to it, with bounds on what that may cost."""

from collections import deque
from collections.abc import Callable
from typing import Any

import pyte
from pyte import modes

from greenroom.node.screen_text import render_text

SCROLLBACK_BYTES = 512 * 1024
_PRIVATE = 5
_ALTERNATE = {47, 1047, 1049}
_IGNORED = {3, 5}
"""A program changes neither our width nor the colours of all cells."""
_MOST_WORK = 1_500_000
"""What a piece of output may cost: so many cells to be erased, and others by how much longer they take."""
_DELETED, _REPEATED, _SHIFTED = 27, 41, 5
_SAVEPOINTS = 16
_MARKS = 8


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


class TooMuchWork(Exception):
    """A piece of output holds more than any program has to show."""


class ScreenModel(pyte.Screen):
    """pyte's screen, with a second page, a scrollback, and no way to grow or to work without end."""

    def __init__(self, columns: int, rows: int, answer: Callable[[bytes], None]) -> None:
        self._answer = answer
        self._first_page: tuple[dict[int, Any], Any] | None = None
        self._last_drawn = " "
        self.scrollback = Scrollback()
        self._work_left = _MOST_WORK
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
        """Change between the two pages where that is meant."""
        if not named.get("private"):
            return [mode for mode in modes if mode < 1 << _PRIVATE]  # the others would be taken for private ones
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
        return [mode for mode in modes if mode not in _IGNORED]

    def begin_piece(self) -> None:
        """A piece of output begins, which may cost so much."""
        self._work_left = _MOST_WORK

    def _spend(self, work: int) -> None:
        self._work_left -= work
        if self._work_left < 0:
            raise TooMuchWork

    def draw(self, data: str) -> None:
        self._last_drawn = data[-1:]
        if modes.IRM in self.mode:
            self._spend(_SHIFTED * len(data) * self.columns)
        super().draw(data)

    def repeat(self, count: int = 1, **named: Any) -> None:
        """Draw the last character again."""
        again = min(count or 1, self.columns)
        self._spend(_REPEATED * again)
        self.draw(self._last_drawn * again)

    def delete_characters(self, count: int | None = None) -> None:
        self._spend(_DELETED * self.columns)
        super().delete_characters(count)

    def erase_in_display(self, how: int = 0, *args: Any, **named: Any) -> None:
        self._spend(self.lines * self.columns)
        super().erase_in_display(how)

    def alignment_display(self) -> None:
        """Do not show the picture by which screens of glass were adjusted."""

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
