"""Bounds the cost of an expression before it is evaluated, so that a short text cannot take much memory or time."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from greenroom.expressions.errors import ExpressionFailed
from greenroom.expressions.syntax_tree import COMPREHENSION, CONSTANT, LIST, STRUCT, Path, SyntaxNode, get_path
from greenroom.sentences import build_sentence

MAX_BYTES = 4_000_000
MAX_VALUES = 50_000
MAX_DEPTH = 100
MAX_ROUNDS = 10_000
"""What the engine allows all comprehensions of an expression together."""
MAX_COPIES = 2_250_000
"""The engine copies the list that `map` and `filter` build at every item, so their cost is that of the square."""
WORD = 8
_SMALL = frozenset(
    (
        *("_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_", "_&&_", "_||_", "!_", "@in", "size"),
        *("contains", "startsWith", "endsWith", "matches", "indexOf", "lastIndexOf"),
    )
)
"""Functions whose answer is small, whatever they are given."""


class Extent(NamedTuple):
    """At most this many bytes, in so many items, which hold so many values; and the copies that it takes to make it."""

    size: int
    items: int
    values: int
    copies: int = 0


NOTHING = Extent(0, 0, 0)


def measure(value: Any) -> Extent:
    """The extent of a value; refuses what is too large or too deep to be handed to the engine."""
    size = count = 0
    level = [value]
    for _ in range(MAX_DEPTH):
        following: list[Any] = []
        count += len(level)
        for each in level:
            if isinstance(each, str):
                size += len(each)
                if "\0" in each:
                    raise ExpressionFailed(build_sentence("expression.nul_text"))
            elif isinstance(each, dict):
                keys = "".join(each)
                size += len(keys)
                following += each.values()
                if "\0" in keys:
                    raise ExpressionFailed(build_sentence("expression.nul_key"))
            elif isinstance(each, list):
                following += each
        if size > MAX_BYTES or count > MAX_VALUES:
            raise ExpressionFailed(build_sentence("expression.values_too_large"))
        if not following:
            return Extent(size + WORD * count, len(value) if isinstance(value, dict | list) else 0, count)
        level = following
    raise ExpressionFailed(build_sentence("expression.values_too_deep", limit=MAX_DEPTH))


def can_grow(node: SyntaxNode) -> bool:
    """Whether the answer can be larger than the text times the values."""
    return node.kind == COMPREHENSION or node.word in ("replace", "join") or any(map(can_grow, node.below))


def check_cost(node: SyntaxNode, values: Mapping[str, Any]) -> None:
    """Refuse an expression that could cost too much over these values."""
    found = _CostBounds(values).measure_extent(node, {})
    if found.size > MAX_BYTES:
        raise ExpressionFailed(build_sentence("expression.answer_too_large", limit_mb=MAX_BYTES // 1_000_000))
    if found.copies > MAX_COPIES:
        raise ExpressionFailed(build_sentence("expression.map_too_large"))


class _CostBounds:
    """Bounds for the nodes of one expression over one set of values."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values
        self._measured: dict[Path, Extent] = {}

    def measure_extent(self, node: SyntaxNode, bound: dict[str, Extent]) -> Extent:
        path = get_path(node)
        if path is not None:
            return bound[path[0]] if path[0] in bound else self._measure_path(path)
        if node.kind == COMPREHENSION:
            return self._measure_comprehension(node, bound)
        if node.kind == CONSTANT:
            return Extent(WORD + len(node.word), 0, 1)
        below = [self.measure_extent(each, bound) for each in node.below]
        size, values = WORD + sum(each.size for each in below), 1 + sum(each.values for each in below)
        copies = sum(each.copies for each in below)
        if node.word in _SMALL:
            return Extent(WORD, 0, 1, copies)
        if node.word == "_?_:_":
            either = below[1:]
            return Extent(
                max(one.size for one in either),
                max(one.items for one in either),
                max(one.values for one in either),
                copies,
            )
        if node.word == "replace":
            return Extent(below[0].size * below[-1].size, 0, 1, copies)
        if node.word == "join":
            return Extent(size + below[0].items * below[-1].size, 0, 1, copies)
        if node.kind in (LIST, STRUCT):
            return Extent(size, len(below), values, copies)
        if node.word == "_+_":
            return Extent(size, sum(each.items for each in below), values, copies)
        return Extent(size, values, values, copies)

    def _measure_comprehension(self, node: SyntaxNode, bound: dict[str, Extent]) -> Extent:
        """Each round adds one step. The cost for single items adds up to the cost for all of them at once."""
        over = self.measure_extent(node.below[0], bound)
        begin = self.measure_extent(node.below[1], bound)
        rounds = min(over.items, MAX_ROUNDS)
        nothing = dict.fromkeys(node.bound, NOTHING)
        item = Extent(over.size, over.values, over.values)
        everything = nothing | dict.fromkeys(node.bound[:-1], item)
        least = self.measure_extent(node.below[3], bound | nothing)
        most = self.measure_extent(node.below[3], bound | everything)
        collects = over.items**2 if node.below[1].kind == LIST else 0
        total = Extent(
            begin.size + rounds * least.size + most.size,
            begin.items + rounds * max(1, least.items),
            begin.values + rounds * least.values + most.values,
        )
        after = self.measure_extent(node.below[4], bound | {node.bound[-1]: total})
        copies = over.copies + begin.copies + rounds * least.copies + most.copies + collects + after.copies
        return after._replace(copies=copies)

    def _measure_path(self, path: Path) -> Extent:
        if path not in self._measured:
            self._measured[path] = measure(_look_up(self._values, path))
        return self._measured[path]


def _look_up(values: Any, path: Path) -> Any:
    for name in path:
        if not isinstance(values, Mapping) or name not in values:
            return None
        values = values[name]
    return values
