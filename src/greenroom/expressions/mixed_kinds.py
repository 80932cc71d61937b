"""Fails a condition that would be true only because it compares values of different types.

`v != "deny"` is true for null, for a number and for a list, so a gate would open on an answer that never came. Where a
condition needs two values to be different, they must be of one kind; null may be asked for by its name.
"""

from collections.abc import Mapping
from typing import Any

from greenroom.expressions.errors import ExpressionFailed
from greenroom.expressions.syntax_tree import CALL, CONSTANT, LIST, Path, SyntaxNode, get_path
from greenroom.sentences import build_sentence, join_with_and

_MISSING = "missing"
_NULL = "null"
_WORDS = {
    "text": "expression.kind.text",
    "number": "expression.kind.number",
    "bool": "expression.kind.bool",
    "list": "expression.kind.list",
    "map": "expression.kind.map",
    _NULL: "expression.kind.null",
}


def check_mixed_kinds(node: SyntaxNode, values: Mapping[str, Any], *, negated: bool = False) -> None:
    """Fail if `node` would be true because values of two kinds differ. Parts that are not evaluated are not checked."""
    match node.word if node.kind == CALL else "":
        case "!_":
            check_mixed_kinds(node.below[0], values, negated=not negated)
        case "_&&_" | "_||_" as word:
            settles = (word == "_||_") != negated
            left, right = node.below
            for one, other in ((left, right), (right, left)):
                if _get_truth(other, values, negated) is not settles:
                    check_mixed_kinds(one, values, negated=negated)
        case "_?_:_":
            for below in node.below[1:]:
                check_mixed_kinds(below, values, negated=negated)
        case "_!=_" if not negated:
            _need_one_kind(node, values)
        case "_==_" if negated:
            _need_one_kind(node, values)
        case "@in" if negated and node.below[1].kind == LIST:
            for item in node.below[1].below:
                _need_one_kind(SyntaxNode(CALL, "_==_", (node.below[0], item)), values)


def _get_truth(node: SyntaxNode, values: Mapping[str, Any], negated: bool) -> bool | None:
    """Whether a comparison with null, or a value alone, holds (the other way round if `negated`); None if unsure."""
    if node.kind == CALL and node.word == "!_":
        return _get_truth(node.below[0], values, not negated)
    if node.kind == CALL and node.word in ("_==_", "_!=_"):
        kinds = [_read_kind(one, values) for one in node.below]
        if _NULL in kinds and _MISSING not in kinds:
            return ((kinds[0] == kinds[1]) == (node.word == "_==_")) != negated
        return None
    path = get_path(node)
    found = _look_up(values, path) if path is not None and not node.bound else None
    return found != negated if isinstance(found, bool) else None


def _need_one_kind(node: SyntaxNode, values: Mapping[str, Any]) -> None:
    if any(one.kind == CONSTANT and one.bound == (_NULL,) for one in node.below):
        return
    first, second = (_read_kind(one, values) for one in node.below)
    if _MISSING in (first, second) or first == second:
        return
    path = next((path for one in node.below if (path := get_path(one)) is not None), None)
    where = ".".join(path) if path is not None else build_sentence("expression.a_value")
    kinds = join_with_and(build_sentence(_WORDS[kind]) for kind in (first, second))
    raise ExpressionFailed(build_sentence("expression.always_different", path=where, kinds=kinds))


def _read_kind(node: SyntaxNode, values: Mapping[str, Any]) -> str:
    """The kind of a constant or of the value at a path; `missing` if it is not known."""
    if node.kind == CONSTANT:
        return node.bound[0] if node.bound else _MISSING
    path = get_path(node)
    if path is None:
        return _MISSING
    match _look_up(values, path):
        case None:
            return _NULL
        case bool():
            return "bool"
        case str():
            return "text"
        case int() | float():
            return "number"
        case list():
            return "list"
        case dict():
            return "map"
    return _MISSING


def _look_up(values: Any, path: Path) -> Any:
    for name in path:
        if not isinstance(values, Mapping) or name not in values:
            return _look_up
        values = values[name]
    return values
