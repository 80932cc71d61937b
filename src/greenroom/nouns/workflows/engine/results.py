"""What an agent has answered: its structured output, or the JSON in its words, checked against the step's schema."""

import functools
import json
import re
from typing import Any

import jsonschema
import msgspec

from greenroom.nouns.runs.model import Run

MOST_CHARS = 1_000_000
_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)


class Unusable(Exception):
    """The output cannot be used; the message says what is wrong with it."""


def output_of(run: Run, schema: dict[str, Any] | None) -> Any:
    """A completed run's output. Raises Unusable."""
    if run.result is not None and not isinstance(run.result, str):
        found: Any = run.result
    elif schema is None:
        found = run.result if run.result is not None else run.output
    else:
        found = _json_in(str(run.result if run.result is not None else run.output or ""))
    if len(msgspec.json.encode(found)) > MOST_CHARS:
        raise Unusable(f"it is longer than {MOST_CHARS} characters; write it to a file and answer with its path")
    if schema is not None:
        _check(found, schema)
    return found


def _json_in(text: str) -> Any:
    """The JSON of an answer: all of it, or its last fenced block, or what stands between its outermost brackets."""
    pieces = [text.strip(), *reversed(_FENCED.findall(text))]
    start = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=-1)
    if start >= 0:
        pieces.append(text[start : max(text.rfind("}"), text.rfind("]")) + 1])
    for piece in pieces:
        try:
            return json.loads(piece)
        except (ValueError, RecursionError):
            continue
    raise Unusable(f"it is no JSON: {text.strip()[:200]!r}")


def _check(value: Any, schema: dict[str, Any]) -> None:
    error = next(iter(_validator(json.dumps(schema, sort_keys=True)).iter_errors(value)), None)
    if error is not None:
        raise Unusable(f"{error.json_path}: {error.message[:300]}")


@functools.lru_cache(maxsize=256)
def _validator(schema: str) -> Any:
    given = json.loads(schema)
    return jsonschema.validators.validator_for(given)(given)
