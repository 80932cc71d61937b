"""Converts other programs' formats, and our short forms, into the one form of a workflow.

Known are the agent teams' `dag:` with `tasks:` (and its older keys), the `steps` + `edges` of run-tree clients with
keys in camel case, and short forms such as `retry: 3`. The dictionaries say which other word means which key.
"""

import re
from typing import Any

import msgspec

from greenroom.rules.workflows import definition as d
from greenroom.rules.workflows.parser.foreign_expressions import translate_expression
from greenroom.rules.workflows.parser.marked_values import MarkedList, MarkedMap
from greenroom.rules.workflows.parser.run_tree import complete_run_tree, is_run_tree

WORKFLOW_WORDS = {"tasks": "steps", "vars": "variables", "projectId": "project", "project_id": "project"}
STEP_WORDS = {
    "task_id": "id",
    "agentId": "profile",
    "agent": "profile",
    "skill_id": "skill",
    "deps": "dependencies",
    "depends_on": "dependencies",
    "needs": "dependencies",
    "if": "when",
    "input": "inputs",
    "retryPolicy": "retry",
    "timeout_secs": "timeout_s",
    "timeout": "timeout_s",
}
CONFIG_WORDS = {"timeout_secs": "timeout_s", "timeout": "timeout_s"}
EDGE_WORDS = {"source": "from", "target": "to", "if": "when"}
TRIGGER_WORDS = {"schedule": "cron", "tz": "timezone", "catchup": "catch_up"}
LEVEL_WORDS = {"type": "kind", "timeout": "timeout_s", "timeout_secs": "timeout_s"}
TYPE_WORDS = {
    "str": "string",
    "text": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "array": "list",
    "dict": "object",
    "map": "object",
}
DEFAULT_ACTIONS = {
    **dict.fromkeys(("run", "execute", "proceed", "continue", "approve", "accept"), "run"),
    "skip": "skip",
    **dict.fromkeys(("abort", "reject", "deny", "stop", "cancel"), "abort"),
}
MAPPINGS = {"inputMapping": "inputs", "input_mapping": "inputs", "outputMapping": "output", "output_mapping": "output"}
"""Keys of other programs' steps; their values, and a `condition`, are paths in those programs' own spelling."""


_KEYS = {
    part.__name__: frozenset(field.encode_name for field in msgspec.structs.fields(part))
    for part in (d.WorkflowDefinition, d.Step, d.AgentConfig, d.Edge, d.Trigger, d.Level)
}


def normalize_workflow(written: MarkedMap) -> MarkedMap:
    """The workflow in the one form; what makes no sense is left as it is, to be named by the checks."""
    written.pop("$schema", None)  # it is for editors
    inner = written.get("dag")
    if isinstance(inner, MarkedMap):
        for key, value in written.items():
            if key != "dag" and key not in inner:
                inner.put(key, value, written.lines[key])
        written = inner
    _rename_keys(written, WORKFLOW_WORDS, d.WorkflowDefinition)
    _normalize_each(written, "inputs", _normalize_input)
    steps = _find_maps(written, "steps")
    from_run_tree = is_run_tree(steps)
    for step in steps:
        _rename_keys(step, STEP_WORDS, d.Step)
    ids = frozenset(step["id"] for step in steps if isinstance(step.get("id"), str))
    for step in steps:
        _normalize_step(step, ids)
    edges = _find_maps(written, "edges")
    for edge in edges:
        _rename_keys(edge, EDGE_WORDS, d.Edge)
        _normalize_condition(edge, ids)
    if from_run_tree:
        _join_branches(steps, edges)
        complete_run_tree(written, steps, edges)
    _normalize_triggers(written)
    _normalize_each(written, "workflows", normalize_workflow)
    return written


def _find_maps(written: MarkedMap, key: str) -> list[MarkedMap]:
    found = written.get(key)
    return [one for one in found if isinstance(one, MarkedMap)] if isinstance(found, MarkedList) else []


