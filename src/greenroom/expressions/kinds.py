"""Checks an expression against the types of values that are known in advance, such as those of inputs."""

import functools
import re
from collections.abc import Collection, Mapping

from cel_expr_python import cel  # type: ignore[import-untyped]
from cel_expr_python.ext import ext_strings  # type: ignore[import-untyped]

from greenroom.sentences import Words, build_sentence, join_with_and

_TYPES = {
    "string": cel.Type.STRING,
    "integer": cel.Type.INT,
    "boolean": cel.Type.BOOL,
    "list": cel.Type.LIST,
    "object": cel.Type.MAP,
}
KINDS = frozenset(_TYPES)
_WORDS = {
    "string": "expression.kind.text",
    "int": "expression.kind.integer",
    "bool": "expression.kind.bool",
    "list": "expression.kind.list",
    "map": "expression.kind.map",
    "dyn": "expression.kind.any",
}
_OVERLOAD = re.compile(r"no matching overload for '([^']*)' applied to '\((.*)\)'")
_SELECT = re.compile(r"expression of type '([^']*)' cannot be the operand of a select")
_INSIDE = re.compile(r"\([^()]*\)|<.*>")
"""What a list or an object holds."""


def check_kinds(text: str, names: Collection[str], kinds: Mapping[str, str], wanted: str = "") -> Words:
    """What is wrong with an expression that can be compiled, over values of these kinds (`inputs.n`: `integer`).

    `wanted` is the kind that its answer must be of, if it matters. Nothing is said where the answer may be right.
    """
    if "has(" in text:  # the engine takes a name with a kind for a value that is always there
        return ""
    try:
        found = _make_environment(frozenset(names), frozenset(kinds.items())).compile(text).return_type().name()
    except RuntimeError as error:
        return _explain(str(error))
    given, must = _get_plain_kind(found), _get_plain_kind(_TYPES[wanted].name()) if wanted else ""
    if not must or given in (must, "dyn"):
        return ""
    return build_sentence("expression.gives", given=_describe_kind(given), must=_describe_kind(must))


@functools.lru_cache(maxsize=64)
def _make_environment(names: frozenset[str], kinds: frozenset[tuple[str, str]]) -> cel.Env:
    variables = dict.fromkeys(names, cel.Type.DYN) | {name: _TYPES[kind] for name, kind in kinds}
    return cel.NewEnv(variables=variables, extensions=[ext_strings.ExtStrings()])


def _explain(said: str) -> Words:
    selected = _SELECT.search(said)
    if selected:
        return build_sentence("expression.fieldless", kind=_describe_kind(_get_plain_kind(selected[1])))
    found = _OVERLOAD.search(said)
    if found is None:
        return ""
    given = _INSIDE.sub("", found[2]).split(", ")
    if "null_type" in given or "double" in given:  # over the values themselves these may go together
        return ""
    sign = found[1].strip("_").replace("_", " ").strip()
    kinds = join_with_and(_describe_kind(_get_plain_kind(kind)) for kind in given)
    return build_sentence("expression.sign_apart", sign=sign, kinds=kinds)


def _get_plain_kind(kind: str) -> str:
    return _INSIDE.sub("", kind).lower()


def _describe_kind(plain: str) -> Words:
    return build_sentence(_WORDS[plain]) if plain in _WORDS else plain
