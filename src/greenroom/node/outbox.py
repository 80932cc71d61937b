"""What a node must not lose: items until the hub has received them, orders from their acknowledgement on."""

import asyncio
import logging
import time
from collections import deque
from pathlib import Path
from typing import Any

import apsw
import msgspec

from greenroom.errors import Refused
from greenroom.link import frames
from greenroom.link.orders import get_order_name
from greenroom.link.reports import Report, read_report

logger = logging.getLogger(__name__)
_TABLES = """
CREATE TABLE IF NOT EXISTS items (number INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS orders (
    id TEXT PRIMARY KEY, run TEXT NOT NULL, what TEXT NOT NULL, at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS orders_run ON orders (run, what);
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS owner (node TEXT NOT NULL);
"""
_FULL = 20_000
_FULL_BYTES = 64 * 1024 * 1024
"""When so much waits for the hub, agents are not read until it has taken some of it."""
_ITEM_BYTES = 1024 * 1024
_FRAME_BYTES = 4 * 1024 * 1024
_TEXT_CHARS = 64 * 1024
_REMEMBERED_S = 14 * 24 * 3600
_CUT = " … (cut)"


class NodeOutbox:
    """One SQLite file. A crash of the node's program loses nothing that is in it."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = folder / "outbox.db"
        try:
            self._db = _open(path)
        except (apsw.CantOpenError, apsw.NotADBError, apsw.CorruptError) as error:
            raise Refused("outbox_unusable", path=path, error=error) from error
        self.acked = self._db.execute("SELECT value FROM meta WHERE name = 'acked'").get or 0
        self.newest = max(self._db.execute("SELECT max(number) FROM items").get or 0, self.acked)
        self._sizes = deque(self._db.execute("SELECT number, length(data) FROM items ORDER BY number"))
        self._bytes = sum(size for _, size in self._sizes)
        self._unwritten: list[tuple[int, bytes]] = []
        self._is_full = False
        self._room = asyncio.Event()
        self._update_room()

    def add(self, run: str, at: int, report: Report) -> None:
        """Number an item and keep it."""
        item = frames.ItemFrame(number=self.newest + 1, run=run, at=at, heard=report)
        data = frames.encode(item)
        if len(data) > _ITEM_BYTES:
            fields = shorten(msgspec.to_builtins(report))
            data = frames.encode(msgspec.structs.replace(item, heard=read_report(fields)))
            if len(data) > _FRAME_BYTES:
                bare = {key: value for key, value in fields.items() if isinstance(value, str | int | bool)}
                data = frames.encode(msgspec.structs.replace(item, heard=read_report(bare)))
        self._unwritten.append((item.number, data))
        self._sizes.append((item.number, len(data)))
        self._bytes += len(data)
        self.newest = item.number
        self.write()

    def write(self) -> None:
        """Write the items that the disk has not taken yet; until then no agent is read. To be called every second."""
        if self._unwritten and self._is_taken(*[("INSERT INTO items VALUES (?, ?)", one) for one in self._unwritten]):
            self._unwritten = []
        self._update_room()

    def _is_taken(self, *statements: tuple[str, tuple[Any, ...]]) -> bool:
        """Whether the disk has taken all of this; else none of it."""
        try:
            with self._db:
                for sql, values in statements:
                    self._db.execute(sql, values)
        except (apsw.FullError, apsw.IOError) as error:
            if not self._is_full:
                logger.warning("the disk takes nothing (%s): agents are not read until it does", error)
            self._is_full = True
            return False
        self._is_full = False
        return True

    def take_ack(self, number: int) -> None:
        """The hub has everything up to this number."""
        if number <= self.acked:
            return
        self._is_taken(  # if not, the hub sends it again after a restart
            ("DELETE FROM items WHERE number <= ?", (number,)),
            ("INSERT OR REPLACE INTO meta VALUES ('acked', ?)", (number,)),
        )
        self.acked, self.newest = number, max(self.newest, number)
        while self._sizes and self._sizes[0][0] <= number:
            self._bytes -= self._sizes.popleft()[1]
        self._update_room()

    def is_owned_by(self, node: str) -> bool:
        """Whether all that is kept was kept by this node. What another has left, whose folder it was, is forgotten."""
        before = self._db.execute("SELECT node FROM owner").get
        if before == node:
            return True
        with self._db:
            self._db.execute("DELETE FROM owner")
            self._db.execute("INSERT INTO owner VALUES (?)", (node,))
            if before is not None:
                self._db.execute("DELETE FROM items; DELETE FROM orders; DELETE FROM meta")
        if before is not None:
            self.acked = self.newest = self._bytes = 0
            self._sizes.clear()
            self._update_room()
        return before is None

    def find_after(self, number: int, limit: int) -> list[tuple[int, str]]:
        """Items beyond a number, oldest first, each as the frame to send."""
        query = "SELECT number, data FROM items WHERE number > ? ORDER BY number LIMIT ?"
        found = self._db.execute(query, (number, limit))
        return [(number, data.decode()) for number, data in found]

    async def wait_for_room(self) -> None:
        """Wait until the hub has received enough. An agent that writes more than that is not read meanwhile."""
        await self._room.wait()

    def _update_room(self) -> None:
        is_full = self._unwritten or self.newest - self.acked >= _FULL or self._bytes >= _FULL_BYTES
        (self._room.clear if is_full else self._room.set)()

    def keep_order(self, order: frames.Ordered) -> bool:
        """Remember an order, so that it is carried out once; False if it was remembered before. Raises OSError."""
        if self._db.execute("SELECT 1 FROM orders WHERE id = ?", (order.id,)).get is not None:
            return False
        values = (order.id, order.run, get_order_name(order.work), int(time.time()))
        if not self._is_taken(("INSERT INTO orders VALUES (?, ?, ?, ?)", values)):
            raise OSError("the disk does not take the order")
        return True

    def is_cancelled(self, run: str) -> bool:
        """Whether a run was cancelled, even before its start arrived."""
        query = "SELECT 1 FROM orders WHERE run = ? AND what = 'cancel' LIMIT 1"
        return self._db.execute(query, (run,)).get is not None

    def forget_orders(self) -> None:
        """Orders that are so old that the hub will not send them again need not be remembered."""
        self._is_taken(("DELETE FROM orders WHERE at < ?", (int(time.time()) - _REMEMBERED_S,)))

    def pragmas(self) -> dict[str, object]:
        """How the file is kept."""
        return {name: self._db.pragma(name) for name in ("journal_mode", "synchronous", "secure_delete")}

    def close(self) -> None:
        self._db.close()


def _open(path: Path) -> apsw.Connection:
    db = apsw.Connection(str(path))
    path.chmod(0o600)
    # One by one: of several in one text those after the first that answers would not be carried out.
    for name, value in (("journal_mode", "WAL"), ("synchronous", "NORMAL"), ("secure_delete", True)):
        db.pragma(name, value)
    db.execute(_TABLES)
    return db


def shorten(value: Any) -> Any:
    """The same with its long texts cut, so that one item never fills a link."""
    if isinstance(value, str):
        return value if len(value) <= _TEXT_CHARS else value[: _TEXT_CHARS - len(_CUT)] + _CUT
    if isinstance(value, dict):
        return {str(key): shorten(one) for key, one in list(value.items())[:1000]}
    if isinstance(value, list):
        return [shorten(one) for one in value[:1000]]
    return value
