"""The JSON Schema of workflow files, made from the types: what editors complete, and what other programs check with.

It takes every form that the loader takes. What needs more than a look at one place (names, circles, unreached steps)
is for `greenroom dag validate`.
"""

import ast
import functools
import inspect
import itertools
import re
from typing import Any

import msgspec

from greenroom.nouns.workflows import definition as d
from greenroom.nouns.workflows.reading import forms

ADDRESS = "https://greenroom.example/schemas/workflow.json"
Schema = dict[str, Any]
_TEXT: Schema = {"type": "string"}
_WORDS: dict[str, dict[str, str]] = {
    "Definition": forms.WORKFLOW_WORDS,
    "Step": forms.STEP_WORDS,
    "AgentConfig": forms.CONFIG_WORDS,
    "Edge": {**forms.EDGE_WORDS, "condition": "when"},
    "Trigger": forms.TRIGGER_WORDS,
    "Level": forms.LEVEL_WORDS,
    "Input": {"enum": "choices"},
}
_SHORT: dict[tuple[str, str], Schema] = {
    ("Step", "retry"): {"type": "integer"},
    ("Step", "wait"): {"type": "number"},
    ("Step", "for_each"): {"type": ["string", "array"]},
    ("Step", "keep_agent"): _TEXT,
    ("Step", "dependencies"): _TEXT,
    ("Step", "files"): _TEXT,
    ("Step", "context"): _TEXT,
    ("Step", "on_error"): {"type": "object", "properties": {"route": _TEXT}, "required": ["route"]},
    ("Wait", "message"): _TEXT,
    ("Trigger", "message"): _TEXT,
    ("Trigger", "after"): _TEXT,
    ("Definition", "triggers"): {"$ref": "#/$defs/Trigger"},
}
"""Short forms, by the part and the key that they stand for."""
_LEVELS = ("mechanical", "recommended", "confirmed", "arbitrated")


@functools.cache
def build_schema() -> Schema:
    """The whole schema."""
    parts: dict[str, Schema] = msgspec.json.schema(d.Definition)["$defs"]
    for name, part in parts.items():
        _describe(name, part)
        properties = part["properties"]
        for (owner, key), short in _SHORT.items():
            if owner == name:
                properties[key] = _or(properties[key], short)
    _step(parts["Step"])
    _small_parts(parts)
    for name, part in parts.items():
        _other_words(name, part)
    inner = parts["Definition"]
    inner["properties"]["$schema"] = _TEXT
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": ADDRESS,
        "title": "Greenroom workflow",
        "type": "object",
        "if": {"required": ["dag"]},
        "then": {"properties": {"dag": {"$ref": "#/$defs/Definition"}}},
        "else": {"$ref": "#/$defs/Definition"},
        "$defs": parts,
    }


@functools.cache
def sentences() -> dict[str, dict[str, str]]:
    """What stands below each key in the source of the definition, by part and key; the part's own under ''."""
    tree = ast.parse(inspect.getsource(d))
    out: dict[str, dict[str, str]] = {}
    for node in tree.body:
        if not isinstance(node, ast.ClassDef):
            continue
        said = {"": _flat(ast.get_docstring(node) or "")}
        for field, below in itertools.pairwise(node.body):
            if (
                isinstance(field, ast.AnnAssign)
                and isinstance(below, ast.Expr)
                and isinstance(below.value, ast.Constant)
            ):
                said[ast.unparse(field.target)] = _flat(str(below.value.value))
        out[node.name] = said
    return out


def _flat(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def _describe(name: str, part: Schema) -> None:
    said = sentences().get(name, {})
    part["description"] = said.get("", "")
    for field in msgspec.structs.fields(getattr(d, name)):
        one = part["properties"][field.encode_name]
        if field.name in said:
            part["properties"][field.encode_name] = one | {"description": said[field.name]}


def _or(schema: Schema, short: Schema) -> Schema:
    """Either form; what says something about the key stays outside."""
    outside: Schema = {key: schema[key] for key in ("description", "default") if key in schema}
    inside = {key: value for key, value in schema.items() if key not in outside}
    return {"anyOf": [inside, short], **outside}


def _step(part: Schema) -> None:
    """What only steps have: levels in several forms, rollbacks as texts, and keys of other programs' steps."""
    properties = part["properties"]
    by_name = {"enum": [*_LEVELS, *(level.capitalize() for level in _LEVELS)]}
    tagged = {"type": "object", "propertyNames": by_name, "minProperties": 1, "maxProperties": 1}
    properties["level"] = _or(_or(properties["level"], by_name), tagged)
    texts = {"type": "array", "items": {"anyOf": [_TEXT, {"type": "object"}]}}
    properties["rollback"] = _or({"description": properties["rollback"].get("description", ""), **texts}, _TEXT)
    mapping = {"type": "object"}
    properties |= dict.fromkeys(forms.MAPPINGS, mapping)
    properties |= {"condition": _TEXT, "command": _TEXT, "idempotent": {"type": "boolean"}}
    properties["policy"] = {"enum": ["all_success", "first_success", "allow_debt"]}


def _small_parts(parts: dict[str, Schema]) -> None:
    retry = parts["Retry"]["properties"]
    retry |= {"maxRetries": retry["max"], "max_retries": retry["max"]}
    retry |= {"backoffMs": {"type": "number"}, "backoff_ms": {"type": "number"}, "backoff": retry["backoff_s"]}
    level = parts["Level"]["properties"]
    level |= {"default_action": _TEXT, "retry": {"type": "integer"}}
    kind = parts["Input"]["properties"]["type"]
    kind["enum"] = [*kind["enum"], *forms.TYPE_WORDS]
    inputs = parts["Definition"]["properties"]["inputs"]
    inputs["additionalProperties"] = {"anyOf": [inputs["additionalProperties"], {"enum": kind["enum"]}]}


def _other_words(name: str, part: Schema) -> None:
    """Take the other words for keys, and keys in camel case; of required keys, any of their words will do."""
    properties = part["properties"]
    words = {word: key for word, key in _WORDS.get(name, {}).items() if key in properties and word not in properties}
    for key in list(properties):
        camel = re.sub(r"_([a-z])", lambda sign: sign[1].upper(), key)
        if camel not in properties:
            words[camel] = key
    properties |= {word: properties[key] for word, key in words.items()}
    required = part.pop("required", [])
    if required:
        ways = [[key, *(word for word, meant in words.items() if meant == key)] for key in required]
        part["allOf"] = [{"anyOf": [{"required": [word]} for word in way]} for way in ways]
