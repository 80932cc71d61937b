"""Turns the forms in which workflows are written elsewhere, and the short forms of ours, into the one form.

Known are the agent teams' `dag:` with `tasks:` (and its older keys), the `steps` + `edges` of run-tree clients with
keys in camel case, and short forms such as `retry: 3`. The dictionaries say which other word means which key.
"""

import re
from typing import Any

import msgspec

from greenroom.nouns.workflows import definition as d
from greenroom.nouns.workflows.reading.foreign import translate
from greenroom.nouns.workflows.reading.marked import Map, Seq
from greenroom.nouns.workflows.reading.run_tree import complete, is_run_tree

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
    for part in (d.Definition, d.Step, d.AgentConfig, d.Edge, d.Trigger, d.Level)
}


def to_one_form(written: Map) -> Map:
    """The workflow in the one form; what makes no sense is left as it is, to be named by the checks."""
    written.pop("$schema", None)  # it is for editors
    inner = written.get("dag")
    if isinstance(inner, Map):
        for key, value in written.items():
            if key != "dag" and key not in inner:
                inner.put(key, value, written.lines[key])
        written = inner
    _rename(written, WORKFLOW_WORDS, d.Definition)
    _each(written, "inputs", _input)
    steps = _maps(written, "steps")
    from_run_tree = is_run_tree(steps)
    for step in steps:
        _rename(step, STEP_WORDS, d.Step)
    ids = frozenset(step["id"] for step in steps if isinstance(step.get("id"), str))
    for step in steps:
        _step(step, ids)
    edges = _maps(written, "edges")
    for edge in edges:
        _rename(edge, EDGE_WORDS, d.Edge)
        _condition(edge, ids)
    if from_run_tree:
        _meet_again(steps, edges)
        complete(written, steps, edges)
    _triggers(written)
    _each(written, "workflows", to_one_form)
    return written


def _maps(written: Map, key: str) -> list[Map]:
    found = written.get(key)
    return [one for one in found if isinstance(one, Map)] if isinstance(found, Seq) else []


def _rename(written: Map, words: dict[str, str], part: type[d.Part]) -> None:
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


def _each(written: Map, key: str, change: Any) -> None:
    inner = written.get(key)
    if isinstance(inner, Map):
        for name, value in inner.items():
            if isinstance(value, Map):
                change(value)
            elif key == "inputs" and isinstance(value, str):
                inner[name] = _one(inner, name, "type", TYPE_WORDS.get(value, value))


def _one(written: Map, key: str, inner_key: str, value: Any) -> Map:
    """A mapping of one key, in the place of a short form."""
    made = Map(written.lines.get(key, written.line))
    made.put(inner_key, value)
    return made


def _input(written: Map) -> None:
    written.rename("enum", "choices")
    if isinstance(written.get("type"), str):
        written["type"] = TYPE_WORDS.get(written["type"], written["type"])
    if "default" in written and "required" not in written:
        written.put("required", False, written.lines["default"])


def _step(step: Map, ids: frozenset[str]) -> None:
    _condition(step, ids)
    for other, key in MAPPINGS.items():
        if isinstance(step.get(other), Map) and key not in step:
            for name, value in step[other].items():
                if isinstance(value, str):
                    step[other][name] = translate(value, ids, inside=key == "output")
            step.rename(other, key)
    if "command" in step and "prompt" not in step:
        step["command"] = f"Run this command, and report what it does:\n\n{step['command']}"
        step.rename("command", "prompt")
    _agent(step)
    _level(step)
    _retry(step)
    _short_forms(step)
    _rollback(step, ids)


def _condition(written: Map, ids: frozenset[str]) -> None:
    if isinstance(written.get("condition"), str) and "when" not in written:
        written["condition"] = translate(written["condition"], ids, inside=False)
        written.rename("condition", "when")


def _agent(step: Map) -> None:
    if isinstance(step.get("agent_config"), Map):
        _rename(step["agent_config"], CONFIG_WORDS, d.AgentConfig)
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


