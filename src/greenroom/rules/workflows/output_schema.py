"""JSON Schemas of steps' outputs: what they may contain."""

import json
from collections.abc import Iterator
from typing import Any

from greenroom.rules.asks.schema_check import find_schema_error, is_pattern
from greenroom.sentences import Sentence, build_sentence

MAX_SCHEMA = 20_000


def find_output_schema_error(schema: dict[str, Any]) -> Sentence | None:
    """What is wrong with a schema."""
    try:
        if len(json.dumps(schema)) > MAX_SCHEMA:
            return build_sentence("output_schema.large")
        error = find_schema_error(schema)
    except RecursionError:
        return build_sentence("output_schema.deep")
    if error is not None:
        place = "/".join(map(str, error.absolute_path))
        if place:
            return build_sentence("output_schema.invalid_at", error=error.message[:200], place=place)
        return build_sentence("output_schema.invalid", error=error.message[:200])
    for key, value in _find_words(schema):
        if key in ("$ref", "$dynamicRef") and isinstance(value, str) and not value.startswith("#"):
            return build_sentence("output_schema.elsewhere")
        if key == "patternProperties":
            return build_sentence("output_schema.pattern_properties")
        if key == "pattern" and isinstance(value, str) and not is_pattern(value):
            return build_sentence("output_schema.pattern", pattern=value[:60])
    return None


def _find_words(schema: Any) -> Iterator[tuple[str, Any]]:
    """Every key of a schema with its value, wherever it stands."""
    if isinstance(schema, dict):
        for key, value in schema.items():
            yield key, value
            yield from _find_words(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _find_words(value)
