"""Carries out attempts as agents' runs, nested workflows, and asks."""

import logging
from pathlib import Path
from typing import Any, assert_never

from greenroom.errors import Refused
from greenroom.expressions import BadExpression, ExpressionFailed
from greenroom.log.log import Log
from greenroom.log.model import Table
from greenroom.rules.access.model import HUB
from greenroom.rules.agents.model import AGENTS
from greenroom.rules.asks.commands import WithdrawAsk
from greenroom.rules.asks.model import ASKS
from greenroom.rules.runs.commands import CancelRun, EndAgent
from greenroom.rules.runs.model import ENDED, LIVE, RUNS, Run
from greenroom.rules.runs.queries import is_untold
from greenroom.rules.workflows.commands import AbortWorkflow, StartWorkflow, TellRun
from greenroom.rules.workflows.core.news import Ended, Interrupted, Mend, News, Work
from greenroom.rules.workflows.core.plan import PlanNode
from greenroom.rules.workflows.core.transition import derive_id
from greenroom.rules.workflows.model import ENDED as OVER
from greenroom.rules.workflows.model import LIVE as GOING_ON
from greenroom.rules.workflows.model import (
    STEPS,
    WORKFLOW_RUNS,
    WaitKind,
    WorkflowEnding,
    WorkflowRun,
    WorkflowStep,
    WorkflowUsage,
    get_step_id,
)
from greenroom.rules.workflows.queries import load_plan
from greenroom.rules.workflows.row_boards import RowsBoard
from greenroom.rules.workflows.taint import get_work_taint
from greenroom.sentences import Words, build_sentence
from greenroom.services.workflow_engine.agents import CannotResume, start_agent
from greenroom.services.workflow_engine.prompts import MissingSkill, StepTexts
from greenroom.services.workflow_engine.results import UnusableOutput, parse_output
from greenroom.services.workflow_engine.step_asks import build_answer_news, raise_ask

logger = logging.getLogger(__name__)
_TABLES: dict[WaitKind, Table[Any]] = {"run": RUNS, "workflow": WORKFLOW_RUNS, "ask": ASKS}
"""Where the things are kept that steps wait for."""


