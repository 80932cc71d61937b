"""Buffers an agent's output on its way to the log: collects words, and shows them at once to viewers."""

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec

from greenroom.link.frames import LiveKind
from greenroom.link.reports import (
    CallFinished,
    CallReport,
    CallStarted,
    Died,
    FellAsleep,
    ModelCallCut,
    Report,
    Said,
    Thought,
    TurnEnded,
    TurnOutcome,
    TurnReport,
    WordsReport,
)
from greenroom.link.tokens import hide_tokens

Tell = Callable[[str, Report], None]
Show = Callable[[str, LiveKind, Any], bool]
_GATHER_S = 0.5
_GATHER_CHARS = 8192
_ANSWER_CHARS = 1_000_000


class OutputBuffer:
    """One agent's ear."""

    def __init__(self, agent_id: str, tell: Tell, show: Show) -> None:
        self._agent_id = agent_id
        self._tell = tell
        self._show = show
        self._run_id: str | None = None
        self._words: list[str] = []
        self._size = 0
        self._answer: list[str] = []
        self._answer_size = 0
        self._timer: asyncio.TimerHandle | None = None
        self._open_calls: set[str] = set()

    def note(
        self, run_id: str | None, heard: Report | Said | TurnEnded, outcome: type[TurnOutcome] = TurnReport
    ) -> None:
        """Forward the facts of a session. `outcome` maps the end of a turn to the end of its run."""
        if run_id != self._run_id:
            self._forget(run_id)
        if isinstance(heard, Said):
            self._add_text(heard.text)
            return
        if isinstance(heard, Thought):
            self._show(self._agent_id, "thought", heard.text)
        self._flush()
        report = self._end_answer(heard, outcome) if isinstance(heard, TurnEnded) else heard
        if isinstance(report, CallStarted):
            self._answer, self._answer_size = [], 0
            self._open_calls.add(report.call)
        elif isinstance(report, CallFinished):
            self._open_calls.discard(report.call)
        if run_id is not None:
            self._tell(run_id, report)
        elif isinstance(report, Died):
            self._tell("", FellAsleep(self._agent_id))

    def _end_answer(self, ended: TurnEnded, outcome: type[TurnOutcome]) -> TurnOutcome:
        text = "".join(self._answer)[:_ANSWER_CHARS]
        self._answer, self._answer_size = [], 0
        return outcome(**{**msgspec.structs.asdict(ended), "text": text})

    def note_stop(self, run_id: str | None) -> None:
        """The turn is stopped: unless a tool was at work, that cuts off a model call, which no runtime accounts for."""
        if not self._open_calls:
            self.tell(run_id, ModelCallCut())

    def tell(self, run_id: str | None, report: Report) -> None:
        """Hand on what the node itself has to say of a run, in its order."""
        self._flush()
        if run_id is not None:
            self._tell(run_id, report)

    def _forget(self, run_id: str | None) -> None:
        self._flush()
        self._run_id, self._answer, self._answer_size = run_id, [], 0
        self._open_calls.clear()

    def _add_text(self, text: str) -> None:
        self._show(self._agent_id, "said", text)
        self._words.append(text)
        self._size += len(text)
        if self._answer_size < _ANSWER_CHARS:
            self._answer.append(text)
            self._answer_size += len(text)
        if self._size >= _GATHER_CHARS:
            self._flush()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_GATHER_S, self._flush)

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._words and self._run_id is not None:
            self._tell(self._run_id, WordsReport("".join(self._words)))
        self._words, self._size = [], 0


def redact_tokens(report: Report) -> Report:
    """An item without secrets, because tools of the hub return credentials too.

    Permission requests stay as they are: the approval covers every byte of them.
    """
    if isinstance(report, CallReport):
        return report
    text = msgspec.json.encode(report).decode()
    hidden = hide_tokens(text)
    return report if hidden == text else msgspec.json.decode(hidden, type=Report)
