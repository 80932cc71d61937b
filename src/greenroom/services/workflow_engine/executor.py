"""What an engine needs from outside: carry out attempts, end things, and report outcomes.

`advance` says what is to be done; an engine sees that it is done once, whatever crashes. Every engine uses the same
core and the same world, and passes the same suite (tests/rules/workflows/conformance.py).
"""

from typing import Protocol

from greenroom.rules.workflows.core.news import News
from greenroom.rules.workflows.model import WorkflowEnding, WorkflowStep


class AttemptExecutor(Protocol):
    """Where attempts are carried out. All of it may be called again after a crash: what was done is found there."""

    async def submit(self, step: WorkflowStep) -> None:
        """Have the attempt that a step is at carried out, or the person asked that it waits for."""
        ...

    async def cancel(self, ending: WorkflowEnding) -> None:
        """End what a step does not want any more."""
        ...

    def get_news(self, step: WorkflowStep) -> News | None:
        """What has come of what a step waits for; None while nothing has."""
        ...
