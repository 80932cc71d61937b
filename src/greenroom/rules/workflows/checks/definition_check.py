"""All checks of a workflow before it runs."""

import graphlib
from collections.abc import Collection, Iterator, Mapping

import msgspec

from greenroom.rules.workflows.checks.agents import check_agents
from greenroom.rules.workflows.checks.paths import check_paths
from greenroom.rules.workflows.checks.problems import Path, Problem, suggest_nearest
from greenroom.rules.workflows.checks.shape import MAX_STEPS, build_too_many_steps_problem, check_shape
from greenroom.rules.workflows.checks.texts import check_texts
from greenroom.rules.workflows.checks.triggers import check_triggers
from greenroom.rules.workflows.definition import WorkflowDefinition
from greenroom.rules.workflows.graph import Graph
from greenroom.rules.workflows.inputs import find_value_problem
from greenroom.sentences import Words, build_sentence
from greenroom.validation import limit_suggestions

MAX_NESTING = 5


class KnownNames(msgspec.Struct, frozen=True, kw_only=True):
    """What there is besides the definition; None where the one who checks does not know."""

    profiles: frozenset[str] | None = None
    runtimes: frozenset[str] | None = None
    workflows: frozenset[str] | None = None
    drivers: Mapping[str, str] = {}
    """The driver of each profile."""
    untold: Mapping[str, frozenset[str]] = {}
    """The keys of agent_config that a driver has no way to hand to its runtime."""


@limit_suggestions()
def check_definition(definition: WorkflowDefinition, known: KnownNames | None = None, depth: int = 0) -> list[Problem]:
    """All problems of a definition, those of nested ones included."""
    known = known or KnownNames()
    if len(definition.steps) > MAX_STEPS:
        return [build_too_many_steps_problem()]  # and nothing else, which would take long to find
    problems = list(check_shape(definition))
    problems += check_agents(definition, known.profiles, known.runtimes)
    problems += check_triggers(definition)
    problems += _check_targets(definition)
    graph: Graph | None = None
    if not any(problem.code in ("duplicate_step", "bad_id") for problem in problems):
        try:
            graph = Graph(definition)
        except graphlib.CycleError as error:
            problems.append(_build_cycle(definition, error))
    if graph is not None:
        problems += check_paths(definition, graph)
        problems += check_texts(definition, graph)
    problems += _check_nested(definition, known, depth)
    return problems


def _check_targets(definition: WorkflowDefinition) -> Iterator[Problem]:
    """Dependencies, edges and routes that lead to no step."""
    ids = dict.fromkeys(step.id for step in definition.steps)
    for at, step in enumerate(definition.steps):
        for place, name in enumerate(step.dependencies):
            if name not in ids:
                path: Path = ("steps", at, "dependencies", place)
                yield _build_no_step(
                    name, ids, build_sentence("workflow_problem.dependency", name=name[:64]), path, step.id
                )
        if step.route is not None and step.route not in ids:
            path = ("steps", at, "on_error")
            message = build_sentence("workflow_problem.route", name=step.route[:64])
            yield _build_no_step(step.route, ids, message, path, step.id)
    for at, edge in enumerate(definition.edges):
        for key, name in (("from", edge.source), ("to", edge.target)):
            if name not in ids:
                message = build_sentence("workflow_problem.edge", key=key, name=name[:64])
                yield _build_no_step(name, ids, message, ("edges", at, key))


def _build_no_step(
    name: str, ids: Collection[str], message: Words, path: tuple[str | int, ...], step: str = ""
) -> Problem:
    return Problem(code="missing_step", message=message, remedy=suggest_nearest(name, ids), path=path, step=step)


def _build_cycle(definition: WorkflowDefinition, error: graphlib.CycleError) -> Problem:
    circle: list[str] = error.args[1]
    step = circle[1]
    path: Path = ("steps", next(place for place, one in enumerate(definition.steps) if one.id == step), "dependencies")
    for at, edge in enumerate(definition.edges):
        if (edge.source, edge.target) == (circle[0], step):
            path = ("edges", at)
    message = build_sentence("workflow_problem.cycle", steps=" → ".join(circle[:20]))
    remedy = build_sentence("workflow_remedy.break_cycle", first=circle[0], second=step)
    return Problem(code="cycle", message=message, remedy=remedy, path=path, step=step)


def _check_nested(definition: WorkflowDefinition, known: KnownNames, depth: int) -> Iterator[Problem]:
    if depth >= MAX_NESTING:
        message = build_sentence("workflow_problem.nested_too_deep", limit=MAX_NESTING)
        remedy = build_sentence("workflow_remedy.flatter")
        yield Problem(code="nested_too_deep", message=message, remedy=remedy, path=("workflows",))
        return
    for at, step in enumerate(definition.steps):
        if step.workflow is None:
            continue
        inner = definition.workflows.get(step.workflow)
        path = ("steps", at, "workflow")
        if inner is not None:
            yield from _check_nested_inputs(definition, at, inner)
        elif known.workflows is not None and step.workflow not in known.workflows:
            message = build_sentence("workflow_problem.no_workflow", workflow=step.workflow[:64])
            names = known.workflows | definition.workflows.keys()
            yield Problem(
                code="unknown_workflow",
                message=message,
                remedy=suggest_nearest(step.workflow, names),
                path=path,
                step=step.id,
            )
    for name, inner in definition.workflows.items():
        outer = known.workflows
        within = msgspec.structs.replace(known, workflows=outer | definition.workflows.keys() if outer else outer)
        for problem in check_definition(inner, within, depth + 1):
            message = build_sentence("workflow_problem.in_workflow", workflow=name[:64], problem=problem.message)
            yield msgspec.structs.replace(problem, message=message, path=("workflows", name, *problem.path))


def _check_nested_inputs(definition: WorkflowDefinition, at: int, inner: WorkflowDefinition) -> Iterator[Problem]:
    step = definition.steps[at]
    for name, value in step.inputs.items():
        path: Path = ("steps", at, "inputs", name)
        if name not in inner.inputs:
            message = build_sentence("workflow_problem.input_unknown", workflow=step.workflow, name=name[:64])
            remedy = suggest_nearest(name, inner.inputs)
            yield Problem(code="unknown_input", message=message, remedy=remedy, path=path, step=step.id)
        elif not isinstance(value, str) and (wrong := find_value_problem(inner.inputs[name], value)):
            message = build_sentence("workflow_problem.input_given", name=name, workflow=step.workflow, problem=wrong)
            remedy = build_sentence("workflow_remedy.value_or_expression", type=inner.inputs[name].type)
            yield Problem(code="wrong_type", message=message, remedy=remedy, path=path, step=step.id)
    for name, one in inner.inputs.items():
        if one.required and name not in step.inputs:
            message = build_sentence("workflow_problem.input_missing", workflow=step.workflow, name=name)
            path = ("steps", at, "inputs")
            remedy = build_sentence("workflow_remedy.under_inputs", name=name)
            yield Problem(code="missing_input", message=message, remedy=remedy, path=path, step=step.id)
