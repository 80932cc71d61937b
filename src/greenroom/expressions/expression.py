"""Compiles an expression against the names that it may use, and evaluates it."""

import base64
import datetime
import functools
import math
import re
from collections.abc import Collection, Mapping
from typing import Any

from cel_expr_python import cel  # type: ignore[import-untyped]
from cel_expr_python.ext import ext_strings  # type: ignore[import-untyped]

from greenroom.expressions.cost_bounds import can_grow, check_cost, measure
from greenroom.expressions.errors import BadExpression, ExpressionFailed
from greenroom.expressions.mixed_kinds import check_mixed_kinds
from greenroom.expressions.syntax_errors import explain_syntax
from greenroom.expressions.syntax_tree import CALL, Path, SyntaxNode, find_paths, get_plain_path, read_tree
from greenroom.sentences import Sentence, Words, build_sentence
from greenroom.validation import get_nearest

Names = Mapping[str, Collection[str] | None] | Collection[str]
"""What an expression may name. A mapping may also say which members a name has; None leaves them open."""
MAX_TEXT = 2000
RESERVED = frozenset(
    (
        *("as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let", "loop"),
        *("namespace", "null", "package", "return", "true", "var", "void", "while"),
    )
)
"""Words that cannot be first names; behind a point most of them can stand."""
_PLACE = re.compile(r"ERROR: <input>:(-?\d+):(-?\d+): (.*)")
_UNDECLARED = re.compile(r"undeclared reference to '\.?([^']*)'")
_WORDS = {"and": "&&", "or": "||", "not": "!"}
_FUNCTIONS = ("bool", "double", "duration", "has", "int", "size", "string", "timestamp", "type")
"""Functions that come before their values; the others follow a point."""
_FAILURES = (cel.Type.ERROR, cel.Type.UNKNOWN)
_NOT_OFFERED = ("format",)
"""Its widths would let a short text ask for any amount of memory."""


class Expression:
    """One compiled expression. It holds no values, and may be used by several threads."""

    def __init__(self, text: str, compiled: cel.Expression, tree: SyntaxNode, paths: frozenset[Path]) -> None:
        self.text = text
        self.paths = paths
        """Every chain of names that it looks up: ("steps", "review", "output")."""
        self.names = frozenset(path[0] for path in paths)
        """The first name of each chain."""
        self._compiled = compiled
        self._tree = tree
        self._wanted = _build_path_tree(paths)
        self._grows = can_grow(tree)
        self._plain_path = get_plain_path(tree) if paths else None

    def evaluate(self, values: Mapping[str, Any]) -> Any:
        """The answer as a plain JSON value. Of the values only those that are named are looked at."""
        missing = self.names - values.keys()
        if missing:
            no_value = build_sentence("expression.no_value", name=min(missing))
            raise ExpressionFailed(no_value).add_expression(self.text)
        if self._plain_path is not None:
            return self._look_up(values, self._plain_path)
        needed = {name: _trim(values[name], wanted) for name, wanted in self._wanted.items()}
        try:
            measure(needed)
            if self._grows:
                check_cost(self._tree, needed)
            found = self._compiled.eval(data=needed)
            answer = found.plain_value()
            if isinstance(answer, bool):  # a failure is a text
                return answer
            if found.type() in _FAILURES:
                raise ExpressionFailed(self._explain(str(answer), values))
            return _convert_to_json(answer)
        except ExpressionFailed as failed:
            raise failed.add_expression(self.text) from None
        except (RuntimeError, RecursionError, ValueError, TypeError) as error:
            raise ExpressionFailed(self._explain(str(error), values)).add_expression(self.text) from None

    def holds(self, values: Mapping[str, Any]) -> bool:
        """The answer of a condition; anything but true or false is a failure, and so is a truth by mixed kinds."""
        answer = self.evaluate(values)
        if answer is True:
            try:
                check_mixed_kinds(self._tree, values)
            except ExpressionFailed as failed:
                raise failed.add_expression(self.text) from None
        if not isinstance(answer, bool):
            wrong = build_sentence("expression.not_a_truth", value=repr(str(answer)[:60]))
            raise ExpressionFailed(wrong).add_expression(self.text)
        return answer

    def _look_up(self, values: Any, path: Path) -> Any:
        """The value at a path. The engine is spared, which would copy it."""
        for at, name in enumerate(path):
            if not isinstance(values, Mapping):
                raise ExpressionFailed(_explain_no_fields(path[:at], values, name)).add_expression(self.text)
            if name not in values:
                raise ExpressionFailed(build_sentence("expression.missing_key", name=name)).add_expression(self.text)
            values = values[name]
        return values

    def _explain(self, said: str, values: Mapping[str, Any]) -> Words:
        """Why there is no answer; if a field is missing, the name of the value in which it is."""
        for path in sorted(self.paths) if "SELECT" in said else ():
            found: Any = values
            for at, name in enumerate(path):
                if not isinstance(found, Mapping):
                    return _explain_no_fields(path[:at], found, name)
                if name not in found:
                    break
                found = found[name]
        return _explain_failure(said)

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"


