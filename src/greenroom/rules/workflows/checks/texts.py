"""Checks expressions and templates: their syntax, and whether the names in them exist at that point."""

from collections.abc import Callable, Collection, Iterator

from greenroom.expressions import BadExpression, compile_expression, compile_template
from greenroom.expressions.kinds import KINDS, check_kinds
from greenroom.rules.workflows.checks.problems import Path, Problem, suggest_nearest
from greenroom.rules.workflows.definition import Step, WorkflowDefinition
from greenroom.rules.workflows.graph import Graph
from greenroom.rules.workflows.names import EVERYWHERE, ROUND_FACTS, RUN_FACTS, STEP_FACTS, find_names
from greenroom.rules.workflows.step_texts import StepText, find_texts, find_value_texts
from greenroom.sentences import Sentence, Words, build_sentence

ProblemAndRemedy = tuple[Words, Words]
"""What is wrong with a name, and what to write instead."""


def check_texts(definition: WorkflowDefinition, graph: Graph) -> Iterator[Problem]:
    """Problems of all texts in a workflow whose graph is sound."""
    return _TextChecker(definition, graph).check()


class _TextChecker:
    def __init__(self, definition: WorkflowDefinition, graph: Graph) -> None:
        self._definition, self._graph = definition, graph
        self._steps = {step.id: step for step in definition.steps}
        self._kinds = {
            f"inputs.{name}": one.type
            for name, one in definition.inputs.items()
            if one.type in KINDS and (one.required or one.default is not None)
        }
        self._savers: dict[str, list[str]] = {}
        for step in definition.steps:
            for name in step.save:
                self._savers.setdefault(name, []).append(step.id)

    def check(self) -> Iterator[Problem]:
        for name, value in self._definition.variables.items():
            if isinstance(value, str) and "{{" in value:
                text = StepText((), "template", value, "when")
                yield from self._check_text(text, ("variables", name), frozenset(("inputs",)), lambda _: False)
        for at, step in enumerate(self._definition.steps):
            yield from self._check_step(step, ("steps", at), step.id, ())
            for number, inner in enumerate(step.rollback):
                yield from self._check_step(inner, ("steps", at, "rollback", number), step.id, (step.id,))
        for at, edge in enumerate(self._definition.edges):
            if edge.when is not None:
                text = StepText(("when",), "condition", edge.when, "when")
                seen = self._build_seen_test(edge.source, (edge.source,))
                yield from self._check_text(text, ("edges", at), EVERYWHERE, seen)
        for text in find_value_texts(("output",), self._definition.output, "when"):
            yield from self._check_text(text, (), EVERYWHERE, lambda _: True)

    def _check_step(self, step: Step, path: Path, place: str, also: tuple[str, ...]) -> Iterator[Problem]:
        for text in find_texts(step):
            names = find_names(step, text.place)
            yield from self._check_text(text, path, names, self._build_seen_test(place, also), step)

    def _build_seen_test(self, place: str, also: tuple[str, ...]) -> Callable[[str], bool]:
        """Which steps have ended by the time that a step is reached."""
        return lambda other: other in also or self._graph.is_before(other, place)

    def _check_text(
        self, text: StepText, path: Path, names: frozenset[str], seen: Callable[[str], bool], step: Step | None = None
    ) -> Iterator[Problem]:
        path = (*path, *text.path)
        where = step.id if step is not None else ""
        key = ".".join(str(part) for part in text.path) or "it"
        try:
            if text.form == "template":
                paths = compile_template(text.text, names).paths
            else:
                paths = compile_expression(text.text, names, condition=text.form == "condition").paths
        except BadExpression as bad:
            said = bad.problem
            if bad.column:
                said = build_sentence("expression.at", problem=said, column=bad.column)
            message = build_sentence("field", name=key, problem=said)
            remedy = bad.remedy or build_sentence("workflow_remedy.mend")
            yield Problem(code="bad_expression", message=message, remedy=remedy, path=path, step=where)
            return
        for found in sorted(paths):
            wrong = self._get_wrong_path(found, seen, step)
            if wrong:
                message = build_sentence("field", name=key, problem=wrong[0])
                yield Problem(code="unknown_name", message=message, remedy=wrong[1], path=path, step=where)
        named = {name: kind for name, kind in self._kinds.items() if tuple(name.split(".")) in paths}
        if named and text.form != "template":
            wanted = "boolean" if text.form == "condition" else "list" if text.path == ("for_each", "items") else ""
            told = check_kinds(text.text, names, named, wanted)
            if told:
                kinds = [
                    build_sentence("workflow_remedy.kind_of_type", name=name, type=kind) for name, kind in named.items()
                ]
                message = build_sentence("field", name=key, problem=told)
                remedy = build_sentence("workflow_remedy.compare", kinds=kinds)
                yield Problem(code="wrong_type", message=message, remedy=remedy, path=path, step=where)

    def _get_wrong_path(
        self, path: tuple[str, ...], seen: Callable[[str], bool], step: Step | None
    ) -> ProblemAndRemedy | None:
        """What is wrong with one chain of names, if anything is."""
        first, rest = path[0], path[1:]
        if not rest:
            return None
        if first == "inputs":
            told = build_sentence("workflow_remedy.declare")
            return _build_unknown("inputs", rest[0], self._definition.inputs, told)
        if first == "vars":
            return self._get_wrong_variable(rest[0], seen)
        if first == "steps":
            return self._get_wrong_step(rest, seen)
        if first == "input" and step is not None:
            return _build_unknown("input", rest[0], step.inputs, build_sentence("workflow_remedy.step_input"))
        facts = {"run": RUN_FACTS, "round": ROUND_FACTS}.get(first)
        return None if facts is None else _build_unknown(first, rest[0], facts)

    def _get_wrong_variable(self, name: str, seen: Callable[[str], bool]) -> ProblemAndRemedy | None:
        if name in self._definition.variables or any(map(seen, self._savers.get(name, ()))):
            return None
        if name in self._savers:
            saver = self._savers[name][0]
            later = build_sentence("workflow_problem.variable_later", name=name, step=saver)
            return later, _suggest_dependency(saver)
        return _build_unknown(
            "vars",
            name,
            self._definition.variables.keys() | self._savers.keys(),
            build_sentence("workflow_remedy.variables"),
        )

    def _get_wrong_step(self, rest: tuple[str, ...], seen: Callable[[str], bool]) -> ProblemAndRemedy | None:
        name = rest[0]
        if name not in self._steps:
            return _build_unknown("steps", name, self._steps)
        if not seen(name):
            return build_sentence("workflow_problem.not_ended", step=name), _suggest_dependency(name)
        if len(rest) > 1 and rest[1] not in STEP_FACTS:
            if rest[1:] and self._get_output_fields(name) and rest[1] in (self._get_output_fields(name) or ()):
                unknown = build_sentence("workflow_problem.name_not_known", name=f"steps.{name}.{rest[1]}")
                return unknown, build_sentence("workflow_remedy.output_field", step=name, field=rest[1])
            return _build_unknown(f"steps.{name}", rest[1], STEP_FACTS)
        fields = self._get_output_fields(name)
        if len(rest) > 2 and rest[1] == "output" and fields is not None:
            return _build_unknown(f"steps.{name}.output", rest[2], fields)
        return None

    def _get_output_fields(self, name: str) -> Collection[str] | None:
        """The fields of a step's output, where the definition says all of them."""
        step = self._steps[name]
        if step.for_each is not None or isinstance(step.output, str):
            return None
        return step.output if step.output is not None else step.set


def _suggest_dependency(step: str) -> Sentence:
    return build_sentence("workflow_remedy.add_dependency", step=step)


def _build_unknown(first: str, name: str, known: Collection[str], otherwise: Words = "") -> ProblemAndRemedy | None:
    if name in known:
        return None
    unknown = build_sentence("workflow_problem.name_not_known", name=f"{first}.{name}")
    return unknown, suggest_nearest(name, known, otherwise)
