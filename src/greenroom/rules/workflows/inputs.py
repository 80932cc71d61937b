"""The inputs of a run: checks the types of the given values and fills in defaults."""

import json
from collections.abc import Mapping
from typing import Any

from greenroom.errors import Refused
from greenroom.rules.workflows.checks.problems import suggest_nearest
from greenroom.rules.workflows.definition import Input, WorkflowDefinition
from greenroom.sentences import Sentence, build_sentence

_TYPES: dict[str, tuple[type[Any], ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "list": (list,),
    "object": (dict,),
    "any": (object,),
}


def resolve_inputs(definition: WorkflowDefinition, given: Mapping[str, Any]) -> dict[str, Any]:
    """The value of every input by name, given or default; refuses what is missing, unknown or of another type."""
    for name in given:
        if name not in definition.inputs:
            none = "" if definition.inputs else build_sentence("workflow_remedy.no_inputs")
            remedy = suggest_nearest(name, definition.inputs, none)
            raise Refused("bad_input.unknown", name=name[:64], remedy=remedy)
    values: dict[str, Any] = {}
    for name, one in definition.inputs.items():
        if name not in given:
            if one.required:
                raise Refused("bad_input.missing", name=name, type=one.type)
            values[name] = one.default
            continue
        wrong = find_value_problem(one, given[name])
        if wrong and not (given[name] is None and not one.required):
            raise Refused("bad_input.value", name=name, problem=wrong)
        values[name] = given[name]
    return values


def parse_input(definition: WorkflowDefinition, name: str, text: str) -> Any:
    """The value of a text, as on a command line: the text itself, or JSON if the input is no string."""
    one = definition.inputs.get(name)
    if one is None or one.type == "string":
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        if one.type == "any":
            return text
        raise Refused("bad_input.unreadable", name=name, type=one.type, text=text[:60]) from None


def find_value_problem(one: Input, value: Any) -> Sentence | None:
    """What is wrong with a value for this input; None if it fits."""
    fits = isinstance(value, _TYPES[one.type]) and (one.type in ("boolean", "any") or not isinstance(value, bool))
    if not fits:
        return build_sentence("workflow_problem.input_type", type=one.type)
    if one.choices and value not in one.choices:
        choices = [json.dumps(choice, ensure_ascii=False) for choice in one.choices[:12]]
        return build_sentence("workflow_problem.input_choice", choices=choices)
    return None