def _rename_keys(written: MarkedMap, words: dict[str, str], part: type[d.DefinitionPart]) -> None:
    """Take other words for our keys, and our keys in camel case."""
    known = _KEYS[part.__name__]
    for key in list(written):
        plain = re.sub(r"(?<=[a-z0-9])[A-Z]", lambda sign: "_" + sign[0].lower(), key)
        if key in known:
            continue
        if key in words:
            written.rename(key, words[key])
        elif plain in known:
            written.rename(key, plain)


def _normalize_each(written: MarkedMap, key: str, change: Any) -> None:
    inner = written.get(key)
    if isinstance(inner, MarkedMap):
        for name, value in inner.items():
            if isinstance(value, MarkedMap):
                change(value)
            elif key == "inputs" and isinstance(value, str):
                inner[name] = _wrap_value(inner, name, "type", TYPE_WORDS.get(value, value))


def _wrap_value(written: MarkedMap, key: str, inner_key: str, value: Any) -> MarkedMap:
    """A mapping of one key, in the place of a short form."""
    made = MarkedMap(written.lines.get(key, written.line))
    made.put(inner_key, value)
    return made


def _normalize_input(written: MarkedMap) -> None:
    written.rename("enum", "choices")
    if isinstance(written.get("type"), str):
        written["type"] = TYPE_WORDS.get(written["type"], written["type"])
    if "default" in written and "required" not in written:
        written.put("required", False, written.lines["default"])


def _normalize_step(step: MarkedMap, ids: frozenset[str]) -> None:
    _normalize_condition(step, ids)
    for other, key in MAPPINGS.items():
        if isinstance(step.get(other), MarkedMap) and key not in step:
            for name, value in step[other].items():
                if isinstance(value, str):
                    step[other][name] = translate_expression(value, ids, inside=key == "output")
            step.rename(other, key)
    if "command" in step and "prompt" not in step:
        step["command"] = f"Run this command, and report what it does:\n\n{step['command']}"
        step.rename("command", "prompt")
    _normalize_agent(step)
    _normalize_level(step)
    _normalize_retry(step)
    _expand_short_forms(step)
    _normalize_rollback(step, ids)


def _normalize_condition(written: MarkedMap, ids: frozenset[str]) -> None:
    if isinstance(written.get("condition"), str) and "when" not in written:
        written["condition"] = translate_expression(written["condition"], ids, inside=False)
        written.rename("condition", "when")


def _normalize_agent(step: MarkedMap) -> None:
    if isinstance(step.get("agent_config"), MarkedMap):
        _rename_keys(step["agent_config"], CONFIG_WORDS, d.AgentConfig)
    if isinstance(step.get("keep_agent"), str):
        step.put("keep_as", step["keep_agent"], step.lines["keep_agent"])
        step["keep_agent"] = True
    if isinstance(step.get("idempotent"), bool):
        idempotent = step.pop("idempotent")
        if idempotent and "on_crash" not in step:
            step.put("on_crash", "rerun", step.lines["idempotent"])
    policy = step.get("policy")
    if policy in ("all_success", "first_success", "allow_debt"):
        step.pop("policy")
        key, value = ("on_error", "ignore") if policy == "allow_debt" else ("join", "all")
        step.put(key, "any" if policy == "first_success" else value, step.lines["policy"])


def _normalize_level(step: MarkedMap) -> None:
    level = step.get("level")
    if isinstance(level, str):
        step["level"] = level = _wrap_value(step, "level", "kind", level.lower())
    if not isinstance(level, MarkedMap):
        return
    if len(level) == 1 and isinstance(next(iter(level.values())), MarkedMap | None) and "kind" not in level:
        kind, inner = next(iter(level.items()))
        made = inner if isinstance(inner, MarkedMap) else MarkedMap(level.line)
        made.put("kind", kind.lower(), level.lines[kind])
        step["level"] = level = made
    _rename_keys(level, LEVEL_WORDS, d.Level)
    action = level.get("default_action", level.get("default"))
    if isinstance(action, str) and action.lower() in DEFAULT_ACTIONS:
        level.rename("default_action", "default")
        level["default"] = DEFAULT_ACTIONS[action.lower()]
    if level.get("kind") == "mechanical" and isinstance(level.get("retry"), int):
        retry = level.pop("retry")
        if "retry" not in step:
            step.put("retry", retry, level.lines["retry"])


