"""How a step gets its agent: a new one, one kept by an earlier step, or one resumed after a crash."""

from pathlib import Path
from typing import Any

from greenroom.errors import Refused
from greenroom.log.log import Log
from greenroom.log.model import Rows
from greenroom.rules.access.model import HUB
from greenroom.rules.agents.model import AGENTS, Agent
from greenroom.rules.agents.profiles import PROFILES, find_profiles
from greenroom.rules.runs.commands import ResumeRun, StartRun
from greenroom.rules.runs.model import Overrides
from greenroom.rules.workflows.core.plan import PlanNode
from greenroom.rules.workflows.core.transition import derive_id
from greenroom.rules.workflows.model import WorkflowFacts, WorkflowRun, WorkflowStep
from greenroom.rules.workflows.taint import get_work_taint
from greenroom.sentences import Words, build_sentence
from greenroom.services.workflow_engine.prompts import StepTexts, build_correction_prompt

POOL = "pool:"
_NAME = 80


class CannotResume(Exception):
    """An interrupted run cannot be gone on with; `said` says why."""

    def __init__(self, said: Words) -> None:
        super().__init__(str(said))
        self.said = said


async def start_agent(
    log: Log,
    run: WorkflowRun,
    facts: WorkflowFacts,
    node: PlanNode,
    step: WorkflowStep,
    telling: StepTexts,
    run_id: str,
) -> None:
    """Start the agent's run under the id that the attempt has for it; a repeat finds it started."""
    began = step.began_at or run.created_at
    order_id = derive_id("ord", began, run_id, "start")
    key = f"workflow {run_id}"
    if step.resumed is not None and not step.repairs:
        probe = node.step.on_crash == "probe"
        resume = ResumeRun(by=HUB, key=key, run_id=step.resumed, new_run_id=run_id, order_id=order_id, probe=probe)
        try:
            await log.do(resume)
        except Refused as no:
            raise CannotResume(no.said) from no
        return
    config = node.step.agent_config
    who: dict[str, Any]
    if step.repairs:
        agent = log.rows.get(AGENTS, step.agent_id or "")
        if agent is None or agent.profile is None:
            raise Refused("agent_not_kept.gone", "not_found")
        who = {"agent": agent.id, "profile": agent.profile}
        prompt = build_correction_prompt(
            str(step.reason or build_sentence("output_problem.does_not_fit")), node.step.output_schema
        )
    else:
        who = _choose_agent(log.rows, run, facts, node, telling)
        prompt = telling.prompt()
    kept = node.step.kept_name
    await log.do(
        StartRun(
            by=HUB,
            key=key,
            run_id=run_id,
            agent_id=derive_id("agt", began, run_id, "agent"),
            order_id=order_id,
            prompt=prompt,
            name=config.name[:_NAME],
            keep=kept is not None,
            keep_as=kept.removeprefix(POOL) if kept is not None and kept.startswith(POOL) else None,
            thread_id=run.thread_id,
            context=None if step.repairs else telling.context(),
            is_step=True,
            timeout_s=config.timeout_s,
            max_tokens=config.max_tokens,
            taint=get_work_taint(log.rows, run, telling),
            **who,
        )
    )


def _choose_agent(
    rows: Rows, run: WorkflowRun, facts: WorkflowFacts, node: PlanNode, telling: StepTexts
) -> dict[str, Any]:
    """The agent to resume, or the profile to start a new one from."""
    name = node.step.reuse_agent
    agent: Agent | None = None
    if name is not None and name.startswith(POOL):
        kept = rows.find(AGENTS, {"kept_as": name.removeprefix(POOL)})
        agent = next((one for one in kept if one.state == "registered" and one.profile is not None), None)
    elif name is not None and name in facts.agents:
        agent = rows.get(AGENTS, facts.agents[name])
    if agent is not None and agent.profile is not None:
        return {"agent": agent.id, "profile": agent.profile}
    if name is not None and node.step.profile is None and node.step.agent_runtime is None:
        raise Refused("agent_not_kept.step_not_done", "not_found", agent=name)
    return {"profile": _need_profile_name(rows, node), "overrides": _build_overrides(run, node, telling)}


def _build_overrides(run: WorkflowRun, node: PlanNode, telling: StepTexts) -> Overrides:
    """What the step says of its agent; a directory is meant from where the workflow's file is."""
    config = node.step.agent_config
    out: Overrides = {}
    if config.model:
        out["model"] = config.model
    if config.temperature is not None:
        out["temperature"] = config.temperature
    if config.system_prompt:
        out["instructions"] = telling.text(config.system_prompt)
    if config.work_dir:
        directory = Path(telling.text(config.work_dir))
        out["directory"] = str(Path(run.directory) / directory if run.directory else directory)
    return out


def _need_profile_name(rows: Rows, node: PlanNode) -> str:
    """The profile that is named, or one for the runtime that is named."""
    name = node.step.profile or node.step.agent_runtime or ""
    if rows.get(PROFILES, name) is not None:
        return name
    if node.step.profile is None:
        found = [one.name for one in find_profiles(rows) if one.definition.driver == name and one.definition.enabled]
        if found:
            return found[0]
    raise Refused("profile_not_found.amend", "not_found", name=name)
