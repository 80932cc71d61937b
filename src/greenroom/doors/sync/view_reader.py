"""Reads the rows of a view: all of them, or only those that changed since a seq."""

from typing import Any, NamedTuple

from greenroom.doors.sync.frames import encode_frame_row
from greenroom.doors.sync.views import MOST_ROWS, View, ViewTable, encode_row
from greenroom.log.store import Snapshot
from greenroom.rules.access.model import Principal

MOST_BYTES = 1 << 20
_MOST_READ = 4 * MOST_BYTES
"""Of one table, before it is known what of it is shown."""
_MOST_SHARED = 16
_SIFTED = 10
"""Where not every row is shown, so many are looked at for each one that is asked for."""


class EncodedRows(NamedTuple):
    """Rows as they are sent, and whether older ones were left out."""

    rows: list[bytes]
    more: bool


Wanted = tuple[str, str, Principal | None, int]
"""A view, its key, its reader, and the number of rows. None as the reader stands for all who see everything."""


def build_cache_key(view: View, key: str, by: Principal, limit: int) -> Wanted:
    """What two clients have in common that are shown the same."""
    sees_all = by.may_operate and not by.is_confined and not by.is_program
    return view.name, key, None if sees_all else by, limit


class ReadCache:
    """A cache of reads at the newest seq: after a restart all pages come back at once and read the same."""

    def __init__(self) -> None:
        self._seq = 0
        self._reads: dict[Wanted, EncodedRows] = {}

    def get(self, wanted: Wanted, seq: int) -> EncodedRows | None:
        """The cached rows at a seq."""
        return self._reads.get(wanted) if seq == self._seq else None

    def put(self, wanted: Wanted, seq: int, read: EncodedRows) -> None:
        """Cache the rows, until something is read at another seq."""
        if seq != self._seq or len(self._reads) >= _MOST_SHARED:
            self._seq, self._reads = seq, {}
        self._reads[wanted] = read


def read_all(view: View, key: str, by: Principal, limit: int, now: Snapshot) -> EncodedRows:
    """The newest rows of a view, oldest first, within bounds of number and size; of each table at least one."""
    rows: list[bytes] = []
    more, left = False, MOST_BYTES
    for part in view.parts:
        found, cut = _read_newest(part, view, key, by, limit if part.long else MOST_ROWS, now)
        chosen: list[bytes] = []
        for row in found:
            data = encode_row(part.table, now, row, by)
            left -= len(data)
            if left < 0 and chosen:
                cut = True
                break
            chosen.append(encode_frame_row(part.table.name, part.table.key_of(row), data))
        rows += reversed(chosen)
        more = more or cut
    return EncodedRows([b",".join(rows)] if rows else [], more)


def _read_newest(
    part: ViewTable, view: View, key: str, by: Principal, limit: int, now: Snapshot
) -> tuple[list[Any], bool]:
    sifted = _may_hide(part, by) or _is_filtered(view, part, by)
    most = limit * _SIFTED if sifted else limit
    where = part.where(key) if part.at_first is None else {**(part.where(key) or {}), **part.at_first}
    found = now.find(part.table, where, order=part.order, desc=True, limit=most + 1, most_bytes=_MOST_READ)
    cut = len(found) > most or (len(found) < most and now.count(part.table, where) > len(found))
    if sifted:
        found = [
            row for row in found if _may_see_row(view, part, by, row, now) and (part.holds is None or part.holds(row))
        ]
        cut = cut or len(found) > limit
    found = found[:limit]
    if part.always:
        found = _add_permanent_rows(part, view, by, found, now)
    return [*part.fixed, *found], cut


def _add_permanent_rows(part: ViewTable, view: View, by: Principal, newest: list[Any], now: Snapshot) -> list[Any]:
    """The newest rows, and first those that are shown however old they are: they are not to be cut for their size."""
    held = [row for where in part.always for row in now.find(part.table, where, limit=MOST_ROWS)]
    held = [row for row in held if _may_see_row(view, part, by, row, now)]
    known = {part.table.key_of(row) for row in held}
    return [*held, *(row for row in newest if part.table.key_of(row) not in known)]


def read_since(view: View, key: str, by: Principal, limit: int, after: int, now: Snapshot) -> list[bytes] | None:
    """The rows changed and gone since a seq, gone ones first; None when everything must be read again.

    That is when more has changed than a snapshot holds, or when it would name rows to somebody who never saw them.
    """
    rows: list[bytes] = []
    left = MOST_BYTES
    for part in view.parts:
        gone = now.gone_since(part.table.name, after, MOST_ROWS + 1)
        if len(gone) > MOST_ROWS:
            return None
        if view.keyed:
            if any(gone_key == key for gone_key, _ in gone):
                return None
        elif gone and (_is_filtered(view, part, by) or (part.in_thread is not None and by.is_confined)):
            return None
        else:
            rows += [encode_frame_row(part.table.name, gone_key, b"null", seq) for gone_key, seq in gone]
        most = limit if part.long else MOST_ROWS
        where = part.where(key)
        changed = now.count(part.table, where, after=("_seq", after))
        if changed > most:
            return None
        found = now.find(part.table, where, after=("_seq", after), order="_seq", desc=True, most_bytes=_MOST_READ)
        if len(found) < changed:
            return None
        for row in reversed(found):
            if _may_see_row(view, part, by, row, now):
                data = encode_row(part.table, now, row, by) if part.holds is None or part.holds(row) else b"null"
                left -= len(data)
                rows.append(encode_frame_row(part.table.name, part.table.key_of(row), data, now.seq))
    return rows if left >= 0 else None


def _may_hide(part: ViewTable, by: Principal) -> bool:
    """Whether some rows of a part may be left out for this principal."""
    if part.holds is not None or (part.for_people is not None and by.is_program):
        return True
    return part.in_thread is not None and by.is_confined


def _is_filtered(view: View, part: ViewTable, by: Principal) -> bool:
    """Whether this principal may not see all rows; a principal that may see a key sees everything under it."""
    return view.sees is not None and not view.keyed and part.table is view.head and not by.may_operate


def _may_see_row(view: View, part: ViewTable, by: Principal, row: Any, now: Snapshot) -> bool:
    if part.hides(now, by, row):
        return False
    return not _is_filtered(view, part, by) or view.sees is None or view.sees(now, by, row)
