"""Validates answers against the offered options and against the JSON Schema of a form."""

import re
from typing import Any

from greenroom.errors import Refused
from greenroom.link.call_digest import encode_canonical
from greenroom.rules.asks.model import AskQuestion
from greenroom.rules.asks.schema_check import TooManySteps, find_error, find_schema_error

_SCHEMA_BYTES = 65_536
_MOST_PARTS = 128
"""Objects of a form's schema: each is compared with the whole schema of schemas."""
_FORBIDDEN = ("$ref", "$dynamicRef", "pattern", "patternProperties")
"""References reach out or around in circles, and a pattern can be made to take forever."""
_SECRET = re.compile(r"pass(word|wd|phrase)|secret|api[_ -]?key|(^|[_ -])token$", re.IGNORECASE)


def need_schema(schema: dict[str, Any]) -> None:
    """Refuse a form that is no schema, has external references, or asks for a secret."""
    if len(encode_canonical(schema)) > _SCHEMA_BYTES:
        raise Refused("bad_form.too_large", limit=_SCHEMA_BYTES)
    try:
        if _check_form_node(schema) > _MOST_PARTS:
            raise Refused("bad_form.fields")
        error = find_schema_error(schema)
    except RecursionError:
        raise Refused("bad_form.too_deep") from None
    if error is not None:
        raise Refused("bad_form.schema", error=error.message[:300])


def _check_form_node(node: Any) -> int:
    """Refuse what a form may not hold; returns of how many objects it is made."""
    if isinstance(node, list):
        return sum(map(_check_form_node, node))
    if not isinstance(node, dict):
        return 0
    parts = 1
    for name, value in node.items():
        if name in _FORBIDDEN and not (name == "pattern" and isinstance(value, dict)):
            raise Refused("bad_form.keyword", name=name)
        if name == "properties" and isinstance(value, dict):
            asked = [field for field in value if _SECRET.search(str(field))]
            if asked:
                raise Refused("secret_asked.field", field=asked[0][:80])
        if name == "format" and value == "password":
            raise Refused("secret_asked.format")
        parts += _check_form_node(value)
    return parts


def need_form(schema: dict[str, Any], value: Any) -> None:
    """Refuse a value that does not fit the form."""
    try:
        error = find_error(schema, value)
    except RecursionError:
        raise Refused("bad_answer.form_too_deep") from None
    except TooManySteps:
        raise Refused("bad_answer.form_too_large", "too_large") from None
    if error is not None:
        place = "/".join(str(part) for part in error.absolute_path) or "the form"
        raise Refused("bad_answer.form_field", place=place, error=error.message[:300])


def need_choices(questions: list[AskQuestion], chosen: list[list[str]]) -> None:
    """Refuse an answer that leaves a question open which only one of its options answers."""
    for number, question in enumerate(questions, 1):
        is_chosen = number <= len(chosen) and bool(chosen[number - 1])
        if question.options and not question.custom and not is_chosen:
            offered = ", ".join(option.label for option in question.options)
            raise Refused("bad_answer.choices", number=number, offered=offered[:500])


def need_options(questions: list[AskQuestion], chosen: list[list[str]]) -> None:
    """Refuse choices that were not offered."""
    if len(chosen) > len(questions):
        raise Refused("bad_answer.questions", count=len(questions))
    for number, (question, picked) in enumerate(zip(questions, chosen, strict=False), 1):
        offered = [option.label for option in question.options]
        if len(picked) > 1 and not question.multiple:
            raise Refused("bad_answer.one_choice", number=number, count=len(picked))
        foreign = [choice for choice in picked if choice not in offered]
        if foreign and not question.custom:
            raise Refused("bad_answer.choices", number=number, offered=", ".join(offered)[:500])
