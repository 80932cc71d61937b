"""Reads YAML or JSON as plain values with line numbers. Hostile or ambiguous input is refused with its line.

Only mappings, lists and JSON's scalars come out: no tags, no key twice, nothing large, deep or multiplied by aliases.
"""

import copy
import re
from collections.abc import Iterator
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from greenroom.rules.workflows.checks.problems import Path

MAX_BYTES = 200_000
MAX_DEPTH = 40
MAX_VALUES = 100_000
_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOTHING = ("", "~", "null", "Null", "NULL")
_TRUTHS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}


class BadText(Exception):
    """The text is no YAML that we take."""

    def __init__(self, line: int, message: str, remedy: str, column: int = 0) -> None:
        super().__init__(message)
        self.line, self.message, self.remedy, self.column = line, message, remedy, column


class MarkedMap(dict[str, Any]):
    """A mapping that knows the lines of its keys."""

    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line
        self.lines: dict[str, int] = {}

    def put(self, key: str, value: Any, line: int | None = None) -> None:
        """Set a key; without a line it is where the mapping is."""
        self[key] = value
        self.lines[key] = self.line if line is None else line

    def rename(self, old: str, new: str) -> None:
        """Call a key otherwise, if it is there and the other one is not."""
        if old in self and new not in self:
            self.put(new, self.pop(old), self.lines.pop(old, None))


class MarkedList(list[Any]):
    """A list that knows the lines of its items."""

    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line
        self.lines: list[int] = []

    def put(self, value: Any, line: int | None = None) -> None:
        """Append an item; without a line it is where the list is."""
        self.append(value)
        self.lines.append(self.line if line is None else line)


def read_marked(text: str) -> Any:
    """The one value that a text holds, of Map, Seq and scalars."""
    if len(text.encode(errors="replace")) > MAX_BYTES:
        raise BadText(1, f"the text is larger than {MAX_BYTES // 1000} kB", "split it into nested workflows")
    if text.lstrip()[:1] in ("{", "["):
        text = text.replace("\t", " ")  # JSON may be indented with tabs, and holds none in its strings
    try:
        return _build(YAML(typ="safe", pure=True).parse(text))
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        wrong = error.problem or error.context or "it cannot be read"
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 0)
        raise BadText(line, f"this is no YAML: {wrong}", _suggest_remedy(wrong), column) from None
    except (YAMLError, ValueError, RecursionError) as error:
        words = str(error).splitlines()[0][:200]
        raise BadText(1, f"this is no YAML: {words}", "write plain UTF-8 text without control characters") from None


def _suggest_remedy(wrong: str) -> str:
    """What usually leads to what the parser complains of."""
    if "\\t" in wrong:
        return "indent with spaces, not with tabs"
    if "mapping values are not allowed" in wrong:
        return "let the keys of a mapping begin in one column, and quote a text that has a colon in it"
    if "block end" in wrong or "block mapping" in wrong or "expected ':'" in wrong:
        return "let the keys of a mapping begin in one column, each with a colon and a blank behind it"
    if "cannot start any token" in wrong:
        return "put the text into quotes"
    if "expected ',' or" in wrong or "flow" in wrong:
        return "close the bracket, and put a comma between its entries"
    if "quoted scalar" in wrong or "end of stream" in wrong:
        return "close the quote or the bracket that was opened here"
    return "mend the text at this line"


def mark(value: Any, depth: int = 0) -> Any:
    """Plain JSON values as if they had been read from line 0."""
    if depth > MAX_DEPTH:
        raise BadText(0, f"it is nested more than {MAX_DEPTH} deep", "write it flatter")
    if isinstance(value, dict):
        made = MarkedMap(0)
        for key, one in value.items():
            made.put(str(key), mark(one, depth + 1))
        return made
    if isinstance(value, list):
        items = MarkedList(0)
        for one in value:
            items.put(mark(one, depth + 1))
        return items
    return value


def unmark(value: Any, lines: dict[Path, int], path: Path = ()) -> Any:
    """The value without its marks; the lines are put by path into `lines`."""
    if isinstance(value, MarkedMap):
        lines.setdefault(path, value.line)
        for key in value:
            lines[(*path, key)] = value.lines.get(key, value.line)
        return {key: unmark(one, lines, (*path, key)) for key, one in value.items()}
    if isinstance(value, MarkedList):
        for at, line in enumerate(value.lines):
            lines[(*path, at)] = line
        return [unmark(one, lines, (*path, at)) for at, one in enumerate(value)]
    if isinstance(value, dict):
        return {key: unmark(one, lines, (*path, key)) for key, one in value.items()}
    return value


