"""Cursors of a page of threads: the text that a client sends to get the next page."""

from greenroom.clock import parse_iso
from greenroom.log.pages import TIME
from greenroom.rules.threads.model import Thread

_MOST_DIGITS = 15


def build_cursor(last: Thread) -> str:
    """The seq of the last thread that was shown."""
    return str(last.seq)


def parse_cursor(cursor: str | None) -> int | None:
    """The seq or the time before which to continue; any ISO time is accepted. Raises ValueError for anything else."""
    if not cursor:
        return None
    if cursor.isascii() and cursor.isdecimal() and len(cursor) <= _MOST_DIGITS:
        return int(cursor)
    try:
        time = parse_iso(cursor)
    except OverflowError as error:
        raise ValueError(cursor) from error
    return time if time >= TIME else 0
