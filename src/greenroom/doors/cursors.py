"""Where a page of threads ends, as the text that clients hand back for the next."""

from datetime import datetime
from typing import NamedTuple

from greenroom.log.clock import from_iso, iso
from greenroom.log.model import Rows
from greenroom.nouns.threads.model import Thread
from greenroom.nouns.threads.queries import shown_with


class Place(NamedTuple):
    """Before which time to go on, and how many threads of that very millisecond were shown already."""

    before: int | None = None
    shown: int = 0


def cursor_after(rows: Rows, last: Thread) -> str:
    """An ISO time. Its microseconds say how many threads of that millisecond were shown, so that none is left out."""
    return f"{iso(last.created_at)[:-1]}{shown_with(rows, last):03d}Z"


def place_of(cursor: str | None) -> Place:
    """Where to go on. Any ISO time will do; raises ValueError for anything else."""
    if not cursor:
        return Place()
    try:
        return Place(from_iso(cursor), datetime.fromisoformat(cursor).microsecond % 1000)
    except OverflowError as error:
        raise ValueError(cursor) from error