class HubExecutor:
    """The world of one hub: everything is done by commands on its log, under ids that follow from the attempt."""

    def __init__(self, log: Log, data: Path) -> None:
        self._log = log
        self._skills = data / "skills"

    async def submit(self, step: WorkflowStep) -> None:
        rows = self._log.rows
        run = rows.get(WORKFLOW_RUNS, step.run_id)
        if run is None or run.status not in GOING_ON or not _is_at(rows.get(STEPS, step.run_id, step.id), step):
            return
        if self.get_news(step) is not None or self._is_there(step):
            return
        try:
            await self._begin(run, step)
        except (Refused, ExpressionFailed, BadExpression, MissingSkill) as no:
            failure = "failed" if isinstance(no, Refused | MissingSkill) else "expression"
            told = Ended(step=step.id, attempt=step.attempt, ok=False, error=no.said, failure=failure)
            await self._log.do(TellRun(by=HUB, run_id=run.id, news=[told]))
        except CannotResume as no:
            await self._log.do(TellRun(by=HUB, run_id=run.id, news=[_build_cannot_resume(step, no.said)]))

    def _is_there(self, step: WorkflowStep) -> bool:
        table = _TABLES.get(step.waits_kind) if step.waits_kind else None
        return table is not None and self._log.rows.get(table, step.waits_key) is not None

    async def _begin(self, run: WorkflowRun, step: WorkflowStep) -> None:
        plan = load_plan(self._log.rows, run)
        board = RowsBoard(self._log.rows, run)
        node = plan.nodes[get_step_id(step.id)]
        texts = StepTexts(plan, board, node, step, self._skills)
        match step.waits_kind:
            case "run":
                await start_agent(self._log, run, board.facts, node, step, texts, step.waits_key)
            case "workflow":
                await self._start_nested(run, node, step, texts)
            case "ask":
                await raise_ask(self._log, run, node, step, texts, step.waits_key)
            case "engine":
                await self._log.do(TellRun(by=HUB, run_id=run.id, news=[Work(step=step.id, attempt=step.attempt)]))
            case "message" | "webhook" | "time" | None:
                return
            case _:
                assert_never(step.waits_kind)

    async def _start_nested(self, run: WorkflowRun, node: PlanNode, step: WorkflowStep, texts: StepTexts) -> None:
        await self._log.do(
            StartWorkflow(
                by=HUB,
                run_id=step.waits_key,
                workflow=node.step.workflow or "",
                inputs=texts.inputs,
                trigger=f"step {step.id}",
                taint=get_work_taint(self._log.rows, run, texts),
                parent_id=run.id,
                parent_step=step.id,
                parent_attempt=step.attempt,
            )
        )

    async def cancel(self, ending: WorkflowEnding) -> None:
        rows = self._log.rows
        key, reason = ending.key, ending.reason or build_sentence("step_reason.not_needed")
        about: Any = {"reason": reason} if isinstance(reason, str) else {"said": reason}
        try:
            match ending.kind:
                case "run":
                    run = rows.get(RUNS, key)
                    if run is not None and run.status in LIVE:
                        seed = derive_id("ord", run.created_at, key, "cancel")
                        await self._log.do(CancelRun(by=HUB, run_id=key, order_seed=seed, reason=str(reason)))
                case "workflow":
                    below = rows.get(WORKFLOW_RUNS, key)
                    if below is not None and below.status in GOING_ON:
                        above = rows.get(WORKFLOW_RUNS, ending.run_id)
                        rollback = above is not None and above.takes_back
                        await self._log.do(AbortWorkflow(by=HUB, run_id=key, rollback=rollback, **about))
                case "ask":
                    ask = rows.get(ASKS, key)
                    if ask is not None and ask.state == "open":
                        await self._log.do(WithdrawAsk(by=HUB, ask_id=key, **about))
                case "agent":
                    agent = rows.get(AGENTS, key)
                    if agent is not None and agent.run_id is None:
                        seed = derive_id("ord", agent.registered_at, key, ending.run_id, "end")
                        await self._log.do(EndAgent(by=HUB, agent_id=key, order_id=seed))
                case _:
                    assert_never(ending.kind)
        except Refused as no:
            logger.info("%s was not ended: %s", ending.work, no.message)

    def get_news(self, step: WorkflowStep) -> News | None:
        rows = self._log.rows
        match step.waits_kind:
            case "run":
                run = rows.get(RUNS, step.waits_key)
                return self._build_run_news(step, run) if run is not None and run.status in ENDED else None
            case "workflow":
                below = rows.get(WORKFLOW_RUNS, step.waits_key)
                return _build_nested_end(step, below) if below is not None and below.status in OVER else None
            case "ask":
                ask = rows.get(ASKS, step.waits_key)
                return build_answer_news(step, ask) if ask is not None and ask.state != "open" else None
            case "message" | "webhook" | "time" | "engine" | None:
                return None
            case _:
                assert_never(step.waits_kind)

    def _build_run_news(self, step: WorkflowStep, run: Run) -> News:
        spent = WorkflowUsage(run.input_tokens, run.output_tokens, run.cost_usd or 0.0)
        if run.status == "interrupted":
            agent = self._log.rows.get(AGENTS, run.agent_id)
            can_resume = agent is not None and bool(agent.session)
            return Interrupted(
                step=step.id,
                attempt=step.attempt,
                error=run.error or build_sentence("step_error.machine_down"),
                agent_run=run.id,
                spent=spent,
                can_resume=can_resume,
                is_unbegun=not can_resume and is_untold(self._log.rows, run),
            )
        if run.status == "failed" and run.task is not None and run.started_at is None:
            return _build_cannot_resume(step, run.error or build_sentence("step_error.agent_failed"))
        ended: dict[str, Any] = {"step": step.id, "attempt": step.attempt, "spent": spent, "agent_id": run.agent_id}
        if run.status != "completed":
            cancelled = run.status == "cancelled"
            error = run.error or build_sentence("step_error.agent_failed")
            if cancelled:
                error = build_sentence("step_error.run_cancelled", error=run.error)
            return Ended(**ended, ok=False, error=error, agent_run=run.id, final=cancelled)
        node = self._get_node(step)
        try:
            output = parse_output(run, node.step.output_schema)
        except UnusableOutput as wrong:
            if node.step.output_schema is not None and not step.repairs:
                return Mend(**ended, reason=wrong.said)
            error = build_sentence("step_error.output", problem=wrong.said)
            return Ended(**ended, ok=False, error=error, failure="output", agent_run=run.id)
        return Ended(**ended, ok=True, output=output, agent_run=run.id)

    def _get_node(self, step: WorkflowStep) -> PlanNode:
        run = self._log.rows.get(WORKFLOW_RUNS, step.run_id)
        assert run is not None  # noqa: S101 its step is there
        return load_plan(self._log.rows, run).nodes[get_step_id(step.id)]


def _is_at(found: WorkflowStep | None, step: WorkflowStep) -> bool:
    """Whether a step is still at what it was seen at."""
    return found is not None and (found.attempt, found.waits_for) == (step.attempt, step.waits_for)


def _build_cannot_resume(step: WorkflowStep, error: Words) -> Interrupted:
    """The agent could not continue its session: the step is still interrupted."""
    return Interrupted(step=step.id, attempt=step.attempt, error=error, agent_run=step.resumed or "", can_resume=False)


def _build_nested_end(step: WorkflowStep, below: WorkflowRun) -> Ended:
    ok = below.status == "completed"
    why = below.error or below.id
    error = None if ok else build_sentence("step_error.nested_failed", error=why)
    if below.status == "cancelled":
        error = build_sentence("step_error.nested_cancelled", error=why)
    return Ended(step=step.id, attempt=step.attempt, ok=ok, output=below.output, error=error, spent=below.spent)
