"""Builds the prompt of a step's agent: prompt and skill, earlier outputs, and the format of the answer."""

from pathlib import Path
from typing import Any

import msgspec

from greenroom.rules.runs.model import AgentContext
from greenroom.rules.workflows.core.plan import Plan, PlanNode
from greenroom.rules.workflows.core.transition import build_values, evaluate_mapping, find_paths
from greenroom.rules.workflows.model import WorkflowStep
from greenroom.rules.workflows.parser.skills import read_skill
from greenroom.rules.workflows.row_boards import RowsBoard
from greenroom.sentences import Sentence, build_sentence

_SUMMARY = 500


class MissingSkill(Exception):
    """Something that a step needs is not there; `said` says what to do."""

    def __init__(self, said: Sentence) -> None:
        super().__init__(str(said))
        self.said = said


class StepTexts:
    """Works out the texts of one step."""

    def __init__(self, plan: Plan, board: RowsBoard, node: PlanNode, step: WorkflowStep, skills: Path) -> None:
        self._plan = plan
        self._board = board
        self._node = node
        self._step = step
        self._skills = skills
        self.inputs: dict[str, Any] = {}
        if node.inputs:
            self.inputs = evaluate_mapping(node.inputs, build_values(plan, board, find_paths(node.inputs), step))

    @property
    def hears_webhooks(self) -> bool:
        """Whether a step of the plan waits for what a stranger sends."""
        waits = (step.wait for step in self._plan.definition.steps)
        return any(wait is not None and wait.webhook is not None for wait in waits)

    def find_heard_messages(self) -> list[str]:
        """The messages that steps of the plan have waited for, by their ids."""
        waited = [self._board.step(step.id) for step in self._plan.definition.steps if step.wait and step.wait.message]
        told = [step.output for step in waited if step is not None and isinstance(step.output, dict)]
        return [str(one["id"]) for one in told if "id" in one]

    def text(self, template: str) -> str:
        """A template of the step, filled in."""
        compiled = self._node.template(template)
        return compiled.render(build_values(self._plan, self._board, compiled.paths, self._step, input=self.inputs))

    def prompt(self) -> str:
        """The skill, the prompt, and what the answer must look like."""
        step = self._node.step
        parts = [self._read_skill(step.skill)] if step.skill else []
        if step.prompt is not None:
            parts.append(self.text(step.prompt))
        if step.output_schema is not None:
            parts.append(f"Answer with JSON only, which fits this JSON Schema:\n{_render_json(step.output_schema)}")
        return "\n\n".join(parts)

    def _read_skill(self, name: str) -> str:
        known = self._plan.definition.skills.get(name)
        if known is not None:
            return known.text
        try:
            return read_skill((self._skills / name / "SKILL.md").read_text()).text
        except (OSError, UnicodeDecodeError) as error:
            raise MissingSkill(
                build_sentence("step_error.missing_skill", skill=name, directory=self._skills, error=error)
            ) from error

    def context(self) -> AgentContext:
        """What the agent gets besides its prompt, without what the prompt contains already."""
        step, board = self._node.step, self._board
        named = {path[1] for path in self._node.template(step.prompt or "").paths if path[0] == "steps" and path[1:]}
        outputs = None
        if "outputs" in step.context:
            before = [board.step(way.source) for way in self._node.incoming if way.source not in named]
            outputs = {one.id: one.output for one in before if one is not None and one.status == "completed"} or None
        variables = dict(board.facts.variables) if "variables" in step.context else {}
        return AgentContext(
            parent_output=outputs,
            shared_variables={**variables, **(self.inputs if "input" not in self._find_used_names() else {})},
            history_summary=self._build_summary() if "summary" in step.context else None,
            file_references=[self.text(file) for file in step.files],
        )

    def _find_used_names(self) -> frozenset[str]:
        return self._node.template(self._node.step.prompt or "").names

    def _build_summary(self) -> str:
        lines = [f"The workflow “{self._plan.definition.name}”: {self._plan.definition.description}".rstrip(": ")]
        for step_id in self._plan.order:
            step = self._board.step(step_id)
            if step is not None and step.ended_at is not None:
                told = str(step.error or _render_json(step.output))
                lines.append(f"- {step_id}: {step.status}: {told[:_SUMMARY]}")
        return "\n".join(lines)


def build_correction_prompt(reason: str, schema: dict[str, Any] | None) -> str:
    """The prompt for an agent whose answer does not match."""
    return (
        f"Your answer cannot be used: {reason}.\nAnswer again, with nothing but JSON that fits this JSON Schema:\n"
        f"{_render_json(schema)}"
    )


def _render_json(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
