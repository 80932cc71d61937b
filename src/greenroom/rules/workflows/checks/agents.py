"""Checks the agent of each step: a profile, a runtime, or a kept agent."""

from collections.abc import Iterator

from greenroom.rules.workflows.checks.problems import Path, Problem, suggest_nearest
from greenroom.rules.workflows.definition import Step, WorkflowDefinition
from greenroom.sentences import build_sentence


def check_agents(
    definition: WorkflowDefinition, profiles: frozenset[str] | None, runtimes: frozenset[str] | None
) -> Iterator[Problem]:
    """Problems of the agents; profiles and runtimes are not looked for where they are not known."""
    for at, step in enumerate(definition.steps):
        yield from _check_step(step, ("steps", at), profiles, runtimes)
        for number, inner in enumerate(step.rollback):
            if (inner.profile, inner.agent_runtime) == (step.profile, step.agent_runtime):
                continue  # what is wrong with these has been said
            yield from _check_step(inner, ("steps", at, "rollback", number), profiles, runtimes)


def _check_step(
    step: Step, path: Path, profiles: frozenset[str] | None, runtimes: frozenset[str] | None
) -> Iterator[Problem]:
    if step.kind == "agent" and not (step.profile or step.agent_runtime or step.reuse_agent):
        message = build_sentence("workflow_problem.no_agent")
        remedy = build_sentence("workflow_remedy.profile")
        yield Problem(code="no_agent", message=message, remedy=remedy, path=path, step=step.id)
    if step.profile and step.agent_runtime:
        message = build_sentence("workflow_problem.profile_and_runtime")
        remedy = build_sentence("workflow_remedy.keep_profile")
        yield Problem(code="wrong_kind", message=message, remedy=remedy, path=(*path, "agent_runtime"), step=step.id)
    if step.profile and profiles is not None and step.profile not in profiles:
        message = build_sentence("workflow_problem.no_profile", profile=step.profile[:64])
        near = suggest_nearest(step.profile, profiles)
        yield Problem(code="unknown_profile", message=message, remedy=near, path=(*path, "profile"), step=step.id)
    if step.agent_runtime and runtimes is not None and step.agent_runtime not in runtimes:
        message = build_sentence("workflow_problem.no_runtime", runtime=step.agent_runtime[:64])
        near = suggest_nearest(step.agent_runtime, runtimes)
        path = (*path, "agent_runtime")
        yield Problem(code="unknown_runtime", message=message, remedy=near, path=path, step=step.id)
