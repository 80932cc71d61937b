"""Creates asks, answers them and waits for answers, for the doors."""

import asyncio
from collections.abc import Callable
from typing import Literal

from greenroom.link.call_digest import hash_wish
from greenroom.log.log import Log
from greenroom.log.model import Commit
from greenroom.rules.asks.commands import AnswerAsk, RaiseAsk, TakeAnswer
from greenroom.rules.asks.decide_answer import need_open
from greenroom.rules.asks.events import AnswerTaken, AskRaised
from greenroom.rules.asks.model import ASKS, Ask
from greenroom.rules.asks.queries import get_by_wish
from greenroom.rules.asks.schema_check import load_validator

Taking = Literal["yours", "not_yours", "lapsed"]


class AskService:
    """Whoever waits for an answer is woken by the commit that brings it."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._waiting: dict[str, set[asyncio.Event]] = {}
        self._watching: set[asyncio.Event] = set()
        log.subscribe(self._on_commit, ASKS)

    async def ask(self, command: RaiseAsk) -> Ask:
        """Create an ask; or, for the same request again, return the ask that exists."""
        if command.form is not None:
            await asyncio.to_thread(load_validator)
        done = await self._log.do(command)
        if done.records:
            found = self._log.rows.get(ASKS, done.first(AskRaised).ask_id)
        else:
            found = self._log.rows.get(ASKS, command.ask_id)
            if found is None and command.wish is not None:
                found = get_by_wish(self._log.rows, hash_wish(command.by.id, command.wish))
        assert found is not None  # noqa: S101 it was just written, or was the reason for writing nothing
        return found

    async def answer(self, command: AnswerAsk) -> Ask:
        """Answer an ask; refused with `already_answered`, `ask_expired` or `ask_withdrawn` when that is too late."""
        if command.form is not None:
            await asyncio.to_thread(load_validator)
        await self._log.do(command)
        found = self._log.rows.get(ASKS, command.ask_id)
        assert found is not None  # noqa: S101 the rules would have refused it
        if 0 < found.deadline <= found.closed_at:
            need_open(found)
        return found

    async def wait(self, ask_id: str, timeout_s: float | None = None) -> Ask:
        """The ask once it is answered, expired or withdrawn; still open when the time is over before that."""
        woken = asyncio.Event()
        self._waiting.setdefault(ask_id, set()).add(woken)
        try:
            async with asyncio.timeout(timeout_s):
                while (ask := self._need_ask(ask_id)).state == "open":
                    woken.clear()
                    await woken.wait()
                return ask
        except TimeoutError:
            return self._need_ask(ask_id)
        finally:
            others = self._waiting[ask_id]
            others.discard(woken)
            if not others:
                del self._waiting[ask_id]

    async def wait_for_any(self, find: Callable[[], list[Ask]], timeout_s: float) -> list[Ask]:
        """What is found as soon as there is something, or nothing when the time is over."""
        changed = asyncio.Event()
        self._watching.add(changed)
        try:
            async with asyncio.timeout(timeout_s):
                while not (found := find()):
                    changed.clear()
                    await changed.wait()
                return found
        except TimeoutError:
            return []
        finally:
            self._watching.discard(changed)

    async def take(self, command: TakeAnswer) -> Taking:
        """Give the answer to one of those that wait for it: only that one may use an approval of a call."""
        done = await self._log.do(command)
        if any(isinstance(record.event, AnswerTaken) for record in done.records):
            return "yours"
        return "lapsed" if self._need_ask(command.ask_id).lapsed_at else "not_yours"

    def _need_ask(self, ask_id: str) -> Ask:
        ask = self._log.rows.get(ASKS, ask_id)
        if ask is None:
            raise LookupError(ask_id)
        return ask

    def _on_commit(self, commit: Commit) -> None:
        for change in commit.changes:
            for woken in self._waiting.get(change.key, ()):
                woken.set()
        for changed in self._watching:
            changed.set()
