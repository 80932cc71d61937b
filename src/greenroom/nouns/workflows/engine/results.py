"""What an agent has answered: its structured output, or the JSON in its words, checked against the step's schema."""

import functools
import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from greenroom.nouns.runs.model import Run
from greenroom.nouns.workflows.output_schema import validator_of

MOST_CHARS = 1_000_000
_MOST_PIECES = 100
_OPENING = re.compile(r"[{\[]")
_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)


class Unusable(Exception):
    """The output cannot be used; the message says what is wrong with it."""


def output_of(run: Run, schema: dict[str, Any] | None) -> Any:
    """A completed run's output. Raises Unusable."""
    told = run.result if run.result is not None else run.output
    if schema is None or not isinstance(told, str | None):
        found = told
        wrong = None if schema is None else _wrong_with(found, schema)
    else:
        found, wrong = _json_in(told or "", schema)
    if wrong is not None:
        raise Unusable(wrong)
    if len(msgspec.json.encode(found)) > MOST_CHARS:
        raise Unusable(f"it is longer than {MOST_CHARS} characters; write it to a file and answer with its path")
    return found


def _json_in(text: str, schema: dict[str, Any]) -> tuple[Any, str | None]:
    """The first JSON in an answer that fits, and else what is wrong with the first that there is."""
    first: str | None = None
    for piece in (text.strip(), *reversed(_FENCED.findall(text)), *_brackets(text)):
        try:
            value = json.loads(piece) if isinstance(piece, str) else piece[0]
        except (ValueError, RecursionError):
            continue
        wrong = _wrong_with(value, schema)
        if wrong is None:
            return value, None
        first = first or wrong
    return None, first or f"it is no JSON: {text.strip()[:200]!r}"


def _brackets(text: str) -> Iterator[tuple[Any]]:
    """Every object and list that stands somewhere in a text, from its beginning."""
    decoder = json.JSONDecoder()
    at = 0
    for _ in range(_MOST_PIECES):
        opening = _OPENING.search(text, at)
        if opening is None:
            return
        try:
            value, at = decoder.raw_decode(text, opening.start())
            yield (value,)
        except (ValueError, RecursionError):
            at = opening.end()


def _wrong_with(value: Any, schema: dict[str, Any]) -> str | None:
    error = next(iter(_validator(json.dumps(schema, sort_keys=True)).iter_errors(value)), None)
    return None if error is None else f"{error.json_path}: {error.message[:300]}"


@functools.lru_cache(maxsize=256)
def _validator(schema: str) -> Any:
    return validator_of(json.loads(schema))
