"""Loads a workflow from YAML or JSON, in any known format, into a checked definition."""

import copy
import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from greenroom.rules.workflows import definition as d
from greenroom.rules.workflows.checks.definition_check import KnownNames, check_definition
from greenroom.rules.workflows.checks.problems import BadWorkflow, Path, Problem, suggest_nearest
from greenroom.rules.workflows.checks.warnings import find_warnings
from greenroom.rules.workflows.parser.marked_values import BadText, MarkedMap, mark, read_marked, unmark
from greenroom.rules.workflows.parser.normal_form import normalize_workflow
from greenroom.rules.workflows.parser.skills import read_skill
from greenroom.sentences import Words, build_sentence
from greenroom.validation import limit_suggestions

FindSkill = Callable[[d.Step], str | None]
"""Finds the text of the skill that a step names; None when there is none."""
FindFile = Callable[[str], str | None]
"""Finds the text of a nested workflow's file by its path; None when there is none."""
_FIELD = re.compile(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")
_LISTS: tuple[tuple[str, type[Any]], ...] = (("steps", d.Step), ("edges", d.Edge), ("triggers", d.Trigger))
MAX_NESTED_FILES = 5
_MOST_OF_ONE = 10


@dataclass(frozen=True)
class LoadedWorkflow:
    """A definition, and the line of each of its parts in the file."""

    definition: d.WorkflowDefinition
    lines: Mapping[Path, int]
    warnings: tuple[Problem, ...] = ()
    """Keys that have no effect."""


def load_text(
    text: str,
    file: str = "",
    *,
    known: KnownNames | None = None,
    find_skill: FindSkill | None = None,
    find_file: FindFile | None = None,
) -> LoadedWorkflow:
    """The workflow in a text. Raises BadWorkflow with every problem that was found, each in its place.

    With `find_skill` the skills' texts are put into the definition, and one that is missing is a problem; with
    `find_file` so are nested workflows that are named by a file (`workflow: ./other.yaml`).
    """
    loaded = parse_text(text, file)
    known = known or KnownNames()
    skills, missing = _take_skills(loaded.definition, find_skill)
    nested, wrong = _take_files(loaded.definition, find_skill, find_file, known)
    definition = msgspec.structs.replace(
        loaded.definition, skills=loaded.definition.skills | skills, workflows=loaded.definition.workflows | nested
    )
    problems = [
        problem.add_location(file, loaded.lines) for problem in [*missing, *check_definition(definition, known)]
    ]
    problems += wrong
    if problems:
        raise BadWorkflow(sorted(problems, key=lambda problem: (problem.file != file, problem.line)))
    warnings = tuple(problem.add_location(file, loaded.lines) for problem in find_warnings(definition, known))
    return LoadedWorkflow(definition, loaded.lines, warnings)


def parse_text(text: str, file: str = "") -> LoadedWorkflow:
    """The workflow in a text, typed but not checked any further."""
    return _parse(read_marked, text, file)


def read_plain(plain: Any) -> d.WorkflowDefinition:
    """The workflow in plain JSON values, such as the body of a request, in any form; typed but not checked."""
    return _parse(mark, plain, "").definition


@limit_suggestions()
def _parse(read: Callable[[Any], Any], source: Any, file: str) -> LoadedWorkflow:
    lines: dict[Path, int] = {}
    try:
        written = read(source)
        if not isinstance(written, MarkedMap):
            raise BadText(1, build_sentence("yaml.no_workflow"), build_sentence("yaml.no_workflow.remedy"))
    except BadText as bad:
        told = Problem(code="bad_text", message=bad.message, remedy=bad.remedy, line=bad.line, column=bad.column)
        raise BadWorkflow([msgspec.structs.replace(told, file=file)]) from None
    plain = unmark(normalize_workflow(written), lines)
    return LoadedWorkflow(_convert(plain, file, lines), lines)


def _convert(plain: dict[str, Any], file: str, lines: dict[Path, int]) -> d.WorkflowDefinition:
    """Each part on its own first, so that one wrong step does not hide another."""
    problems: list[Problem] = []
    for key, part in _LISTS:
        if isinstance(plain.get(key), list):
            for at, one in enumerate(plain[key]):
                problems += _find_part_problems(one, part, (key, at), plain)
    for name, one in _list_items(plain.get("inputs")):
        problems += _find_part_problems(one, d.Input, ("inputs", name), plain)
    if not problems:
        problems += _find_part_problems(plain, d.WorkflowDefinition, (), plain)
    if problems:
        raise BadWorkflow([problem.add_location(file, lines) for problem in problems])
    return msgspec.convert(plain, d.WorkflowDefinition)


def _list_items(value: Any) -> list[tuple[str, Any]]:
    return list(value.items()) if isinstance(value, dict) else []


def _find_part_problems(value: Any, part: type[Any], path: Path, plain: dict[str, Any]) -> list[Problem]:
    """What is wrong with a part. What was found is taken away, for the conversion itself stops at the first."""
    found: list[Problem] = []
    taken: set[Path] = set()
    while len(found) < _MOST_OF_ONE:
        try:
            msgspec.convert(value, part)
            break
        except msgspec.ValidationError as error:
            problem = _explain(str(error), part, path, plain)
        if problem.code == "missing_key" and taken:
            break  # perhaps because it was taken away
        found.append(problem)
        if problem.path in taken or not _take_away(value := copy.deepcopy(value), problem.path[len(path) :]):
            break
        taken.add(problem.path)
    return found


def _take_away(value: Any, path: Path) -> bool:
    """Whether there was something at this place."""
    for name in path[:-1]:
        inner = dict(enumerate(value)) if isinstance(value, list) else value
        value = inner.get(name) if isinstance(inner, dict) else None
    if not path or not isinstance(value, dict) or path[-1] not in value:
        return False
    del value[path[-1]]
    return True


def _explain(said: str, part: type[Any], path: Path, plain: dict[str, Any]) -> Problem:
    """What the conversion says, as a problem with its place and its remedy."""
    wrong, _, place = said.partition(" - at `")
    for name, number in _FIELD.findall(place.rstrip("`").removeprefix("$")):
        path = (*path, int(number) if number.isdigit() else name) if number != "..." else path
    step = _get_step_name(path, plain)
    unknown = re.match(r"Object contains unknown field `([^`]*)`", wrong)
    if unknown:
        keys = _find_keys(part, path, place)
        message, path = build_sentence("workflow_key.unknown", key=unknown[1][:64]), (*path, unknown[1])
        return Problem(
            code="unknown_key", message=message, remedy=suggest_nearest(unknown[1], keys), path=path, step=step
        )
    missing = re.match(r"Object missing required field `([^`]*)`", wrong)
    if missing:
        message = build_sentence("workflow_key.missing", key=missing[1])
        remedy = build_sentence("workflow_key.missing.remedy", key=missing[1])
        return Problem(code="missing_key", message=message, remedy=remedy, path=path, step=step)
    key = next((part for part in reversed(path) if isinstance(part, str)), "")
    expected = re.match(r"Expected `([^`]*)`, got `([^`]*)`", wrong)
    if expected:
        return _explain_type(expected[1], expected[2], key, path, step)
    value = re.match(r"Invalid enum value '?(.*?)'?$", wrong)
    if value:
        choices = _find_choices(part, key)
        message = build_sentence("workflow_key.choice", key=key, value=value[1][:64])
        return Problem(
            code="wrong_value", message=message, remedy=suggest_nearest(value[1], choices), path=path, step=step
        )
    message = build_sentence("field", name=key, problem=wrong[:1].lower() + wrong[1:])
    remedy = build_sentence("workflow_key.reference")
    return Problem(code="wrong_value", message=message, remedy=remedy, path=path, step=step)


def _explain_type(wanted: str, given: str, key: str, path: Path, step: str) -> Problem:
    is_item = bool(path) and isinstance(path[-1], int)
    what: Words = key or build_sentence("workflow_key.whole")
    if path and isinstance(path[-1], int):
        what = build_sentence("workflow_key.list_number", number=path[-1] + 1, key=key)
    message = build_sentence(
        "workflow_key.wrong_type", what=what, given=_describe_type(given), wanted=_describe_type(wanted)
    )
    remedy = build_sentence("workflow_key.write_mapping")
    if key == "steps" and wanted == "array":
        remedy = build_sentence("workflow_key.steps")
    elif key:
        after = "-" if is_item else f"{key}:"
        remedy = build_sentence("workflow_key.write_after", type=_describe_type(wanted), after=after)
    return Problem(code="wrong_type", message=message, remedy=remedy, path=path, step=step)


_TYPES = {
    "str": "yaml_type.text",
    "int": "yaml_type.integer",
    "float": "yaml_type.number",
    "bool": "yaml_type.bool",
    "null": "yaml_type.nothing",
    "object": "yaml_type.mapping",
    "array": "yaml_type.list",
}


def _describe_type(name: str) -> Words:
    kinds = [one.strip() for one in name.split("|")]
    words = [
        build_sentence(_TYPES[kind]) if kind in _TYPES else kind for kind in kinds if kind != "null" or len(kinds) == 1
    ]
    return functools.reduce(lambda first, second: build_sentence("yaml_type.either", first=first, second=second), words)


def _get_step_name(path: Path, plain: dict[str, Any]) -> str:
    if len(path) > 1 and path[0] == "steps" and isinstance(path[1], int):
        step = plain["steps"][path[1]]
        if isinstance(step, dict):
            return str(step.get("id", f"number {path[1] + 1}"))
    return ""


def _find_parts() -> dict[str, type[d.DefinitionPart]]:
    return {part.__name__: part for part in d.DefinitionPart.__subclasses__()}


def _find_keys(part: type[Any], path: Path, place: str) -> list[str]:
    """The keys that the innermost part of this place has."""
    for key in [word for word, _ in _FIELD.findall(place.rstrip("`"))]:
        fields = {field.encode_name: field.type for field in msgspec.structs.fields(part)}
        inner = [one for one in _find_parts().values() if one.__name__ in str(fields.get(key, ""))]
        part = inner[0] if inner else part
    return [field.encode_name for field in msgspec.structs.fields(part)]


def _find_choices(part: type[Any], key: str) -> list[str]:
    schemas = msgspec.json.schema(part).get("$defs", {})
    found: list[str] = []
    for schema in schemas.values():
        one = schema.get("properties", {}).get(key, {})
        found += [str(choice) for choice in one.get("enum", one.get("items", {}).get("enum", []))]
    return found


def _take_skills(
    definition: d.WorkflowDefinition, find: FindSkill | None
) -> tuple[dict[str, d.SkillText], list[Problem]]:
    found: dict[str, d.SkillText] = {}
    missing: list[Problem] = []
    steps = [(at, one) for at, step in enumerate(definition.steps) for one in (step, *step.rollback)]
    for at, step in steps:
        if find is None or step.skill is None or step.skill in definition.skills or step.skill in found:
            continue
        text = find(step)
        if text is None:
            message = build_sentence("workflow_problem.skill_missing", skill=step.skill[:64])
            remedy = build_sentence("workflow_remedy.skill", skill=step.skill[:64])
            path = ("steps", at, "skill")
            missing.append(Problem(code="unknown_skill", message=message, remedy=remedy, path=path, step=step.id))
        else:
            found[step.skill] = read_skill(text)
    return found, missing


def _take_files(
    definition: d.WorkflowDefinition, find_skill: FindSkill | None, find_file: FindFile | None, known: KnownNames
) -> tuple[dict[str, d.WorkflowDefinition], list[Problem]]:
    found: dict[str, d.WorkflowDefinition] = {}
    wrong: list[Problem] = []
    for step in definition.steps:
        name = step.workflow
        if find_file is None or name is None or not name.startswith(("./", "../")) or name in found:
            continue
        text = find_file(name)
        if text is None:
            continue
        if len(found) >= MAX_NESTED_FILES:
            break
        try:
            inner = msgspec.structs.replace(known, workflows=None)
            found[name] = load_text(text, name, known=inner, find_skill=find_skill).definition
        except BadWorkflow as bad:
            wrong += bad.problems
    return found, wrong
