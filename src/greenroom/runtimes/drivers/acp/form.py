"""Questions that an agent asks as a form: what a person sees, and how an answer in words fills it in."""

import json
from typing import Any

from greenroom.json_types import JsonObject
from greenroom.runtimes.contract import QuestionAsked


def build_question(id: str, params: JsonObject) -> QuestionAsked:
    """A form as a question. Several fields become lines, and a single choice becomes options."""
    fields = _fields(params)
    choices = {name: found for name, field in fields.items() if (found := _choices(field))}
    lines = [str(params.get("message") or "")]
    if len(choices) > 1 or len(fields) > len(choices) + 1:
        lines += [_line(name, field) for name, field in fields.items()]
    only = next(iter(choices.values())) if len(choices) == 1 else []
    return QuestionAsked(permission=id, question="\n".join(filter(None, lines)), options=only)


def fill_form(params: JsonObject, text: str) -> JsonObject:
    """The form's content for an answer: words for its one question, or a JSON object with all fields."""
    fields = _fields(params)
    if not fields:
        return {}
    try:
        given = json.loads(text)
    except ValueError:
        given = None
    if isinstance(given, dict) and given.keys() <= fields.keys():
        return given
    name = next((name for name, field in fields.items() if text in _choices(field)), None)
    if name is None:
        free = [name for name, field in fields.items() if not _choices(field)]
        name = free[0] if free else next(iter(fields))
    return {name: _convert_answer(fields[name], text)}


def _fields(params: JsonObject) -> dict[str, JsonObject]:
    schema = params.get("requestedSchema")
    found = schema.get("properties") if isinstance(schema, dict) else None
    return {name: field for name, field in (found or {}).items() if isinstance(field, dict)}


def _choices(field: JsonObject) -> list[str]:
    found = field.get("items")
    items = found if isinstance(found, dict) else {}
    titled = field.get("oneOf") or field.get("anyOf") or items.get("anyOf") or items.get("oneOf") or []
    plain = field.get("enum") or items.get("enum") or []
    return [str(choice.get("const")) for choice in titled if isinstance(choice, dict)] or [str(one) for one in plain]


def _line(name: str, field: JsonObject) -> str:
    words = field.get("description") or field.get("title") or ""
    choices = " | ".join(_choices(field))
    return f"{name}: {words}" + (f" ({choices})" if choices else "")


def _convert_answer(field: JsonObject, text: str) -> Any:
    try:
        match field.get("type"):
            case "integer":
                return int(text)
            case "number":
                return float(text)
            case "boolean":
                return text.strip().lower() in ("yes", "y", "true", "1")
            case "array":
                return [text]
    except ValueError:
        return text
    return text
