"""The log: `do` is the only function that changes state."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from greenroom.clock import Clock, SystemClock
from greenroom.errors import LOGGED, Refused, Unavailable
from greenroom.log.failpoints import failpoint
from greenroom.log.model import Change, Command, Commit, Context, Decide, Done, Event, Follow, Noun, Project, Rows
from greenroom.log.store import Store, WriteTx
from greenroom.log.subscriptions import OnCommit, Subscriptions, Watched
from greenroom.settings import Settings

logger = logging.getLogger(__name__)
_BATCH = 256
_BACKLOG = 20_000
_GROUP_S = 0.025
"""A group of commands ends after this time, and the rest wait for the next: the loop answers nobody meanwhile."""
Outcome = Done | Exception


class Log:
    """Takes commands, one writer for all; commits them in groups and acknowledges each after the commit."""

    def __init__(self, store: Store, nouns: Iterable[Noun], settings: Settings, clock: Clock | None = None) -> None:
        self.store = store
        self.settings = settings
        self.clock = clock or SystemClock()
        self.decide: dict[type[Command], Decide] = {k: d for noun in nouns for k, d in noun.decide.items()}
        self.project: dict[type[Event], Project] = {k: p for noun in nouns for k, p in noun.project.items()}
        self.admit = [noun.admit for noun in nouns if noun.admit is not None]
        self.project_all = [noun.project_all for noun in nouns if noun.project_all is not None]
        self.follow: dict[type[Event], list[Follow]] = {}
        for noun in nouns:
            for kind, follow in noun.follow.items():
                self.follow.setdefault(kind, []).append(follow)
        self._waiting: deque[tuple[Command, asyncio.Future[Done]]] = deque()
        self._patient: list[tuple[Command, asyncio.Future[Done]]] = []
        self._wake = asyncio.Event()
        self._subscriptions = Subscriptions()
        self._stopping = False

    @property
    def rows(self) -> Rows:
        """The committed present."""
        return self.store.rows

    async def do(self, command: Command) -> Done:
        """Carry a command out; returns once it is on disk. Raises Refused or Unavailable.

        A caller that goes away does not take the command back.
        """
        if self._stopping:
            raise Unavailable("stopping")
        if len(self._waiting) >= _BACKLOG:
            raise Unavailable("busy.commands")
        done: asyncio.Future[Done] = asyncio.get_running_loop().create_future()
        self._waiting.append((command, done))
        self._wake.set()
        return await done

    async def do_along(self, command: Command, within_s: float) -> Done:
        """Execute a command that nobody waits for: with the next one, or by itself after a while."""
        done: asyncio.Future[Done] = asyncio.get_running_loop().create_future()
        self._patient.append((command, done))
        asyncio.get_running_loop().call_later(within_s, self._hurry)
        return await done

    def _hurry(self) -> None:
        """Execute the patient commands: they have waited long enough."""
        self._waiting.extend(self._patient)
        self._patient = []
        self._wake.set()

    @property
    def backlog(self) -> int:
        """How many commands wait for the writer."""
        return len(self._waiting)

    def subscribe(self, on_commit: OnCommit, *watched: Watched) -> Callable[[], None]:
        """Call `on_commit` right after each commit, in order, with the watched tables' changes and the watched events.

        Watching nothing in particular is watching everything. It must be quick. Returns what ends the subscription.
        """
        return self._subscriptions.add(on_commit, watched)

    async def run(self) -> None:
        """The writer: to be run as a task for as long as the hub lives; ends after `stop` once all is written."""
        while self._waiting or not self._stopping:
            if not self._waiting:
                self._wake.clear()
                await self._wake.wait()
                continue
            taken = [self._waiting.popleft() for _ in range(min(len(self._waiting), _BATCH))]
            batch, self._patient = taken + self._patient, []
            await self._carry_out(batch)

    def stop(self) -> None:
        """Take no more commands; `run` ends when those taken are written."""
        self._stopping = True
        self._hurry()

    async def _carry_out(self, batch: list[tuple[Command, "asyncio.Future[Done]"]]) -> None:
        commands = [command for command, _ in batch]
        try:
            outcomes, changes = await self.store.write(lambda tx: self._apply(tx, commands))
        except Exception as error:
            if len(batch) > 1 and not isinstance(error, Unavailable):
                for one in batch:  # one of them is at fault: the others must not suffer from it
                    await self._carry_out([one])
                return
            if not isinstance(error, Unavailable):
                logger.exception("command %s failed", type(commands[0]).__name__)
                error.add_note(LOGGED)
            for _, done in batch:
                if not done.done():
                    done.set_exception(error)
            return
        failpoint("log.committed")
        batch, left = batch[: len(outcomes)], batch[len(outcomes) :]
        self._waiting.extendleft(reversed(left))
        self._announce(outcomes, changes)
        failpoint("log.announced")
        for (_, done), outcome in zip(batch, outcomes, strict=True):
            if done.done():
                continue
            if isinstance(outcome, Done):
                done.set_result(outcome)
            else:
                done.set_exception(outcome)
        failpoint("log.answered")

    def _announce(self, outcomes: list[Outcome], changes: tuple[Change, ...]) -> None:
        records = tuple([r for o in outcomes if isinstance(o, Done) and not o.repeated for r in o.records])
        if not records:
            return
        self.announce(Commit(records[-1].seq, records, changes, frozenset([change.table for change in changes])))

    def announce(self, commit: Commit) -> None:
        """Notify every subscriber of a commit; also of one that another hub on the same database made."""
        self._subscriptions.announce(commit)

    def _apply(self, tx: WriteTx, commands: list[Command]) -> list[Outcome]:
        """The outcomes of the first commands, as many as one group takes."""
        outcomes: list[Outcome] = []
        context = Context(self.clock.now(), self.settings)
        end = time.monotonic() + _GROUP_S
        for command in commands:
            if outcomes and (tx.needs_commit or time.monotonic() > end):
                break
            try:
                events = self._decide(tx, command, context)
            except tx.lost:
                raise
            except Exception as error:  # Refused, or a bug in a rule: it has written nothing, so it fails alone
                if not isinstance(error, Refused):
                    logger.exception("rule for %s failed", type(command).__name__)
                    error.add_note(LOGGED)
                outcomes.append(error)
                continue
            outcomes.append(events if isinstance(events, Done) else self._record(tx, command, events, context))
        return outcomes

    def _decide(self, tx: WriteTx, command: Command, context: Context) -> Done | list[Event]:
        if command.key is not None:
            known = tx.get_command(_build_command_key(command))
            if known is not None:
                name, first, last = known
                if name != type(command).__name__:
                    raise Refused("key_reused.command", "conflict", name=name)
                return Done(tuple(tx.records(first, last)), repeated=True)
        for admit in self.admit:
            admit(tx, command, context)
        return self.decide[type(command)](tx, command, context)

    def _record(self, tx: WriteTx, command: Command, events: list[Event], context: Context) -> Done:
        now = context.now
        records = []
        to_do = deque(events)
        while to_do:
            event = to_do.popleft()
            record = tx.append(event, now, command.by.id)
            project: Any = self.project[type(event)]
            project(tx, event, record)
            for project_one in self.project_all:
                project_one(tx, record)
            records.append(record)
            for follow in self.follow.get(type(event), ()):
                to_do.extend(follow(tx, event, context))
        if command.key is not None and records and not any(record.event.refusal for record in records):
            tx.remember_command(
                _build_command_key(command), type(command).__name__, records[0].seq, records[-1].seq, now
            )
        return Done(tuple(records))


def _build_command_key(command: Command) -> str:
    return f"{command.by.id}\x1f{command.key}"
