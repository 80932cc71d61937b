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
from greenroom.sentences import Sentence, Words, build_sentence

MAX_BYTES = 200_000
MAX_DEPTH = 40
MAX_VALUES = 100_000
_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOTHING = ("", "~", "null", "Null", "NULL")
_TRUTHS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}


class BadText(Exception):
    """The text is no YAML that is accepted here."""

    def __init__(self, line: int, message: Words, remedy: Words, column: int = 0) -> None:
        super().__init__(str(message))
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
        message = build_sentence("yaml.large", limit_kb=MAX_BYTES // 1000)
        raise BadText(1, message, build_sentence("yaml.large.remedy"))
    if text.lstrip()[:1] in ("{", "["):
        text = text.replace("\t", " ")  # JSON may be indented with tabs, and holds none in its strings
    try:
        return _build(YAML(typ="safe", pure=True).parse(text))
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        wrong = error.problem or error.context or ""
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 0)
        message = build_sentence("yaml.bad", error=wrong or build_sentence("yaml.unreadable"))
        raise BadText(line, message, _suggest_remedy(wrong), column) from None
    except (YAMLError, ValueError, RecursionError) as error:
        message = build_sentence("yaml.bad", error=str(error).splitlines()[0][:200])
        raise BadText(1, message, build_sentence("yaml.control")) from None


def _suggest_remedy(wrong: str) -> Sentence:
    """What usually leads to what the parser complains of."""
    if "\\t" in wrong:
        return build_sentence("yaml.indent")
    if "mapping values are not allowed" in wrong:
        return build_sentence("yaml.quote_colon")
    if "block end" in wrong or "block mapping" in wrong or "expected ':'" in wrong:
        return build_sentence("yaml.keys_begin")
    if "cannot start any token" in wrong:
        return build_sentence("yaml.quote_text")
    if "expected ',' or" in wrong or "flow" in wrong:
        return build_sentence("yaml.bracket")
    if "quoted scalar" in wrong or "end of stream" in wrong:
        return build_sentence("yaml.quote")
    return build_sentence("yaml.mend")


def mark(value: Any, depth: int = 0) -> Any:
    """Plain JSON values as if they had been read from line 0."""
    if depth > MAX_DEPTH:
        raise BadText(0, build_sentence("yaml.deep", limit=MAX_DEPTH), build_sentence("yaml.deep.remedy"))
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
                raise BadText(line, build_sentence("yaml.second"), build_sentence("yaml.second.remedy"))
        elif isinstance(event, SequenceStartEvent | MappingStartEvent):
            _refuse_tag(event, line)
            if len(self._stack) >= MAX_DEPTH:
                raise BadText(line, build_sentence("yaml.deep", limit=MAX_DEPTH), build_sentence("yaml.deep.remedy"))
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
            raise BadText(line, build_sentence("yaml.alias", name=name), build_sentence("yaml.alias.remedy", name=name))
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
            raise BadText(
                line, build_sentence("yaml.many_values", limit=MAX_VALUES), build_sentence("yaml.many_values.remedy")
            )


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
            raise BadText(line, build_sentence("yaml.merge"), build_sentence("yaml.merge.remedy"))
        if not isinstance(key, str):
            raise BadText(
                line, build_sentence("yaml.key_no_text", key=str(key)[:40]), build_sentence("yaml.key_no_text.remedy")
            )
        if isinstance(self.value, MarkedMap) and key in self.value:
            first = self.value.lines[key]
            message = build_sentence("yaml.double_key", key=key[:64], line=first)
            raise BadText(line, message, build_sentence("yaml.double_key.remedy"))
        return key


def _refuse_tag(event: Any, line: int) -> None:
    if event.tag is not None and event.tag != "!":
        raise BadText(line, build_sentence("yaml.tag", tag=str(event.tag)[:64]), build_sentence("yaml.tag.remedy"))


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
            raise BadText(line, build_sentence("yaml.number", number=text[:20]), build_sentence("yaml.number.remedy"))
        return decimal
    return _join_surrogates(text, line)


def _join_surrogates(text: str, line: int) -> str:
    """JSON writes characters beyond the first plane as two halves; put them together."""
    if text.isascii() or not any("\ud800" <= sign <= "\udfff" for sign in text):
        return text
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise BadText(line, build_sentence("yaml.surrogate"), build_sentence("yaml.surrogate.remedy")) from None
