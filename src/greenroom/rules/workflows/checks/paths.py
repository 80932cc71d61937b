"""Checks the order of steps: steps that are never reached, agents that nobody keeps, variables that are lost."""

from collections.abc import Iterator

from greenroom.expressions import BadExpression, ExpressionFailed, compile_expression
from greenroom.rules.workflows.checks.problems import Problem, suggest_nearest
from greenroom.rules.workflows.definition import Step, WorkflowDefinition
from greenroom.rules.workflows.graph import Graph
from greenroom.rules.workflows.names import EVERYWHERE
from greenroom.sentences import Words, build_sentence

Guards = frozenset[str]
POOL = "pool:"
NEVER = "false"


def check_paths(definition: WorkflowDefinition, graph: Graph) -> Iterator[Problem]:
    """Problems of a workflow whose graph is sound."""
    places = {step.id: at for at, step in enumerate(definition.steps)}
    yield from _check_reachable(definition, graph, places)
    keepers: dict[str, list[str]] = {}
    for step in definition.steps:
        if step.kept_name is not None:
            keepers.setdefault(step.kept_name, []).append(step.id)
    for at, step in enumerate(definition.steps):
        problem = _check_reuse(step, at, keepers, graph)
        if problem is not None:
            yield problem
    yield from _check_saved_twice(definition, graph, places)


def _check_reuse(step: Step, at: int, keepers: dict[str, list[str]], graph: Graph) -> Problem | None:
    name = step.reuse_agent
    if name is None or name.startswith(POOL):
        return None
    if any(graph.is_before(keeper, step.id) for keeper in keepers.get(name, ())):
        return None
    if name in keepers:
        keeper = keepers[name][0]
        message = build_sentence("workflow_problem.agent_elsewhere", agent=name[:64], step=keeper)
        remedy: Words = build_sentence("workflow_remedy.add_dependency", step=keeper)
    else:
        message = build_sentence("workflow_problem.no_agent_kept", agent=name[:64])
        remedy = suggest_nearest(name, keepers, build_sentence("workflow_remedy.keep_agent"))
    return Problem(
        code="agent_not_kept", message=message, remedy=remedy, path=("steps", at, "reuse_agent"), step=step.id
    )


def _check_saved_twice(definition: WorkflowDefinition, graph: Graph, places: dict[str, int]) -> Iterator[Problem]:
    """Two steps that may be carried out at the same time must not save the same variable."""
    last: dict[str, str] = {}
    steps = {step.id: step for step in definition.steps}
    for name in graph.order:
        for variable in steps[name].save:
            other = last.get(variable)
            if other is not None and not graph.is_before(other, name):
                message = build_sentence("workflow_problem.saved_twice", variable=variable, step=other)
                path = ("steps", places[name], "save", variable)
                remedy = build_sentence("workflow_remedy.another_name")
                yield Problem(code="saved_twice", message=message, remedy=remedy, path=path, step=name)
            last[variable] = name


def _check_reachable(definition: WorkflowDefinition, graph: Graph, places: dict[str, int]) -> Iterator[Problem]:
    steps = {step.id: step for step in definition.steps}
    guards: dict[str, Guards | None] = {}
    """What must hold for each step to be reached; None when it cannot be."""
    for name in graph.order:
        step = steps[name]
        reached = _find_guards(step, graph, guards)
        if reached is None:
            guards[name] = None
            continue
        own = reached | _parse_guard(step.when)
        wrong = next((guard for guard in sorted(own) if guard == NEVER or negate_guard(guard) in own), None)
        guards[name] = None if wrong is not None else own
        if wrong is not None:
            yield _build_never_reached(step, places[name], wrong)


def _find_guards(step: Step, graph: Graph, guards: dict[str, Guards | None]) -> Guards | None:
    """What must hold for some way to a step to be taken; None when there is none."""
    ways = [_add_guard(guards[edge.source], edge.when) for edge in graph.into[step.id]]
    routes = [guards[edge.source] for edge in graph.routes if edge.target == step.id]
    if not ways and not routes:
        return frozenset()
    if step.join == "all" and ways:
        together: Guards | None = frozenset()
        for way in ways:
            together = None if together is None or way is None else together | way
        ways = [together]
    possible = [way for way in [*ways, *routes] if way is not None]
    return frozenset.intersection(*possible) if possible else None


def _add_guard(source: Guards | None, when: str | None) -> Guards | None:
    return None if source is None else source | _parse_guard(when)


def _parse_guard(condition: str | None) -> Guards:
    if condition is None:
        return frozenset()
    try:
        expression = compile_expression(condition, EVERYWHERE)
        if not expression.names:
            return frozenset() if expression.holds({}) else frozenset((NEVER,))
    except (BadExpression, ExpressionFailed):
        return frozenset()
    return frozenset(("".join(condition.split()),))


def negate_guard(guard: str) -> str:
    """The condition that holds when this one does not, as far as that can be seen from the text."""
    if guard.startswith("!(") and guard.endswith(")") and "(" not in guard[2:-1]:
        return guard[2:-1]
    if guard.startswith("!") and not any(sign in guard for sign in ("&&", "||", "==", "(")):
        return guard[1:]
    if not any(sign in guard for sign in ("&&", "||", "?", "(")):
        for sign, other in (("==", "!="), ("!=", "=="), (">=", "<"), ("<=", ">"), (">", "<="), ("<", ">=")):
            if guard.count(sign) == 1:
                return guard.replace(sign, other)
    return f"!({guard})" if any(sign in guard for sign in "=<>&|") else f"!{guard}"


def _build_never_reached(step: Step, at: int, guard: str) -> Problem:
    if guard == NEVER:
        message = build_sentence("workflow_problem.always_false")
        remedy = build_sentence("workflow_remedy.no_condition")
    else:
        message = build_sentence("workflow_problem.contradiction", condition=guard)
        remedy = build_sentence("workflow_remedy.join")
    return Problem(code="unreachable", message=message, remedy=remedy, path=("steps", at), step=step.id)
