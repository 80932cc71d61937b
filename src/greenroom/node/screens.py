"""A model of what a terminal shows, redrawn for viewers, so that none of its escapes reach them.

The model answers what programs ask of a terminal, whether anybody looks or not, and keeps what has scrolled away in a
ring that is bounded in bytes.
"""

import codecs
import re
from collections.abc import Callable
from typing import Any

import pyte

from greenroom.node.screen_model import ScreenModel, Scrollback, TooMuchWork, XtermStream
from greenroom.node.screen_text import render_ansi, render_text

MOST_ROWS, MOST_COLUMNS = 300, 500
_KEYS = {1: "cursor_keys", 2004: "paste"}
_STRING_BEGINS = re.compile(r"\x1b[\]PX^_]|[\x90\x98\x9d-\x9f]")
_STRING_ENDS = re.compile(r"\x07|\x1b\\|[\x18\x1a\x9c]")
_MOST_IN_STRING = 1 << 20
_UNFINISHED = re.compile(r"\x1b(\[[ -?]{0,255})?\Z")
_SEQUENCE = re.compile(r"\x1b\[([ -?]*)([@-~])")
_MOST_IN_SEQUENCE = 64
_UNKNOWN = frozenset("<=!\"'*&#%")
_ABOVE = 200
_MOST_DRAWN = 16_000
"""Cells that are drawn at once, so that a large and colourful screen does not hold the node up."""


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
        self._model.begin_piece()
        try:
            self._stream.feed(_SEQUENCE.sub(_normalize_sequence, text))
        except (TypeError, ValueError, IndexError, KeyError, AttributeError, AssertionError, TooMuchWork):
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
        """The changed lines, or all, and all else that a viewer must know. Of a very large screen some lines come
        later: they stay changed."""
        model = self._model
        rows = list(range(model.lines)) if whole else sorted(row for row in model.dirty if row < model.lines)
        most = max(1, _MOST_DRAWN // model.columns)
        model.dirty = set(rows[most:])
        lines = {str(row): render_ansi(model.buffer[row], model.columns) for row in rows[:most]}
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