def compile_expression(text: str, names: Names, *, condition: bool = False) -> Expression:
    """Compile one expression; fails for names that it must not use, and for a `condition` that cannot be one."""
    members = names if isinstance(names, Mapping) else dict.fromkeys(names)
    if len(text) > MAX_TEXT:
        raise BadExpression(build_sentence("expression.too_long", length=len(text), limit=MAX_TEXT))
    if not text.strip():
        raise BadExpression(build_sentence("expression.empty"), build_sentence("expression.write_one"))
    expression = _compile_cached(text, frozenset(members))
    for path in expression.paths:
        _check_member(text, path, members)
    if condition and expression._compiled.return_type() not in (cel.Type.BOOL, cel.Type.DYN):
        raise BadExpression(build_sentence("expression.no_condition"), build_sentence("expression.compare"))
    return expression


@functools.lru_cache(maxsize=4096)
def _compile_cached(text: str, names: frozenset[str]) -> Expression:
    try:
        compiled = _make_environment(names).compile(text)
        tree = read_tree(compiled.serialize())
    except (RuntimeError, ValueError, TypeError) as error:
        raise _explain_compile(text, str(error), names) from None
    unwanted = _find_call(tree, _NOT_OFFERED)
    if unwanted:
        raise BadExpression(build_sentence("expression.not_offered", name=unwanted), build_sentence("expression.join"))
    return Expression(text, compiled, tree, frozenset(path for path in find_paths(tree) if path[0] in names))


@functools.lru_cache(maxsize=256)
def _make_environment(names: frozenset[str]) -> cel.Env:
    return cel.NewEnv(variables=dict.fromkeys(names, cel.Type.DYN), extensions=[ext_strings.ExtStrings()])


def _find_call(node: SyntaxNode, words: Collection[str]) -> str:
    if node.kind == CALL and node.word in words:
        return node.word
    return next(filter(None, (_find_call(below, words) for below in node.below)), "")


def _check_member(text: str, path: Path, members: Mapping[str, Collection[str] | None]) -> None:
    known = members[path[0]]
    if known is None or len(path) < 2 or path[1] in known:
        return
    name = ".".join(path[:2])
    remedy = _suggest_remedy(path[1], known, path[0] + ".")
    raise BadExpression(build_sentence("expression.unknown_name", name=name), remedy, text.find(path[1]) + 1)


def _suggest_remedy(wrong: str, known: Collection[str], prefix: str = "") -> Sentence:
    near = get_nearest(wrong, known)
    if near is not None:
        return build_sentence("suggestion.near", near=prefix + near)
    if not known:
        return build_sentence("suggestion.none")
    return build_sentence("suggestion.few", names=[prefix + name for name in sorted(known)[:12]])


