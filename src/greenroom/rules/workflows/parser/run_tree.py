"""Completes the workflows of run-tree clients (`agentId`, `edges`), whose steps have names but no prompts."""

import re

from greenroom.rules.workflows.parser.marked_values import MarkedMap

_INPUT = re.compile(r"(?<![\w.])inputs\.([A-Za-z_]\w*)")
_FIELD = re.compile(r"""(has\()?(?<![\w.])steps(?:\.(\w+)|\["([^"]+)"\])\.output\.([A-Za-z_]\w*)""")
_OWN_FIELD = re.compile(r"(has\()?(?<![\w.])output\.([A-Za-z_]\w*)")
WHOLE = "input"
"""The input that holds all that such a client brings to the start."""


def is_run_tree(steps: list[MarkedMap]) -> bool:
    """Whether these steps, as they are written, are a run-tree client's."""
    return any("agentId" in step for step in steps)


def complete_run_tree(written: MarkedMap, steps: list[MarkedMap], edges: list[MarkedMap]) -> None:
    """Give each step a prompt of its name and what it is handed, and the workflow the inputs that it uses."""
    reached = {edge.get("to") for edge in edges}
    for step in steps:
        if any(key in step for key in ("prompt", "skill", "workflow", "wait", "set")):
            continue
        title = str(step.get("name") or step.get("id")).replace("{{", '{{ "{{" }}')
        handed = step.get("inputs")
        if isinstance(handed, MarkedMap) and "prompt" in handed:
            step.put("prompt", "{{ input.prompt }}")
        elif handed:
            step.put("prompt", title + "\n\n{{ input }}")
        elif step.get("id") in reached or step.get("dependencies"):
            step.put("prompt", title)
        else:
            step.put("prompt", f"{title}\n\n{{{{ inputs.{WHOLE} }}}}")
    _ask_for_fields(steps, edges)
    declared = written.get("inputs")
    if declared is None:
        declared = MarkedMap(written.line)
        written.put("inputs", declared)
    if isinstance(declared, MarkedMap):
        for name in [WHOLE, *_find_inputs(steps, edges)]:
            if name not in declared:
                one = MarkedMap(written.line)
                one.put("type", "any")
                one.put("required", False)
                declared.put(name, one)


def _find_inputs(steps: list[MarkedMap], edges: list[MarkedMap]) -> list[str]:
    """The inputs that are named in mappings and conditions."""
    return [name for text in _find_texts(steps, edges) for name in _INPUT.findall(text)]


def _find_texts(steps: list[MarkedMap], edges: list[MarkedMap]) -> list[str]:
    """Mappings and conditions."""
    texts = [part.get("when") for part in [*steps, *edges]]
    for step in steps:
        for key in ("inputs", "output"):
            if isinstance(step.get(key), MarkedMap):
                texts += step[key].values()
    return [text for text in texts if isinstance(text, str)]


def _ask_for_fields(steps: list[MarkedMap], edges: list[MarkedMap]) -> None:
    """Have each agent answer with the fields that others look for in its output: these clients declare none."""
    wanted: dict[str, dict[str, bool]] = {}
    for asks, plain, quoted, field in _FIELD.findall("\n".join(_find_texts(steps, edges))):
        fields = wanted.setdefault(plain or quoted, {})
        fields[field] = fields.get(field, False) or not asks
    for step in steps:
        fields = wanted.get(str(step.get("id")), {})
        mapped = step.get("output")
        if isinstance(mapped, MarkedMap):  # others see what it makes of the answer
            fields = {}
            for text in (text for text in mapped.values() if isinstance(text, str) and "type(output)" not in text):
                fields |= {field: not asks for asks, field in _OWN_FIELD.findall(text)}
        if fields and "output_schema" not in step and ("prompt" in step or "skill" in step):
            schema = {"type": "object", "properties": {field: {} for field in fields}}
            step.put(
                "output_schema", schema | {"required": [field for field, is_needed in fields.items() if is_needed]}
            )
