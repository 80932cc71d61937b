"""Validates values by JSON Schema with a bounded number of steps, whatever the schema and the value.

A step is one keyword at one value. Long lists and large objects count for more, because a keyword goes through them.
"""

import functools
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

from greenroom.expressions import ExpressionFailed, compile_expression

MOST_STEPS = 10_000
"""As much as rules may take: the hub answers nobody else meanwhile."""
_FREE = 50
_left: ContextVar[int] = ContextVar("steps_left")
_MATCHES = compile_expression("text.matches(pattern)", ("text", "pattern"))
"""The engine of expressions matches in linear time; Python's own can be made to try forever."""


class TooManySteps(Exception):
    """The check was given up."""


def find_error(schema: Any, value: Any, most_steps: int = MOST_STEPS) -> Any | None:
    """The first jsonschema error of a value; raises TooManySteps, and RecursionError for values that are too deep."""
    validator = load_validator()
    _left.set(most_steps)
    return next(iter(validator(schema).iter_errors(value)), None)


def find_schema_error(schema: Any) -> Any | None:
    """The first error that a schema has as a schema. It takes a while for each schema inside of it: steps do not count
    behind the references of the schema of schemas."""
    return find_error(load_validator().META_SCHEMA, schema)


def is_pattern(pattern: str) -> bool:
    """Whether a pattern can be matched in linear time."""
    try:
        _MATCHES.holds({"text": "", "pattern": pattern})
    except ExpressionFailed:
        return False
    return True


@functools.cache
def load_validator() -> Any:
    """The class of validators. The first call takes long, and is worth a thread."""
    from jsonschema import Draft202012Validator, validators

    counted = {word: _count(check) for word, check in Draft202012Validator.VALIDATORS.items()}
    counted |= {
        "pattern": _count(_check_pattern),
        "uniqueItems": _count(Draft202012Validator.VALIDATORS["uniqueItems"], 1),
    }
    validator = validators.extend(Draft202012Validator, counted)  # type: ignore[no-untyped-call]
    _left.set(MOST_STEPS)
    validator(validator.META_SCHEMA).is_valid({"properties": {"first": {}}})  # it reads the schema of schemas
    return validator


def _count(check: Callable[..., Any], power: int = 0) -> Callable[..., Iterator[Any]]:
    """A keyword's check that takes steps. `power`: it may compare each item with all others."""

    def counted(validator: Any, wanted: Any, value: Any, schema: Any) -> Iterator[Any]:
        size = _get_size(wanted) + _get_size(value) * (_get_size(value) if power else 1)
        left = _left.get() - 1 - size // _FREE
        _left.set(left)
        if left < 0:
            raise TooManySteps
        yield from check(validator, wanted, value, schema) or ()

    return counted


def _get_size(value: Any) -> int:
    return len(value) if isinstance(value, dict | list | str) else 0


def _check_pattern(_: Any, pattern: str, value: Any, __: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if isinstance(value, str):
        try:
            fits = _MATCHES.holds({"text": value, "pattern": pattern})
        except ExpressionFailed:
            fits = False
        if not fits:
            yield ValidationError(f"{value[:200]!r} does not match {pattern!r}")
