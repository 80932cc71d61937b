"""Usage of each model call, read from the agent's own files where the protocol reports it late or never."""

import asyncio
import contextlib
import glob
from collections.abc import Iterator, Mapping
from pathlib import Path

from greenroom.runtimes.acp_manifest import UsageFiles
from greenroom.runtimes.agent_cli import CallUsage
from greenroom.runtimes.agents import need_agent
from greenroom.runtimes.contract import TurnEnded
from greenroom.runtimes.drivers.acp.turn_end import TokenCount
from greenroom.runtimes.jsonl_tail import JsonlTail

_MOST_FILES = 200
_MOST_DELAY_S = 3.0
_POLL_S = 0.05


class UsageFileReader:
    """Reads what the model calls of one session have used, and the error of a failed turn."""

    def __init__(self, files: UsageFiles, env: Mapping[str, str], session: str) -> None:
        self._files = files
        self._read_entry = need_agent(files.form).read_usage_entry or (lambda entry: None)
        configured = env.get(files.variable) if files.variable else None
        self._folder = Path(configured) if configured else Path(env.get("HOME") or "/") / files.folder
        self._session = session
        self._lines = JsonlTail()
        self._calls: dict[str, TokenCount] = {}
        """By the agent's own ids. The agent writes a call again when it knows more about it."""
        self._error = ""
        """The error of the current turn."""
        self._before = self._count_tokens()

    def begin_turn(self) -> None:
        """Note that a turn begins: earlier calls do not count for it."""
        self._before = self._count_tokens()
        self._error = ""

    async def correct_end(self, end: TurnEnded, last_text: str) -> TurnEnded:
        """The end of a turn, corrected: some agents show an error as the model's words, and only their file says so."""
        begins = self._files.error_begins
        if end.reason != "done" or not begins or not last_text.startswith(begins):
            return end
        with contextlib.suppress(TimeoutError):  # the model may say such words, too
            async with asyncio.timeout(_MOST_DELAY_S):
                while not self._error:
                    self._count_tokens()
                    await asyncio.sleep(_POLL_S)
        return TurnEnded(reason="failed", error=self._error) if self._error else end

    def count_turn_tokens(self) -> TokenCount | None:
        """The tokens that the turn has used so far; None if it has used none."""
        used = self._count_tokens() - self._before
        return used if used.input or used.output else None

    def _count_tokens(self) -> TokenCount:
        for path in self._find_files():
            for entry in self._lines.read(path, self._files.having.encode()):
                match self._read_entry(entry):
                    case CallUsage(id=id) as used:
                        self._calls[id] = TokenCount(used.input_tokens, used.output_tokens, used.model)
                    case str(words):
                        self._error = words or self._error
        total = TokenCount()
        for one in self._calls.values():
            total += one
        return total

    def _find_files(self) -> Iterator[Path]:
        names = {"id": glob.escape(self._session), "id8": glob.escape(self._session[:8])}
        for pattern in self._files.files if self._session else ():
            yield from sorted(self._folder.glob(pattern.format(**names)))[:_MOST_FILES]
