"""What the agent remembers of a session, in a file that outlives its process."""

import json
import os
from pathlib import Path
from typing import Any

STATE = "GREENROOM_REHEARSAL_STATE"
"""The variable that names the folder; without it a folder in the user's state directory."""


class Memory:
    """One session: its prompts, and what was said to each."""

    def __init__(self, session: str) -> None:
        self._path = _folder() / f"{session}.jsonl"
        self.turns: list[tuple[str, str]] = []

    def exists(self) -> bool:
        return self._path.is_file()

    def make(self) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path.touch(mode=0o600)

    def load(self) -> None:
        """Read what earlier processes have remembered."""
        for line in self._path.read_text().splitlines():
            turn: dict[str, Any] = json.loads(line)
            self.turns.append((turn["prompt"], turn["said"]))

    def add(self, prompt: str, said: str) -> None:
        self.turns.append((prompt, said))
        with self._path.open("a") as file:
            file.write(json.dumps({"prompt": prompt, "said": said}) + "\n")

    def recall(self, prompt: str) -> str:
        """What RECALL says during a prompt."""
        first = self.turns[0][0] if self.turns else prompt
        return f"prompts: {len(self.turns) + 1}, first: {first}"


def _folder() -> Path:
    given = os.environ.get(STATE)
    if given:
        return Path(given)
    state = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(state).expanduser() / "greenroom" / "rehearsal"
