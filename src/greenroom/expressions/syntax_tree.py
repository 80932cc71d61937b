"""The syntax tree of an expression, read from the engine's own encoding (`cel.expr.CheckedExpr`)."""

from collections.abc import Iterator
from dataclasses import dataclass

Path = tuple[str, ...]
CHECKED_IN_ANY = 2
EXPR_IN_CHECKED = 4
CONSTANT, NAME, SELECT, CALL, LIST, STRUCT, COMPREHENSION = 3, 4, 5, 6, 7, 8, 9
STRING_CONSTANT = 6
_CONSTANTS = {1: "null", 2: "bool", 3: "number", 4: "number", 5: "number"}


@dataclass(frozen=True, slots=True)
class SyntaxNode:
    """One node: its kind, its word (a name, field, function or text) and the nodes below it."""

    kind: int
    word: str = ""
    below: tuple["SyntaxNode", ...] = ()
    bound: Path = ()
    """The names that a comprehension brings to all below it but its range: each item's name, then the result's.
    Elsewhere a mark: the kind of a constant, a select that only asks whether the field is there."""


def read_tree(written: bytes) -> SyntaxNode:
    """The tree of an expression that the engine has checked."""
    return _parse_node(_read_last_field(_read_last_field(written, CHECKED_IN_ANY), EXPR_IN_CHECKED))


def find_paths(node: SyntaxNode, bound: frozenset[str] = frozenset()) -> Iterator[Path]:
    """Each chain of names that is looked up (`steps.review.output`), without those that a comprehension brings."""
    path = get_path(node)
    if path is not None:
        if path[0] not in bound:
            yield path
        return
    if node.kind == COMPREHENSION:
        yield from find_paths(node.below[0], bound)
        bound = bound | set(node.bound)
    for below in node.below[1:] if node.kind == COMPREHENSION else node.below:
        yield from find_paths(below, bound)


def get_plain_path(node: SyntaxNode) -> Path | None:
    """The chain of names that the whole expression is, when it does nothing but look a value up."""
    return None if node.kind == SELECT and node.bound else get_path(node)


def get_path(node: SyntaxNode) -> Path | None:
    """The chain of names that a node is, if it is one; `a["b"]` is `a.b`."""
    if node.kind == NAME:
        return (node.word.removeprefix("."),)
    if node.kind == SELECT:
        above = get_path(node.below[0])
        return None if above is None else (*above, node.word)
    if (
        node.kind == CALL
        and node.word == "_[_]"
        and node.below[1].kind == CONSTANT
        and node.below[1].bound == ("text",)
    ):
        above = get_path(node.below[0])
        return None if above is None else (*above, node.below[1].word)
    return None


def _parse_node(data: bytes) -> SyntaxNode:
    for number, value in _parse_fields(data):
        if number == CONSTANT:
            text = [v for n, v in _parse_fields(value) if n == STRING_CONSTANT]
            if text:
                return SyntaxNode(CONSTANT, text[0].decode(), (), ("text",))
            return SyntaxNode(CONSTANT, bound=tuple(_CONSTANTS[n] for n, _ in _parse_fields(value) if n in _CONSTANTS))
        if number == NAME:
            return SyntaxNode(NAME, _read_last_field(value, 1).decode())
        if number == SELECT:
            asks = ("has",) if _read_last_field(value, 3) else ()
            return SyntaxNode(
                SELECT, _read_last_field(value, 2).decode(), (_parse_node(_read_last_field(value, 1)),), asks
            )
        if number == CALL:
            below = [_parse_node(v) for n, v in _parse_fields(value) if n in (1, 3)]
            return SyntaxNode(CALL, _read_last_field(value, 2).decode(), tuple(below))
        if number == LIST:
            return SyntaxNode(LIST, "", tuple(_parse_node(v) for n, v in _parse_fields(value) if n == 1))
        if number == STRUCT:
            entries = [v for n, v in _parse_fields(value) if n == 2]
            below = [_parse_node(v) for entry in entries for n, v in _parse_fields(entry) if n in (3, 4)]
            return SyntaxNode(STRUCT, "", tuple(below))
        if number == COMPREHENSION:
            below = [_parse_node(_read_last_field(value, n)) for n in (2, 4, 5, 6, 7)]
            names = tuple(v.decode() for n, v in _parse_fields(value) if n in (1, 3, 8))
            return SyntaxNode(COMPREHENSION, "", tuple(below), names)
    return SyntaxNode(CONSTANT)


def _read_last_field(data: bytes, wanted: int) -> bytes:
    found = b""
    for number, value in _parse_fields(data):
        if number == wanted:
            found = value
    return found


def _parse_fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields of one message: bytes as they are, small numbers as they are written."""
    at = 0
    while at < len(data):
        tag, at = _parse_varint(data, at)
        if tag & 7 == 2:
            size, at = _parse_varint(data, at)
            yield tag >> 3, data[at : at + size]
            at += size
        elif tag & 7 == 0:
            begin = at
            _, at = _parse_varint(data, at)
            yield tag >> 3, data[begin:at]
        else:
            at += 8 if tag & 7 == 1 else 4


def _parse_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
