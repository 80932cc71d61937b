"""The commands and events of the hub's time."""

from typing import ClassVar

from greenroom.log.model import Command, Event


class MoveClock(Command, frozen=True, kw_only=True):
    """The machine's clock was set: follow it."""

    ms: int


class ClockMoved(Event, frozen=True, kw_only=True):
    """The hub's time was moved, forward or back; what comes with it moves every time that ends a span."""

    privileged: ClassVar[bool] = True
    ms: int
