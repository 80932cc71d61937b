"""What a node must not lose: items until the hub has them, orders from the moment they are acknowledged."""

from pathlib import Path
from typing import Any

import apsw
import msgspec

from greenroom.gateway import frames

_TABLES = """
CREATE TABLE IF NOT EXISTS items (number INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, data BLOB NOT NULL, done INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
"""
_ITEM = msgspec.json.Decoder(frames.Item)
_ORDER = msgspec.json.Decoder(frames.Ordered)


class Outbox:
    """One SQLite file. A crash of the node's program loses nothing that is in it."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = folder / "outbox.db"
        self._db = apsw.Connection(str(path))
        path.chmod(0o600)
        self._db.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
        self._db.execute(_TABLES)
        self._next = 1 + max(
            self._db.execute("SELECT max(number) FROM items").get or 0,
            self._db.execute("SELECT value FROM meta WHERE name = 'acked'").get or 0,
        )

    def add(self, run: str, at: int, heard: dict[str, Any]) -> frames.Item:
        """Number an item and keep it."""
        item = frames.Item(number=self._next, run=run, at=at, heard=heard)
        self._db.execute("INSERT INTO items VALUES (?, ?)", (item.number, frames.encode(item)))
        self._next += 1
        return item

    def acked(self, number: int) -> None:
        """The hub has everything up to this number."""
        with self._db:
            self._db.execute("DELETE FROM items WHERE number <= ?", (number,))
            self._db.execute(
                "INSERT INTO meta VALUES ('acked', ?)"
                " ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)",
                (number,),
            )
        self._next = max(self._next, number + 1)

    def unacked(self) -> list[frames.Item]:
        """What the hub has not acknowledged yet, oldest first."""
        return [_ITEM.decode(data) for (data,) in self._db.execute("SELECT data FROM items ORDER BY number")]

    def keep_order(self, order: frames.Ordered) -> bool:
        """Store an order; False if it was stored before."""
        known = self._db.execute("SELECT 1 FROM orders WHERE id = ?", (order.id,)).get
        if known is None:
            self._db.execute("INSERT INTO orders VALUES (?, ?, 0)", (order.id, frames.encode(order)))
        return known is None

    def order_done(self, order_id: str) -> None:
        """An order is carried out; its secrets are forgotten, its id is remembered."""
        self._db.execute("UPDATE orders SET done = 1, data = x'' WHERE id = ?", (order_id,))

    def open_orders(self) -> list[frames.Ordered]:
        """Orders that were stored and not carried out when the node went down."""
        found = self._db.execute("SELECT data FROM orders WHERE done = 0 ORDER BY id")
        return [_ORDER.decode(data) for (data,) in found]

    def close(self) -> None:
        self._db.close()