def _level(step: Map) -> None:
    level = step.get("level")
    if isinstance(level, str):
        step["level"] = level = _one(step, "level", "kind", level.lower())
    if not isinstance(level, Map):
        return
    if len(level) == 1 and isinstance(next(iter(level.values())), Map | None) and "kind" not in level:
        kind, inner = next(iter(level.items()))
        made = inner if isinstance(inner, Map) else Map(level.line)
        made.put("kind", kind.lower(), level.lines[kind])
        step["level"] = level = made
    _rename(level, LEVEL_WORDS, d.Level)
    action = level.get("default_action", level.get("default"))
    if isinstance(action, str) and action.lower() in DEFAULT_ACTIONS:
        level.rename("default_action", "default")
        level["default"] = DEFAULT_ACTIONS[action.lower()]
    if level.get("kind") == "mechanical" and isinstance(level.get("retry"), int):
        retry = level.pop("retry")
        if "retry" not in step:
            step.put("retry", retry, level.lines["retry"])


def _retry(step: Map) -> None:
    retry = step.get("retry")
    if isinstance(retry, int) and not isinstance(retry, bool):
        step["retry"] = _one(step, "retry", "max", retry)
    if isinstance(retry, Map):
        for word in ("maxRetries", "max_retries"):
            retry.rename(word, "max")
        for word in ("backoffMs", "backoff_ms"):
            if isinstance(retry.get(word), int | float):
                retry[word] = retry[word] / 1000
                retry.rename(word, "backoff_s")
        retry.rename("backoff", "backoff_s")


def _short_forms(step: Map) -> None:
    for key in ("dependencies", "files", "context"):
        if isinstance(step.get(key), str):
            made = Seq(step.lines[key])
            made.put(step[key])
            step[key] = made
    if isinstance(step.get("for_each"), str | Seq):
        step["for_each"] = _one(step, "for_each", "items", step["for_each"])
    if isinstance(step.get("wait"), int | float):
        step["wait"] = _one(step, "wait", "seconds", step["wait"])
    if isinstance(step.get("wait"), Map) and isinstance(step["wait"].get("message"), str):
        step["wait"]["message"] = _one(step["wait"], "message", "thread", step["wait"]["message"])
    on_error = step.get("on_error")
    if isinstance(on_error, Map) and isinstance(on_error.get("route"), str):
        step["on_error"] = f"route:{on_error['route']}"


def _rollback(step: Map, ids: frozenset[str]) -> None:
    rollback = step.get("rollback")
    if isinstance(rollback, str):
        made = Seq(step.lines["rollback"])
        made.put(rollback)
        step["rollback"] = rollback = made
    if not isinstance(rollback, Seq):
        return
    for at, inner in enumerate(rollback):
        if isinstance(inner, str):
            rollback[at] = inner = _one(step, "rollback", "prompt", inner)
            for key in ("profile", "agent_runtime", "agent_config"):
                if key in step:
                    inner.put(key, step[key])
        if isinstance(inner, Map):
            _rename(inner, STEP_WORDS, d.Step)
            if "id" not in inner:
                inner.put("id", f"{step.get('id')}.rollback.{at + 1}")
            _step(inner, ids)


def _meet_again(steps: list[Map], edges: list[Map]) -> None:
    """Where edges alone lead to a step, branches that were parted by conditions meet: one that is taken is enough."""
    for step in steps:
        incoming = [edge for edge in edges if edge.get("to") == step.get("id")]
        if len(incoming) > 1 and "join" not in step and not step.get("dependencies"):
            step.put("join", "any")


def _triggers(written: Map) -> None:
    triggers = written.get("triggers")
    if isinstance(triggers, Map):
        made = Seq(written.lines["triggers"])
        made.put(triggers)
        written["triggers"] = triggers = made
    if not isinstance(triggers, Seq):
        return
    for at, trigger in enumerate(triggers):
        if isinstance(trigger, Map):
            _rename(trigger, TRIGGER_WORDS, d.Trigger)
            for key, inner_key in (("message", "thread"), ("after", "workflow")):
                if isinstance(trigger.get(key), str):
                    trigger[key] = _one(trigger, key, inner_key, trigger[key])
            if "id" not in trigger:
                trigger.put("id", f"trigger{at + 1}")
