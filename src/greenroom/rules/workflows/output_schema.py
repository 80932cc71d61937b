"""JSON Schemas of steps' outputs: what they may contain."""

import json
from collections.abc import Iterator
from typing import Any

from greenroom.rules.asks.schema_check import find_schema_error, is_pattern

MAX_SCHEMA = 20_000


def find_output_schema_error(schema: dict[str, Any]) -> str:
    """What is wrong with a schema, or nothing."""
    try:
        if len(json.dumps(schema)) > MAX_SCHEMA:
            return "is too large"
        error = find_schema_error(schema)
    except RecursionError:
        return "is nested too deep"
    if error is not None:
        place = "/".join(map(str, error.absolute_path))
        return f"is no JSON Schema: {error.message[:200]}" + (f" at {place}" if place else "")
    for key, value in _find_words(schema):
        if key in ("$ref", "$dynamicRef") and isinstance(value, str) and not value.startswith("#"):
            return "refers to another document"
        if key == "patternProperties":
            return "has patternProperties, which are not taken"
        if key == "pattern" and isinstance(value, str) and not is_pattern(value):
            return f"has a pattern that cannot be matched in linear time: {value[:60]}"
    return ""


def _find_words(schema: Any) -> Iterator[tuple[str, Any]]:
    """Every key of a schema with its value, wherever it stands."""
    if isinstance(schema, dict):
        for key, value in schema.items():
            yield key, value
            yield from _find_words(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _find_words(value)
