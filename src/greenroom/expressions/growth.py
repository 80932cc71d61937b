"""How large an expression's answer can become, worked out before it is: a short text must not fill the memory."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from greenroom.expressions.errors import ExpressionFailed
from greenroom.expressions.tree import COMPREHENSION, CONSTANT, LIST, STRUCT, Node, Path, path_of

MAX_VALUES = 8_000_000
MAX_ANSWER = 8_000_000
MAX_DEPTH = 100
MAX_ROUNDS = 10_000
"""What the engine allows all comprehensions of an expression together."""
MAX_COLLECTED = 2000
"""What `map` and `filter` may go over: the engine copies the list that they build at every item."""
WORD = 8


class Extent(NamedTuple):
    """At most this many bytes, in at most this many items."""

    size: int
    items: int


def measure(value: Any) -> Extent:
    """The extent of a value; refuses what is too large or too deep to be handed to the engine."""
    size, level = 0, [value]
    for _ in range(MAX_DEPTH):
        following: list[Any] = []
        for each in level:
            size += WORD
            if isinstance(each, str):
                size += len(each)
                if "\0" in each:
                    raise ExpressionFailed("a text among its values holds a NUL character")
            elif isinstance(each, dict):
                size += sum(map(len, each))
                following += each.values()
                if any("\0" in key for key in each):
                    raise ExpressionFailed("a key among its values holds a NUL character")
            elif isinstance(each, list):
                following += each
        if size > MAX_VALUES:
            raise ExpressionFailed(
                f"its values are larger than {MAX_VALUES // 1_000_000} MB; name smaller parts of them"
            )
        if not following:
            return Extent(size, len(value) if isinstance(value, dict | list) else 0)
        level = following
    raise ExpressionFailed(f"its values are nested more than {MAX_DEPTH} deep")


def can_grow(node: Node) -> bool:
    """Whether the answer can be larger than the text times the values."""
    return node.kind == COMPREHENSION or node.word in ("replace", "join") or any(map(can_grow, node.below))


def check_growth(node: Node, values: Mapping[str, Any]) -> None:
    """Refuse an expression whose answer could outgrow the memory over these values."""
    if _Growth(values).extent(node, {}).size > MAX_ANSWER:
        raise ExpressionFailed(f"its answer could be larger than {MAX_ANSWER // 1_000_000} MB")


class _Growth:
    """Bounds for the nodes of one expression over one set of values."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values
        self._measured: dict[Path, Extent] = {}

    def extent(self, node: Node, bound: dict[str, Extent]) -> Extent:
        path = path_of(node)
        if path is not None:
            return bound[path[0]] if path[0] in bound else self._of_path(path)
        if node.kind == COMPREHENSION:
            return self._of_comprehension(node, bound)
        if node.kind == CONSTANT:
            return Extent(WORD + len(node.word), 0)
        below = [self.extent(each, bound) for each in node.below]
        size = WORD + sum(each.size for each in below)
        if node.word == "replace":
            return Extent(below[0].size * below[-1].size, 0)
        if node.word == "join":
            return Extent(size + below[0].items * below[-1].size, 0)
        if node.kind in (LIST, STRUCT):
            return Extent(size, len(below))
        if node.word == "_+_":
            return Extent(size, sum(each.items for each in below))
        return Extent(size, min(size // WORD, MAX_ROUNDS))

    def _of_comprehension(self, node: Node, bound: dict[str, Extent]) -> Extent:
        """Each round adds one step. What a step takes of its item adds up to what it takes of all of them at once."""
        over = self.extent(node.below[0], bound)
        begin = self.extent(node.below[1], bound)
        rounds = min(over.items, MAX_ROUNDS)
        if node.below[1].kind == LIST and over.items > MAX_COLLECTED:
            raise ExpressionFailed(f"map and filter go over at most {MAX_COLLECTED} items; use all or exists, or fewer")
        nothing = dict.fromkeys(node.bound, Extent(0, 0))
        item = Extent(over.size, min(over.size // WORD, MAX_ROUNDS))
        everything = dict.fromkeys(node.bound, item) | {node.bound[-1]: Extent(0, 0)}
        least = self.extent(node.below[3], bound | nothing)
        most = self.extent(node.below[3], bound | everything)
        total = Extent(begin.size + rounds * least.size + most.size, begin.items + rounds * max(1, least.items))
        return self.extent(node.below[4], bound | {node.bound[-1]: total})

    def _of_path(self, path: Path) -> Extent:
        if path not in self._measured:
            self._measured[path] = measure(_look_up(self._values, path))
        return self._measured[path]


def _look_up(values: Any, path: Path) -> Any:
    for name in path:
        if not isinstance(values, Mapping) or name not in values:
            return None
        values = values[name]
    return values
