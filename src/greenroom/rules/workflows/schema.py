"""The JSON Schema of workflow files, generated from the types, for editors and other programs.

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

from greenroom.rules.workflows import definition as d
from greenroom.rules.workflows.parser import normal_form

ADDRESS = "https://greenroom.example/schemas/workflow.json"
Schema = dict[str, Any]
_TEXT: Schema = {"type": "string"}
_WORDS: dict[str, dict[str, str]] = {
    "WorkflowDefinition": normal_form.WORKFLOW_WORDS,
    "Step": normal_form.STEP_WORDS,
    "AgentConfig": normal_form.CONFIG_WORDS,
    "Edge": {**normal_form.EDGE_WORDS, "condition": "when"},
    "Trigger": normal_form.TRIGGER_WORDS,
    "Level": normal_form.LEVEL_WORDS,
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
    ("WaitConfig", "message"): _TEXT,
    ("Trigger", "message"): _TEXT,
    ("Trigger", "after"): _TEXT,
    ("WorkflowDefinition", "triggers"): {"$ref": "#/$defs/Trigger"},
}
"""Short forms, by their part and the key that they replace."""
_LEVELS = ("mechanical", "recommended", "confirmed", "arbitrated")


@functools.cache
def build_schema() -> Schema:
    """The whole schema."""
    parts: dict[str, Schema] = msgspec.json.schema(d.WorkflowDefinition)["$defs"]
    for name, part in parts.items():
        _describe(name, part)
        properties = part["properties"]
        for (owner, key), short in _SHORT.items():
            if owner == name:
                properties[key] = _allow_either(properties[key], short)
    _extend_step(parts["Step"])
    _extend_small_parts(parts)
    for name, part in parts.items():
        _add_aliases(name, part)
    inner = parts["WorkflowDefinition"]
    inner["properties"]["$schema"] = _TEXT
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": ADDRESS,
        "title": "Greenroom workflow",
        "type": "object",
        "if": {"required": ["dag"]},
        "then": {"properties": {"dag": {"$ref": "#/$defs/WorkflowDefinition"}}},
        "else": {"$ref": "#/$defs/WorkflowDefinition"},
        "$defs": parts,
    }


@functools.cache
def read_key_descriptions() -> dict[str, dict[str, str]]:
    """What stands below each key in the source of the definition, by part and key; the part's own under ''."""
    tree = ast.parse(inspect.getsource(d))
    out: dict[str, dict[str, str]] = {}
    for node in tree.body:
        if not isinstance(node, ast.ClassDef):
            continue
        said = {"": _collapse_spaces(ast.get_docstring(node) or "")}
        for field, below in itertools.pairwise(node.body):
            if (
                isinstance(field, ast.AnnAssign)
                and isinstance(below, ast.Expr)
                and isinstance(below.value, ast.Constant)
            ):
                said[ast.unparse(field.target)] = _collapse_spaces(str(below.value.value))
        out[node.name] = said
    return out


def _collapse_spaces(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def _describe(name: str, part: Schema) -> None:
    said = read_key_descriptions().get(name, {})
    part["description"] = said.get("", "")
    for field in msgspec.structs.fields(getattr(d, name)):
        one = part["properties"][field.encode_name]
        if field.name in said:
            part["properties"][field.encode_name] = one | {"description": said[field.name]}


def _allow_either(schema: Schema, short: Schema) -> Schema:
    """Either form; what says something about the key stays outside."""
    outside: Schema = {key: schema[key] for key in ("description", "default") if key in schema}
    inside = {key: value for key, value in schema.items() if key not in outside}
    return {"anyOf": [inside, short], **outside}


def _extend_step(part: Schema) -> None:
    """What only steps have: levels in several forms, rollbacks as texts, and keys of other programs' steps."""
    properties = part["properties"]
    by_name = {"enum": [*_LEVELS, *(level.capitalize() for level in _LEVELS)]}
    tagged = {"type": "object", "propertyNames": by_name, "minProperties": 1, "maxProperties": 1}
    properties["level"] = _allow_either(_allow_either(properties["level"], by_name), tagged)
    texts = {"type": "array", "items": {"anyOf": [_TEXT, {"type": "object"}]}}
    properties["rollback"] = _allow_either(
        {"description": properties["rollback"].get("description", ""), **texts}, _TEXT
    )
    mapping = {"type": "object"}
    properties |= dict.fromkeys(normal_form.MAPPINGS, mapping)
    properties |= {"condition": _TEXT, "command": _TEXT, "idempotent": {"type": "boolean"}}
    properties["policy"] = {"enum": ["all_success", "first_success", "allow_debt"]}


def _extend_small_parts(parts: dict[str, Schema]) -> None:
    retry = parts["RetryPolicy"]["properties"]
    retry |= {"maxRetries": retry["max"], "max_retries": retry["max"]}
    retry |= {"backoffMs": {"type": "number"}, "backoff_ms": {"type": "number"}, "backoff": retry["backoff_s"]}
    level = parts["Level"]["properties"]
    level |= {"default_action": _TEXT, "retry": {"type": "integer"}}
    kind = parts["Input"]["properties"]["type"]
    kind["enum"] = [*kind["enum"], *normal_form.TYPE_WORDS]
    inputs = parts["WorkflowDefinition"]["properties"]["inputs"]
    inputs["additionalProperties"] = {"anyOf": [inputs["additionalProperties"], {"enum": kind["enum"]}]}


def _add_aliases(name: str, part: Schema) -> None:
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