def _explain_compile(text: str, said: str, names: frozenset[str]) -> BadExpression:
    """What the engine says about a text, in words that help the one who wrote it."""
    for word, sign in _WORDS.items():
        found = re.search(rf"""(?<![\w."']){word}(?![\w"'])""", text)
        if found and "Syntax error" in said:
            other = build_sentence("expression.other_sign", word=word, sign=sign)
            return BadExpression(other, column=found.start() + 1)
    if "recursion" in said:
        return BadExpression(build_sentence("expression.too_deep"), build_sentence("expression.split"))
    place = _PLACE.search(said)
    column = max(0, int(place[2])) if place else 0
    undeclared = _UNDECLARED.search(said)
    if undeclared:
        return _explain_undeclared(text, undeclared[1].split(".")[0], names, column)
    return BadExpression(*explain_syntax(place[3] if place else said), column)


def _explain_undeclared(text: str, name: str, names: frozenset[str], column: int) -> BadExpression:
    dashed = re.search(rf"(\w+)\.(\w[\w-]*-{re.escape(name)}[\w-]*)", text)
    if dashed:
        written = build_sentence("expression.dash", first=dashed[1], name=dashed[2])
        return BadExpression(written, column=dashed.start() + 1)
    if not re.search(rf"(?<![\w.]){re.escape(name)}\s*\(", text):
        unknown = build_sentence("expression.unknown_name", name=name)
        return BadExpression(unknown, _suggest_remedy(name, names), column)
    if name in _FUNCTIONS:
        wrong = build_sentence("expression.wrong_values", name=name)
        return BadExpression(wrong, build_sentence("expression.give_one"), column)
    return BadExpression(build_sentence("expression.no_function", name=name), _suggest_remedy(name, _FUNCTIONS), column)


def _explain_no_fields(path: Path, value: Any, name: str) -> Sentence:
    kind = next((key for of, key in _KINDS if isinstance(value, of)), "expression.kind.null")
    return build_sentence("expression.no_fields", path=".".join(path), kind=build_sentence(kind), name=name)


_KINDS = (
    (str, "expression.kind.text"),
    (bool, "expression.kind.bool"),
    (int | float, "expression.kind.number"),
    (list, "expression.kind.list"),
)


def _explain_failure(said: str) -> Words:
    said = re.sub(r"^[A-Z_]+: ", "", said).removesuffix(" [INTERNAL]")
    missing = re.match(r'Key not found in map : "?([^"]*)', said)
    if missing:
        return build_sentence("expression.missing_key", name=missing[1])
    if "No matching overload" in said:
        kinds = said.partition(" : ")[2]
        return build_sentence("expression.kinds_apart", kinds=kinds)
    if "Iteration budget" in said:
        return build_sentence("expression.too_many_items")
    return said[:300]


def _build_path_tree(paths: frozenset[Path]) -> dict[str, Any]:
    """The paths as a tree; None at its ends means all there is."""
    tree: dict[str, Any] = {}
    for path in sorted(paths, key=len):
        at: dict[str, Any] | None = tree
        for name in path[:-1]:
            at = at.setdefault(name, {}) if at is not None else None
        if at is not None:
            at.setdefault(path[-1], None)
    return tree


def _trim(value: Any, wanted: dict[str, Any] | None) -> Any:
    if wanted is None or not isinstance(value, dict):
        return value
    return {name: _trim(value[name], below) for name, below in wanted.items() if name in value}


def _convert_to_json(value: Any) -> Any:
    """A value of the engine as JSON knows it: times and durations become text and seconds, bytes base64."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ExpressionFailed(build_sentence("expression.not_finite"))
        return value
    if isinstance(value, list):
        return [_convert_to_json(item) for item in value]
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise ExpressionFailed(build_sentence("expression.keys_no_text"))
        return {key: _convert_to_json(item) for key, item in value.items()}
    if isinstance(value, datetime.datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode()
    raise ExpressionFailed(build_sentence("expression.not_plain"))
