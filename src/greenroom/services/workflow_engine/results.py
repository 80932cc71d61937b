"""Reads an agent's answer: its structured output, or the JSON in its text, checked against the step's schema."""

import json
import re
from collections import deque
from collections.abc import Iterator
from typing import Any

import msgspec

from greenroom.rules.asks.schema_check import TooManySteps, find_error
from greenroom.rules.runs.model import Run
from greenroom.sentences import Words, build_sentence

MOST_CHARS = 1_000_000
_MOST_PIECES = 20
_MOST_READ = 1_000_000
"""Characters that are read as JSON in search of some."""
_OPENING = re.compile(r"[{\[]")
_FENCED = re.compile(r"```(?:json)?[^\S\n]*\n(.*?)```", re.DOTALL)


class UnusableOutput(Exception):
    """The output cannot be used; `said` says what is wrong with it."""

    def __init__(self, said: Words) -> None:
        super().__init__(str(said))
        self.said = said


def parse_output(run: Run, schema: dict[str, Any] | None) -> Any:
    """A completed run's output. Raises Unusable."""
    told = run.result if run.result is not None else run.output
    if schema is None or not isinstance(told, str | None):
        found = told
        wrong = None if schema is None else _find_mismatch(found, schema)
    else:
        found, wrong = _find_json(told or "", schema)
    if wrong is not None:
        raise UnusableOutput(wrong)
    if len(msgspec.json.encode(found)) > MOST_CHARS:
        raise UnusableOutput(build_sentence("output_problem.long", limit=MOST_CHARS))
    return found


def _find_json(text: str, schema: dict[str, Any]) -> tuple[Any, Words | None]:
    """The first JSON in an answer that fits, and else what is wrong with the first that there is."""
    first: Words | None = None
    fenced = deque((found[1] for found in _FENCED.finditer(text)), _MOST_PIECES)
    for piece in (text.strip(), *reversed(fenced), *_iterate_json(text)):
        try:
            value = json.loads(piece) if isinstance(piece, str) else piece[0]
        except (ValueError, RecursionError):
            continue
        wrong = _find_mismatch(value, schema)
        if wrong is None:
            return value, None
        first = first or wrong
    return None, first or build_sentence("output_problem.no_json", text=repr(text.strip()[:200]))


def _iterate_json(text: str) -> Iterator[tuple[Any]]:
    """Every object and list that stands somewhere in a text, from its beginning."""
    decoder = json.JSONDecoder()
    at, left = 0, _MOST_READ
    for _ in range(_MOST_PIECES):
        opening = _OPENING.search(text, at)
        if opening is None or left < 0:
            return
        left -= len(text) - opening.start()
        try:
            value, at = decoder.raw_decode(text, opening.start())
            yield (value,)
        except (ValueError, RecursionError):
            at = opening.end()


def _find_mismatch(value: Any, schema: dict[str, Any]) -> Words | None:
    try:
        error = find_error(schema, value)
    except TooManySteps:
        return build_sentence("output_problem.large")
    if error is None:
        return None
    return build_sentence("output_problem.at", path=error.json_path, error=error.message[:300])
