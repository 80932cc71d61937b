"""Everything that can be known to be wrong with a workflow before it is carried out."""

import graphlib
from collections.abc import Collection, Iterator, Mapping

import msgspec

from greenroom.nouns.workflows.checking.agents import check_agents
from greenroom.nouns.workflows.checking.paths import check_paths
from greenroom.nouns.workflows.checking.problems import Path, Problem, nearest
from greenroom.nouns.workflows.checking.shape import MAX_STEPS, check_shape, too_many_steps
from greenroom.nouns.workflows.checking.texts import check_texts
from greenroom.nouns.workflows.checking.triggers import check_triggers
from greenroom.nouns.workflows.definition import Definition
from greenroom.nouns.workflows.graph import Graph
from greenroom.nouns.workflows.inputs import check_value

MAX_NESTING = 5


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """What there is besides the definition; None where the one who checks does not know."""

    profiles: frozenset[str] | None = None
    runtimes: frozenset[str] | None = None
    workflows: frozenset[str] | None = None
    drivers: Mapping[str, str] = {}
    """The driver of each profile."""
    untold: Mapping[str, frozenset[str]] = {}
    """The keys of agent_config that a driver has no way to hand to its runtime."""


def check(definition: Definition, known: Known | None = None, depth: int = 0) -> list[Problem]:
    """All problems of a definition, those of nested ones included."""
    known = known or Known()
    if len(definition.steps) > MAX_STEPS:
        return [too_many_steps()]  # and nothing else, which would take long to find
    problems = list(check_shape(definition))
    problems += check_agents(definition, known.profiles, known.runtimes)
    problems += check_triggers(definition)
    problems += _ends(definition)
    graph: Graph | None = None
    if not any(problem.code in ("duplicate_step", "bad_id") for problem in problems):
        try:
            graph = Graph(definition)
        except graphlib.CycleError as error:
            problems.append(_cycle(definition, error))
    if graph is not None:
        problems += check_paths(definition, graph)
        problems += check_texts(definition, graph)
    problems += _nested(definition, known, depth)
    return problems


def _ends(definition: Definition) -> Iterator[Problem]:
    """Dependencies, edges and routes that lead to no step."""
    ids = dict.fromkeys(step.id for step in definition.steps)
    for at, step in enumerate(definition.steps):
        for place, name in enumerate(step.dependencies):
            if name not in ids:
                path: Path = ("steps", at, "dependencies", place)
                yield _no_step(name, ids, f"it depends on '{name[:64]}', which is no step", path, step.id)
        if step.route is not None and step.route not in ids:
            path = ("steps", at, "on_error")
            yield _no_step(step.route, ids, f"on_error leads to '{step.route[:64]}', which is no step", path, step.id)
    for at, edge in enumerate(definition.edges):
        for key, name in (("from", edge.source), ("to", edge.target)):
            if name not in ids:
                yield _no_step(name, ids, f"an edge leads {key} '{name[:64]}', which is no step", ("edges", at, key))


def _no_step(name: str, ids: Collection[str], message: str, path: tuple[str | int, ...], step: str = "") -> Problem:
    return Problem(code="missing_step", message=message, remedy=nearest(name, ids), path=path, step=step)


def _cycle(definition: Definition, error: graphlib.CycleError) -> Problem:
    circle: list[str] = error.args[1]
    step = circle[1]
    path: Path = ("steps", next(place for place, one in enumerate(definition.steps) if one.id == step), "dependencies")
    for at, edge in enumerate(definition.edges):
        if (edge.source, edge.target) == (circle[0], step):
            path = ("edges", at)
    message = f"the steps go in a circle: {' → '.join(circle[:20])}"
    remedy = f"take one of these away, for instance what leads from '{circle[0]}' to '{step}', or use loop"
    return Problem(code="cycle", message=message, remedy=remedy, path=path, step=step)


def _nested(definition: Definition, known: Known, depth: int) -> Iterator[Problem]:
    if depth >= MAX_NESTING:
        message = f"workflows are nested more than {MAX_NESTING} deep"
        yield Problem(code="nested_too_deep", message=message, remedy="write them flatter", path=("workflows",))
        return
    for at, step in enumerate(definition.steps):
        if step.workflow is None:
            continue
        inner = definition.workflows.get(step.workflow)
        path = ("steps", at, "workflow")
        if inner is not None:
            yield from _nested_inputs(definition, at, inner)
        elif known.workflows is not None and step.workflow not in known.workflows:
            message = f"there is no workflow '{step.workflow[:64]}'"
            names = known.workflows | definition.workflows.keys()
            yield Problem(
                code="unknown_workflow", message=message, remedy=nearest(step.workflow, names), path=path, step=step.id
            )
    for name, inner in definition.workflows.items():
        outer = known.workflows
        within = msgspec.structs.replace(known, workflows=outer | definition.workflows.keys() if outer else outer)
        for problem in check(inner, within, depth + 1):
            message = f"in the workflow '{name[:64]}': {problem.message}"
            yield msgspec.structs.replace(problem, message=message, path=("workflows", name, *problem.path))


def _nested_inputs(definition: Definition, at: int, inner: Definition) -> Iterator[Problem]:
    step = definition.steps[at]
    for name, value in step.inputs.items():
        path: Path = ("steps", at, "inputs", name)
        if name not in inner.inputs:
            message = f"the workflow '{step.workflow}' has no input '{name[:64]}'"
            remedy = nearest(name, inner.inputs)
            yield Problem(code="unknown_input", message=message, remedy=remedy, path=path, step=step.id)
        elif not isinstance(value, str) and (wrong := check_value(inner.inputs[name], value)):
            message = f"what the input '{name}' of the workflow '{step.workflow}' is given {wrong}"
            remedy = f"write a value of the type {inner.inputs[name].type}, or an expression that gives one"
            yield Problem(code="wrong_type", message=message, remedy=remedy, path=path, step=step.id)
    for name, one in inner.inputs.items():
        if one.required and name not in step.inputs:
            message = f"the workflow '{step.workflow}' needs the input '{name}'"
            path = ("steps", at, "inputs")
            remedy = f"write it under inputs: {name}: ..."
            yield Problem(code="missing_input", message=message, remedy=remedy, path=path, step=step.id)
