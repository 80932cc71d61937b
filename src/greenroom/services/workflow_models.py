"""Checks whether the runtimes know the models that the steps of a workflow name."""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from greenroom.rules.workflows.checks.problems import Path, Problem
from greenroom.rules.workflows.definition import WorkflowDefinition
from greenroom.rules.workflows.parser.loader import LoadedWorkflow
from greenroom.runtimes.driver_list import DRIVER_INFOS
from greenroom.sentences import Sentence, Words, build_sentence

_LISTS_MODELS = frozenset(name for name, driver in DRIVER_INFOS.items() if driver.lists_models)
Named = tuple[str, str]
"""A profile, and a model that it is to work with."""


class NamedModel(msgspec.Struct, frozen=True):
    """A step whose agent is to work with a certain model."""

    step: str
    path: Path
    named: Named


def find_named_models(definition: WorkflowDefinition, drivers: Mapping[str, str]) -> Iterator[NamedModel]:
    """The models that can be checked: those of profiles whose runtime lists its models."""
    for at, step in enumerate(definition.steps):
        profile, model = step.profile or step.agent_runtime or "", step.agent_config.model
        if model and not step.reuse_agent and drivers.get(profile) in _LISTS_MODELS:
            yield NamedModel(step.id, ("steps", at, "agent_config", "model"), (profile, model))


def explain_model(problems_of_nodes: Iterable[list[Sentence]]) -> Words | None:
    """What to write instead of a model, if all nodes that were asked say that they do not know it."""
    found = [next(filter(None, map(_get_suggestion, problems)), None) for problems in problems_of_nodes]
    return found[0] if found and all(found) else None


def _get_suggestion(said: Sentence) -> Sentence | None:
    problem = said.params.get("problem")
    if not isinstance(problem, Sentence) or problem.key != "profile_problem.no_model":
        return None
    suggestion = problem.params["suggestion"]
    return suggestion if isinstance(suggestion, Sentence) else None


def find_problems(
    loaded: LoadedWorkflow, file: str, named: Iterable[NamedModel], wrong: Mapping[Named, Words]
) -> list[Problem]:
    """The problems of a workflow that has been loaded, by what is wrong with each model."""
    return [
        Problem(
            code="unknown_model",
            message=build_sentence("workflow_problem.no_model", model=one.named[1][:100]),
            remedy=wrong[one.named],
            path=one.path,
            step=one.step,
        ).add_location(file, loaded.lines)
        for one in named
        if one.named in wrong
    ]
