"""Completes the workflows of run-tree clients (`agentId`, `edges`), whose steps have names but no prompts."""

import re

from greenroom.nouns.workflows.reading.marked import Map

_INPUT = re.compile(r"(?<![\w.])inputs\.([A-Za-z_]\w*)")
WHOLE = "input"
"""The input that holds all that such a client brings to the start."""


def is_run_tree(steps: list[Map]) -> bool:
    """Whether these steps, as they are written, are a run-tree client's."""
    return any("agentId" in step for step in steps)


def complete(written: Map, steps: list[Map], edges: list[Map]) -> None:
    """Give each step a prompt of its name and what it is handed, and the workflow the inputs that it uses."""
    reached = {edge.get("to") for edge in edges}
    for step in steps:
        if any(key in step for key in ("prompt", "skill", "workflow", "wait", "set")):
            continue
        title = str(step.get("name") or step.get("id")).replace("{{", '{{ "{{" }}')
        handed = step.get("inputs")
        if isinstance(handed, Map) and "prompt" in handed:
            step.put("prompt", "{{ input.prompt }}")
        elif handed:
            step.put("prompt", title + "\n\n{{ input }}")
        elif step.get("id") in reached or step.get("dependencies"):
            step.put("prompt", title)
        else:
            step.put("prompt", f"{title}\n\n{{{{ inputs.{WHOLE} }}}}")
    declared = written.get("inputs")
    if declared is None:
        declared = Map(written.line)
        written.put("inputs", declared)
    if isinstance(declared, Map):
        for name in [WHOLE, *_find_inputs(steps, edges)]:
            if name not in declared:
                one = Map(written.line)
                one.put("type", "any")
                one.put("required", False)
                declared.put(name, one)


def _find_inputs(steps: list[Map], edges: list[Map]) -> list[str]:
    """The inputs that are named in mappings and conditions."""
    texts = [part.get("when") for part in [*steps, *edges]]
    for step in steps:
        for key in ("inputs", "output"):
            if isinstance(step.get(key), Map):
                texts += step[key].values()
    return [name for text in texts if isinstance(text, str) for name in _INPUT.findall(text)]
