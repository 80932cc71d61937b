"""Changes single fields of a row, for the projections of the nouns."""

from typing import Any

import msgspec

from greenroom.log.model import R, Table, Tx


def change_row(table: Table[R], tx: Tx, *key: str, **fields: Any) -> None:
    """Give the row with this key other values in these fields. A row that is gone stays gone."""
    row = tx.get(table, *key)
    if row is not None:
        tx.put(table, msgspec.structs.replace(row, **fields))