def _build(events: Iterator[Any]) -> Any:
    builder = _Builder()
    for event in events:
        try:
            builder.take(event, event.start_mark.line + 1)
        except BadText as bad:
            bad.column = event.start_mark.column + 1
            raise
    return builder.result


class _Builder:
    """Puts values together from the parser's events, and counts what aliases make of them."""

    def __init__(self) -> None:
        self.result: Any = None
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._documents = self._values = 0
        self._stack: list[_OpenContainer] = []

    def take(self, event: Any, line: int) -> None:
        if isinstance(event, DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                raise BadText(line, "there is a second document", "write one workflow in a file")
        elif isinstance(event, SequenceStartEvent | MappingStartEvent):
            _refuse_tag(event, line)
            if len(self._stack) >= MAX_DEPTH:
                raise BadText(line, f"it is nested more than {MAX_DEPTH} deep", "write it flatter")
            made = MarkedMap(line) if isinstance(event, MappingStartEvent) else MarkedList(line)
            self._stack.append(_OpenContainer(made, event.anchor, self._values))
        elif isinstance(event, SequenceEndEvent | MappingEndEvent):
            done = self._stack.pop()
            self._put(done.value, done.value.line, 1, done.anchor, self._values - done.before + 1)
        elif isinstance(event, ScalarEvent):
            _refuse_tag(event, line)
            self._put(_parse_scalar(event, line), line, 1, event.anchor, 1)
        elif isinstance(event, AliasEvent):
            self._put_alias(event.anchor, line)

    def _put_alias(self, name: str, line: int) -> None:
        if name not in self._anchors:
            raise BadText(line, f"the alias *{name} names nothing before it", f"write &{name} first")
        found, count = self._anchors[name]
        self._need_few(line, count)
        self._put(copy.deepcopy(found), line, count)

    def _put(self, value: Any, line: int, count: int, anchor: str | None = None, within: int = 0) -> None:
        self._need_few(line, count)
        self._values += count
        if anchor:
            self._anchors[anchor] = (value, within)
        if self._stack:
            self._stack[-1].take(value, line)
        else:
            self.result = value

    def _need_few(self, line: int, count: int) -> None:
        if self._values + count > MAX_VALUES:
            raise BadText(line, f"it holds more than {MAX_VALUES} values, aliases counted", "use fewer aliases")


class _OpenContainer:
    """A mapping or list whose end has not come yet."""

    def __init__(self, value: MarkedMap | MarkedList, anchor: str | None, before: int) -> None:
        self.value, self.anchor, self.before = value, anchor, before
        self._key: tuple[str, int] | None = None

    def take(self, value: Any, line: int) -> None:
        if isinstance(self.value, MarkedList):
            self.value.put(value, line)
        elif self._key is not None:
            self.value.put(self._key[0], value, self._key[1])
            self._key = None
        else:
            self._key = (self._convert_key(value, line), line)

    def _convert_key(self, key: Any, line: int) -> str:
        if key == "<<":
            raise BadText(line, "merge keys (<<) are not taken", "write the keys out")
        if not isinstance(key, str):
            raise BadText(line, f"the key {str(key)[:40]} is no text", "put it into quotes")
        if isinstance(self.value, MarkedMap) and key in self.value:
            first = self.value.lines[key]
            raise BadText(line, f"the key '{key[:64]}' is here twice, first in line {first}", "keep one of them")
        return key


def _refuse_tag(event: Any, line: int) -> None:
    if event.tag is not None and event.tag != "!":
        raise BadText(line, f"the tag {str(event.tag)[:64]} is not taken", "write the plain value")


def _parse_scalar(event: Any, line: int) -> Any:
    text: str = event.value
    if not event.implicit[0] or event.style is not None:
        return _join_surrogates(text, line)
    if text in _NOTHING:
        return None
    if text in _TRUTHS:
        return _TRUTHS[text]
    if _INTEGER.fullmatch(text) and len(text) < 20:
        number = int(text)
        if -(2**63) <= number < 2**63:
            return number
    if _FLOAT.fullmatch(text):
        decimal = float(text)
        if abs(decimal) == float("inf"):
            raise BadText(line, f"the number {text[:20]}... is too large", "put it into quotes if it is a text")
        return decimal
    return _join_surrogates(text, line)


def _join_surrogates(text: str, line: int) -> str:
    """JSON writes characters beyond the first plane as two halves; put them together."""
    if text.isascii() or not any("\ud800" <= sign <= "\udfff" for sign in text):
        return text
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise BadText(line, "there is half a character (a lone surrogate)", "write the character itself") from None
