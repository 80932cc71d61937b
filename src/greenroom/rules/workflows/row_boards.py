"""The state of one run, stored in the log's rows."""

from greenroom.log.model import Rows, Tx
from greenroom.rules.workflows.model import (
    ATTEMPTS,
    ENDINGS,
    FACTS,
    STEPS,
    WORKFLOW_RUNS,
    WorkflowAttempt,
    WorkflowEnding,
    WorkflowFacts,
    WorkflowRun,
    WorkflowStep,
)


class RowsBoard:
    """A board to be read."""

    def __init__(self, rows: Rows, run: WorkflowRun) -> None:
        self.run = run
        self._rows = rows
        self._facts: WorkflowFacts | None = None

    @property
    def facts(self) -> WorkflowFacts:
        if self._facts is None:
            self._facts = self._rows.get(FACTS, self.run.id) or WorkflowFacts(run_id=self.run.id)
        return self._facts

    @facts.setter
    def facts(self, facts: WorkflowFacts) -> None:
        self._facts = facts

    def step(self, step_id: str) -> WorkflowStep | None:
        return self._rows.get(STEPS, self.run.id, step_id)

    def put_step(self, step: WorkflowStep) -> None:
        raise TypeError("this board is only read")

    def put_attempt(self, attempt: WorkflowAttempt) -> None:
        raise TypeError("this board is only read")

    def put_ending(self, ending: WorkflowEnding) -> None:
        raise TypeError("this board is only read")


class TxBoard(RowsBoard):
    """A board that is written; `close` writes the run and its facts, if they have changed."""

    def __init__(self, tx: Tx, run: WorkflowRun) -> None:
        super().__init__(tx, run)
        self._tx = tx
        self._before = run
        self._has_new_facts = False

    @property
    def facts(self) -> WorkflowFacts:
        return RowsBoard.facts.fget(self)  # type: ignore[attr-defined, no-any-return]

    @facts.setter
    def facts(self, facts: WorkflowFacts) -> None:
        self._facts = facts
        self._has_new_facts = True

    def put_step(self, step: WorkflowStep) -> None:
        self._tx.put(STEPS, step)

    def put_attempt(self, attempt: WorkflowAttempt) -> None:
        self._tx.put(ATTEMPTS, attempt)

    def put_ending(self, ending: WorkflowEnding) -> None:
        self._tx.put(ENDINGS, ending)

    def close(self) -> None:
        if self.run is not self._before:
            self._tx.put(WORKFLOW_RUNS, self.run)
        if self._has_new_facts:
            self._tx.put(FACTS, self.facts)
