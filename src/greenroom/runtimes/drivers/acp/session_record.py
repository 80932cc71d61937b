"""Usage of each model call from the agent's own files, where the protocol reports it late or never."""

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

_FILES = 200
_WRITTEN_S = 3.0
_LOOK_S = 0.05


class SessionRecord:
    """One session's model calls, as its agent has written them down."""

    def __init__(self, record: UsageFiles, env: Mapping[str, str], session: str) -> None:
        self._record = record
        self._read = need_agent(record.form).read_record or (lambda entry: None)
        own = env.get(record.variable) if record.variable else None
        self._folder = Path(own) if own else Path(env.get("HOME") or "/") / record.folder
        self._session = session
        self._lines = JsonlTail()
        self._calls: dict[str, TokenCount] = {}
        """By the agent's own ids: one is written down again when there is more to say of it."""
        self._error = ""
        """What the turn has failed with."""
        self._before = self._total()

    def begin(self) -> None:
        """A turn begins: what was used up to now belongs to others."""
        self._before = self._total()
        self._error = ""

    async def confirm(self, end: TurnEnded, last_said: str) -> TurnEnded:
        """How a turn really ended. An agent may say an error as if it were the model, and write it down as one."""
        begins = self._record.error_begins
        if end.reason != "done" or not begins or not last_said.startswith(begins):
            return end
        with contextlib.suppress(TimeoutError):  # the model may say such words, too
            async with asyncio.timeout(_WRITTEN_S):
                while not self._error:
                    self._total()
                    await asyncio.sleep(_LOOK_S)
        return TurnEnded(reason="failed", error=self._error) if self._error else end

    def count_used(self) -> TokenCount | None:
        """What the turn has used so far; None if that is nothing."""
        used = self._total() - self._before
        return used if used.input or used.output else None

    def _total(self) -> TokenCount:
        for path in self._find_files():
            for entry in self._lines.read(path, self._record.having.encode()):
                match self._read(entry):
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
        for pattern in self._record.files if self._session else ():
            yield from sorted(self._folder.glob(pattern.format(**names)))[:_FILES]
