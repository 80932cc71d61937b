"""What the agent remembers of a session, in a file that outlives its process: every prompt and finished line."""

import json
import os
from pathlib import Path
from typing import Any, Literal

Json = dict[str, Any]
STATE = "GREENROOM_REHEARSAL_STATE"
"""The variable that names the folder; without it a folder in the user's state directory."""

KINDS: tuple[Literal["out", "code"], ...] = ("out", "code")
"""Files of a command: what it wrote, and how it ended."""


class RehearsalTurn:
    """One prompt, and what came of it so far."""

    def __init__(self, prompt: str, task: str = "", is_step: bool = False) -> None:
        self.prompt = prompt
        self.task = task
        """The task that the prompt belongs to; empty if the client does not say."""
        self.is_step = is_step
        """Whether the hub has given the prompt for a step of a workflow."""
        self.done = 0
        """How many lines are finished."""
        self.said: list[str] = []
        self.results: list[Any] = []
        self.output: Any = None
        self.tokens = (0, 0)
        self.cost_usd = 0.0
        self.answer_from = 0
        """Where in `said` the answer begins: after the last call."""
        self.note: Json = {}
        """What the line under way settled before it acted."""
        self.end: Json | None = None
        """None while the turn is open; the error that it ended with, or {}."""
        self._written = (0, 0)

    def join_answer(self) -> str:
        """What was said since the last call, exactly as it was reported."""
        return "".join("\n" + text if at else text for at, text in enumerate(self.said) if at >= self.answer_from)

    def forget_line(self) -> None:
        """Drop what the line in progress reported and produced: it is carried out again."""
        said, results = self._written
        del self.said[said:], self.results[results:]

    def take_progress(self) -> Json:
        """The new text since the last call of this method."""
        said, results = self._written
        self._written = len(self.said), len(self.results)
        return {
            "done": self.done,
            "said": self.said[said:],
            "results": self.results[results:],
            "output": self.output,
            "tokens": self.tokens,
            "cost_usd": self.cost_usd,
            "answer_from": self.answer_from,
        }

    def add_progress(self, progress: Json) -> None:
        self.done, self.output, self.note = progress["done"], progress["output"], {}
        self.said += progress["said"]
        self.results += progress["results"]
        self.tokens = (progress["tokens"][0], progress["tokens"][1])
        self.cost_usd, self.answer_from = progress["cost_usd"], progress["answer_from"]
        self._written = len(self.said), len(self.results)


class SessionMemory:
    """One session. Effects beyond the process are recorded on disk before the next line begins."""

    def __init__(self, session: str) -> None:
        self._path = _get_state_folder() / f"{session}.jsonl"
        self.turns: list[RehearsalTurn] = []

    def exists(self) -> bool:
        return self._path.is_file()

    def create_file(self) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path.touch(mode=0o600)

    def load(self) -> None:
        """Read what earlier processes remembered; a record that was cut off is none."""
        *whole, cut = self._path.read_bytes().split(b"\n")
        if cut:
            os.truncate(self._path, self._path.stat().st_size - len(cut))
        for line in whole:
            self._apply_record(json.loads(line))

    def _apply_record(self, record: Json) -> None:
        if "prompt" in record:
            turn = RehearsalTurn(record["prompt"], record.get("task", ""), record.get("is_step", False))
            self.turns.append(turn)
            if "said" in record:  # version 0.1 wrote one record at the end of a turn
                turn.said, turn.end = [record["said"]], {}
        elif "note" in record:
            self.turns[-1].note = record["note"]
        elif "end" in record:
            self.turns[-1].end = record["end"]
        else:
            self.turns[-1].add_progress(record)

    def get_task_turn(self, task: str) -> RehearsalTurn | None:
        """The last turn of a task."""
        return next((turn for turn in reversed(self.turns) if turn.task == task), None)

    def begin_turn(self, prompt: str, task: str, is_step: bool) -> RehearsalTurn:
        turn = RehearsalTurn(prompt, task, is_step)
        self.turns.append(turn)
        self._write({"prompt": prompt, "task": task, "is_step": is_step})
        return turn

    def note(self, turn: RehearsalTurn, note: Json) -> None:
        """Keep what the line under way is about to do."""
        turn.note = note
        self._write({"note": note}, durable=True)

    def finish_line(self, turn: RehearsalTurn, *, has_effect: bool) -> None:
        files = [self.build_line_path(turn, kind) for kind in KINDS] if has_effect else []
        turn.done += 1
        turn.note = {}
        self._write(turn.take_progress(), durable=has_effect)
        for file in files:
            file.unlink(missing_ok=True)

    def end_turn(self, turn: RehearsalTurn, error: Json | None = None) -> None:
        turn.end = error or {}
        self._write({"end": turn.end})

    def build_line_path(self, turn: RehearsalTurn, kind: Literal["out", "code"]) -> Path:
        """A file of the line under way, which a process that takes the line up again finds."""
        return self._path.with_suffix(f".{self.turns.index(turn)}.{turn.done}.{kind}")

    def recall(self) -> str:
        """What RECALL says: it counts the prompt that it is in."""
        return f"prompts: {len(self.turns)}, first: {self.turns[0].prompt}"

    def _write(self, record: Json, *, durable: bool = False) -> None:
        with self._path.open("ab") as file:
            file.write(json.dumps(record).encode() + b"\n")
            file.flush()
            if durable:
                os.fsync(file.fileno())


def _get_state_folder() -> Path:
    given = os.environ.get(STATE)
    if given:
        return Path(given).absolute()  # commands run elsewhere
    state = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(state).expanduser() / "greenroom" / "rehearsal"
