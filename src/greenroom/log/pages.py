"""Pages of a list, newest first, by the seq of creation: no two rows share one, so none is skipped."""

from collections.abc import Callable, Mapping
from typing import TypeVar

import msgspec

from greenroom.log.model import Row, Rows, Table, Value

TIME = 10**12
"""From here on a place in a list is a time in milliseconds, by which earlier versions counted."""
TOP = TIME // 2
"""Is added to the seq of a row that stands above all others of its list."""
_CHUNK = 50


class PagedRow(Row, frozen=True, kw_only=True):
    """A row of a list that is read page by page: it has a field `seq`, and its table an index on that."""

    @property
    def seq(self) -> int:
        """The seq of the event that created it; it orders the rows whatever happens to the clock.

        A row at the top of its list has TOP more.
        """
        raise NotImplementedError


P = TypeVar("P", bound=PagedRow)


def find_page(
    rows: Rows,
    table: Table[P],
    where: Mapping[str, Value] | None = None,
    *,
    before: int | None,
    limit: int,
    at: str = "created_at",
    may_show: Callable[[P], bool] = lambda row: True,
) -> list[P]:
    """The newest rows before a seq, newest first; fewer than `limit` only if there are no more.

    `at` is the field of the time at which a row was made, for places that are times.
    """
    edge = before if before is None or before < TIME else _seq_at(rows, table, at, before)
    out: list[P] = []
    chunk = max(limit, _CHUNK)
    while True:
        found = rows.find(
            table, where, before=None if edge is None else ("seq", edge), order="seq", desc=True, limit=chunk
        )
        out += filter(may_show, found)
        if len(out) >= limit or len(found) < chunk:
            return out[:limit]
        edge = found[-1].seq


def put_on_top(row: P, is_on_top: bool) -> P:
    """The row in its place at the top of the list, or where it was before."""
    return msgspec.structs.replace(row, seq=row.seq % TOP + (TOP if is_on_top else 0))


def is_before(row: PagedRow, before: int | None, made_at: int) -> bool:
    """Whether a row comes after this place in its list."""
    return before is None or (row.seq < before if before < TIME else made_at < before)


def _seq_at(rows: Rows, table: Table[P], at: str, time: int) -> int:
    """The seq before which everything was made that was made before a time."""
    newest = rows.find(table, before=(at, time), order=at, desc=True, limit=1)
    return newest[0].seq % TOP + 1 if newest else 0
