"""The rule for the hub's time. It has no rows: nouns above it shift their own times."""

from greenroom.log.model import Command, Context, Decide, Event, Noun, Project, Recorded, Rows, Tx
from greenroom.rules.access.decide import need_principal
from greenroom.rules.access.queries import need_right
from greenroom.rules.clock.model import ClockMoved, MoveClock


def move_clock(rows: Rows, command: MoveClock, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    return [ClockMoved(ms=command.ms)] if command.ms else []


def clock_moved(tx: Tx, event: ClockMoved, record: Recorded) -> None:
    """It is read in the audit."""


DECIDE: dict[type[Command], Decide] = {MoveClock: move_clock}
PROJECT: dict[type[Event], Project] = {ClockMoved: clock_moved}
CLOCK_NOUN = Noun(name="clock", tables=(), events=tuple(PROJECT), decide=DECIDE, project=PROJECT)
