"""Warns about parts of a workflow that will have no effect. The workflow can still run."""

from collections.abc import Iterator

import msgspec

from greenroom.rules.workflows.checks.definition_check import KnownNames
from greenroom.rules.workflows.checks.problems import Path, Problem
from greenroom.rules.workflows.definition import AgentConfig, Step, WorkflowDefinition
from greenroom.sentences import Words, build_sentence

_SETTLED = ("model", "system_prompt", "work_dir", "temperature")
"""What is settled when an agent is started."""


def find_warnings(definition: WorkflowDefinition, known: KnownNames) -> list[Problem]:
    """All that is written in vain, in nested workflows too."""
    found: list[Problem] = []
    for at, step in enumerate(definition.steps):
        found += _check_step(step, ("steps", at), known)
        for number, back in enumerate(step.rollback):
            found += _check_step(back, ("steps", at, "rollback", number), known)
    for name, inner in definition.workflows.items():
        for problem in find_warnings(inner, known):
            message = build_sentence("workflow_problem.in_workflow", workflow=name[:64], problem=problem.message)
            found.append(msgspec.structs.replace(problem, message=message, path=("workflows", name, *problem.path)))
    return found


def _check_step(step: Step, path: Path, known: KnownNames) -> Iterator[Problem]:
    given = [key for key in _SETTLED if getattr(step.agent_config, key) != getattr(AgentConfig(), key)]
    is_new = step.profile or step.agent_runtime
    if not is_new:
        for key in given if step.reuse_agent and not step.reuse_agent.startswith("pool:") else ():
            message = build_sentence("workflow_problem.no_effect", key=key, agent=step.reuse_agent)
            remedy = build_sentence("workflow_remedy.at_keeper")
            yield _build_warning(message, remedy, (*path, "agent_config", key), step)
        return
    driver = known.drivers.get(is_new, is_new if step.agent_runtime else "")
    for key in sorted(known.untold.get(driver, frozenset()).intersection(given)):
        what = key.replace("_", " ")
        message = build_sentence("workflow_problem.no_effect_for", key=key, driver=driver, what=what)
        remedy = build_sentence("workflow_remedy.leave_out")
        yield _build_warning(message, remedy, (*path, "agent_config", key), step)


def _build_warning(message: Words, remedy: Words, path: Path, step: Step) -> Problem:
    return Problem(code="no_effect", message=message, remedy=remedy, path=path, step=step.id)
