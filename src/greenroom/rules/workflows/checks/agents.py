"""Checks the agent of each step: a profile, a runtime, or a kept agent."""

from collections.abc import Iterator

from greenroom.rules.workflows.checks.problems import Path, Problem, suggest_nearest
from greenroom.rules.workflows.definition import Step, WorkflowDefinition


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
        message = "it does not say which agent does it"
        remedy = "write profile: NAME (see `greenroom profile list`), or agent_runtime: claude"
        yield Problem(code="no_agent", message=message, remedy=remedy, path=path, step=step.id)
    if step.profile and step.agent_runtime:
        message = "it has a profile and an agent_runtime"
        remedy = "keep the profile, which names its runtime itself"
        yield Problem(code="wrong_kind", message=message, remedy=remedy, path=(*path, "agent_runtime"), step=step.id)
    if step.profile and profiles is not None and step.profile not in profiles:
        message = f"there is no profile '{step.profile[:64]}'"
        remedy = suggest_nearest(step.profile, profiles)
        yield Problem(code="unknown_profile", message=message, remedy=remedy, path=(*path, "profile"), step=step.id)
    if step.agent_runtime and runtimes is not None and step.agent_runtime not in runtimes:
        message = f"there is no runtime '{step.agent_runtime[:64]}'"
        remedy = suggest_nearest(step.agent_runtime, runtimes)
        path = (*path, "agent_runtime")
        yield Problem(code="unknown_runtime", message=message, remedy=remedy, path=path, step=step.id)
