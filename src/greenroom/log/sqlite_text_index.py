"""The full-text index of rows in SQLite, updated for many rows at a time.

An index that is written with every commit costs more than the row it is about. So the newest rows wait until there are
enough of them; a search finds these by an index of its own, made while it looks.
"""

import itertools
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import apsw

from greenroom.log.model import Table

WAITING = 256
"""So many rows wait at most, beside those of one transaction."""
_PIECE = 100
"""Rows that are read into memory at once on their way into the index."""
_CJK = re.compile(r"([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff])")
INDEXED_CHARS = 32_768
_MOST_TOKENS = 50
_TOKEN = re.compile(r"[^\W_]+")
"""About what an index takes for a word. It is only counted."""
_WORDS = "tokenize='unicode61 remove_diacritics 2', detail=full"


def normalize_text(text: str) -> str:
    """Text as the index takes it: a character of Chinese, Japanese or Korean is a word of its own."""
    head = text[:INDEXED_CHARS]
    return head if head.isascii() else _CJK.sub(r" \1 ", head)


def split_phrases(words: str) -> list[str]:
    """The different words that somebody searches for, each as a phrase: as many as an index can look for quickly.

    What it costs to rank a text grows with the square of the phrases that occur in it.
    """
    found: dict[str, str] = {}
    left = _MOST_TOKENS
    for word in words.split():
        phrase = normalize_text(word).strip()
        tokens = list(itertools.islice(_TOKEN.finditer(phrase), left))
        if len(tokens) == left:
            phrase = phrase[: tokens[-1].end()] if tokens else ""
        if tokens and phrase.casefold() not in found:
            found[phrase.casefold()] = phrase
            left -= len(tokens)
    return list(found.values())


def build_match_query(words: str) -> str:
    """A full-text query for all the words; whatever a person types is safe in it."""
    return " ".join(f'"{phrase}"' for phrase in split_phrases(words.replace('"', " ").replace("\0", " ")))


def build_index_ddl(table: Table[Any]) -> str:
    """The statement that makes a table's index."""
    return f"CREATE VIRTUAL TABLE text_{table.name} USING fts5(body, content='', contentless_delete=1, {_WORDS})"


class SearchHit(NamedTuple):
    """A row that was found, and how well it fits: less is better."""

    rank: float
    data: bytes


class SqliteTextIndex:
    """The index of one table. Rows are indexed in the order of their numbers, so the last one shows how far it is."""

    def __init__(self, connection: apsw.Connection, table: Table[Any]) -> None:
        self._connection = connection
        self.table = table
        self._rows, self._index, self._fresh = f"row_{table.name}", f"text_{table.name}", f"fresh_{table.name}"

    def read_last_number(self) -> int:
        """The number of the last row in the index; there are none in it beyond the table's own last."""
        return self._connection.execute(f"SELECT max(id) FROM {self._index}_docsize").get or 0  # noqa: S608

    def reindex_rows(self, keys: Iterable[str]) -> None:
        """These rows may have had other words, which are in the index."""
        find = f"SELECT id, data FROM {self._rows} WHERE key = ? AND id <= ?"  # noqa: S608
        last = self.read_last_number()
        found = [row for key in keys for row in self._connection.execute(find, (key, last))]
        self._put(f"INSERT OR REPLACE INTO {self._index}", found)

    def catch_up(self) -> None:
        """Index the rows that are missing."""
        while rows := self._find_unindexed(_PIECE):
            self._put(f"INSERT INTO {self._index}", rows)

    def count_waiting_bytes(self) -> int:
        """The bytes of the rows that are not in the index."""
        sql = f"SELECT sum(length(data)) FROM {self._rows} WHERE id > ?"  # noqa: S608
        return self._connection.execute(sql, (self.read_last_number(),)).get or 0

    def find_waiting(self) -> list[str]:
        """The keys of the rows that are not in the index."""
        sql = f"SELECT key FROM {self._rows} WHERE id > ?"  # noqa: S608
        return [key for (key,) in self._connection.execute(sql, (self.read_last_number(),))]

    def leave_out(self, keys: Iterable[str]) -> None:
        """Have all rows in the index but these, to compare it with one in which they wait."""
        self.catch_up()
        sql = f"DELETE FROM {self._index} WHERE rowid = (SELECT id FROM {self._rows} WHERE key = ?)"  # noqa: S608
        self._connection.executemany(sql, [(key,) for key in keys])

    def search(self, words: str, where: dict[str, Any], limit: int) -> list[bytes]:
        """Rows with all the words, best first; `where` names columns and their values."""
        query = build_match_query(words)
        if not query:
            return []
        with self._connection:  # so that a row is either in the index or waits
            hits = self._find_hits(self._index, query, where, limit)
            waiting = self._find_unindexed()
            if waiting:
                self._connection.execute(
                    f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.{self._fresh} USING fts5(body, content='', {_WORDS})"
                )
                self._put(f"INSERT INTO temp.{self._fresh}", waiting)
                hits = sorted([*hits, *self._find_hits(self._fresh, query, where, limit)])[:limit]
                self._connection.execute(f"INSERT INTO temp.{self._fresh} ({self._fresh}) VALUES ('delete-all')")  # noqa: S608
        return [hit.data for hit in hits]

    def _find_hits(self, index: str, query: str, where: dict[str, Any], limit: int) -> list[SearchHit]:
        filters = "".join(f" AND r.{column} = ?" for column in where)
        sql = (
            f"SELECT t.rank, r.data FROM {index} t JOIN {self._rows} r ON r.id = t.rowid"  # noqa: S608 names are ours
            f" WHERE {index} MATCH ?{filters} ORDER BY t.rank LIMIT ?"
        )
        return [SearchHit(*row) for row in self._connection.execute(sql, [query, *where.values(), limit])]

    def _find_unindexed(self, limit: int = -1) -> list[tuple[int, bytes]]:
        """Rows that are not in the index, in the order of their numbers; a negative limit is none."""
        sql = f"SELECT id, data FROM {self._rows} WHERE id > ? ORDER BY id LIMIT ?"  # noqa: S608
        return list(self._connection.execute(sql, (self.read_last_number(), limit)))

    def _put(self, into: str, rows: list[tuple[int, bytes]]) -> None:
        decode, text = self.table.decode, self.table.text or ""
        bodies = [(number, normalize_text(getattr(decode(data), text))) for number, data in rows]
        self._connection.executemany(f"{into} (rowid, body) VALUES (?, ?)", bodies)