def _normalize_retry(step: MarkedMap) -> None:
    retry = step.get("retry")
    if isinstance(retry, int) and not isinstance(retry, bool):
        step["retry"] = _wrap_value(step, "retry", "max", retry)
    if isinstance(retry, MarkedMap):
        for word in ("maxRetries", "max_retries"):
            retry.rename(word, "max")
        for word in ("backoffMs", "backoff_ms"):
            if isinstance(retry.get(word), int | float):
                retry[word] = retry[word] / 1000
                retry.rename(word, "backoff_s")
        retry.rename("backoff", "backoff_s")


def _expand_short_forms(step: MarkedMap) -> None:
    for key in ("dependencies", "files", "context"):
        if isinstance(step.get(key), str):
            made = MarkedList(step.lines[key])
            made.put(step[key])
            step[key] = made
    if isinstance(step.get("for_each"), str | MarkedList):
        step["for_each"] = _wrap_value(step, "for_each", "items", step["for_each"])
    if isinstance(step.get("wait"), int | float):
        step["wait"] = _wrap_value(step, "wait", "seconds", step["wait"])
    if isinstance(step.get("wait"), MarkedMap) and isinstance(step["wait"].get("message"), str):
        step["wait"]["message"] = _wrap_value(step["wait"], "message", "thread", step["wait"]["message"])
    on_error = step.get("on_error")
    if isinstance(on_error, MarkedMap) and isinstance(on_error.get("route"), str):
        step["on_error"] = f"route:{on_error['route']}"


def _normalize_rollback(step: MarkedMap, ids: frozenset[str]) -> None:
    rollback = step.get("rollback")
    if isinstance(rollback, str):
        made = MarkedList(step.lines["rollback"])
        made.put(rollback)
        step["rollback"] = rollback = made
    if not isinstance(rollback, MarkedList):
        return
    for at, inner in enumerate(rollback):
        if isinstance(inner, str):
            rollback[at] = inner = _wrap_value(step, "rollback", "prompt", inner)
            for key in ("profile", "agent_runtime", "agent_config"):
                if key in step:
                    inner.put(key, step[key])
        if isinstance(inner, MarkedMap):
            _rename_keys(inner, STEP_WORDS, d.Step)
            if "id" not in inner:
                inner.put("id", f"{step.get('id')}.rollback.{at + 1}")
            _normalize_step(inner, ids)


def _join_branches(steps: list[MarkedMap], edges: list[MarkedMap]) -> None:
    """Where edges alone lead to a step, branches that were parted by conditions meet: one that is taken is enough."""
    for step in steps:
        incoming = [edge for edge in edges if edge.get("to") == step.get("id")]
        if len(incoming) > 1 and "join" not in step and not step.get("dependencies"):
            step.put("join", "any")


def _normalize_triggers(written: MarkedMap) -> None:
    triggers = written.get("triggers")
    if isinstance(triggers, MarkedMap):
        made = MarkedList(written.lines["triggers"])
        made.put(triggers)
        written["triggers"] = triggers = made
    if not isinstance(triggers, MarkedList):
        return
    for at, trigger in enumerate(triggers):
        if isinstance(trigger, MarkedMap):
            _rename_keys(trigger, TRIGGER_WORDS, d.Trigger)
            for key, inner_key in (("message", "thread"), ("after", "workflow")):
                if isinstance(trigger.get(key), str):
                    trigger[key] = _wrap_value(trigger, key, inner_key, trigger[key])
            if "id" not in trigger:
                trigger.put("id", f"trigger{at + 1}")
