"""JSON Schemas of steps' outputs: what they may say, and checking with them in a time that no answer can stretch."""

import json
from collections.abc import Iterator
from typing import Any

from greenroom.expressions import ExpressionFailed, compile

MAX_SCHEMA = 20_000
_MATCHES = compile("text.matches(pattern)", ("text", "pattern"))
"""The engine of expressions matches in linear time; Python's own can be made to try for ever."""


def bad_schema(schema: dict[str, Any]) -> str:
    """What is wrong with a schema, or nothing."""
    import jsonschema  # it takes long to load, and few steps have one

    try:
        if len(json.dumps(schema)) > MAX_SCHEMA:
            return "is too large"
        jsonschema.Draft202012Validator.check_schema(schema)
    except RecursionError:
        return "is nested too deep"
    except jsonschema.SchemaError as error:
        place = "/".join(map(str, error.absolute_path))
        return f"is no JSON Schema: {error.message[:200]}" + (f" at {place}" if place else "")
    for key, value in _find_words(schema):
        if key in ("$ref", "$dynamicRef") and isinstance(value, str) and not value.startswith("#"):
            return "refers to another document"
        if key == "patternProperties":
            return "has patternProperties, which are not taken"
        if key == "pattern" and isinstance(value, str) and _is_bad_pattern(value):
            return f"has a pattern that cannot be matched in linear time: {value[:60]}"
    return ""


def validator_of(schema: dict[str, Any]) -> Any:
    """A validator of jsonschema that matches patterns in linear time."""
    from jsonschema import Draft202012Validator, validators

    linear: Any = validators.extend(Draft202012Validator, {"pattern": _pattern})  # type: ignore[no-untyped-call]
    return linear(schema)


def _pattern(_: Any, pattern: str, value: Any, __: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if isinstance(value, str):
        try:
            fits = _MATCHES.holds({"text": value, "pattern": pattern})
        except ExpressionFailed:
            fits = False
        if not fits:
            yield ValidationError(f"{value[:200]!r} does not match {pattern!r}")


def _is_bad_pattern(pattern: str) -> bool:
    try:
        _MATCHES.holds({"text": "", "pattern": pattern})
    except ExpressionFailed:
        return True
    return False


def _find_words(schema: Any) -> Iterator[tuple[str, Any]]:
    """Every key of a schema with its value, wherever it stands."""
    if isinstance(schema, dict):
        for key, value in schema.items():
            yield key, value
            yield from _find_words(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _find_words(value)
