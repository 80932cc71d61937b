"""The audit as a file: each privileged event with its link of the hash chain, so that the file proves itself."""

import csv
from collections.abc import Iterator
from typing import Any, TextIO

import msgspec

from greenroom.clock import format_iso
from greenroom.log.chain import GENESIS, hash_link

_COLUMNS = ("seq", "at", "by", "type", "data", "hash")


class AuditFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which events; None is all."""

    after: int = 0
    kinds: list[str] | None = None
    by: str | None = None
    since: int | None = None
    until: int | None = None


class AuditLine(msgspec.Struct, frozen=True):
    """One event as it is in the file. `data` is kept byte by byte: the hash is over it."""

    seq: int
    at: int
    by: str
    type: str
    version: int
    data: msgspec.Raw
    hash: str


def read_audit(connection: Any, wanted: AuditFilter) -> Iterator[AuditLine]:
    """Privileged events from the log, oldest first."""
    where, values = ["seq > ?"], [wanted.after]
    given: list[tuple[str, Any]] = [("by = ?", wanted.by), ("at >= ?", wanted.since), ("at < ?", wanted.until)]
    for text, value in given:
        if value is not None:
            where.append(text)
            values.append(value)
    if wanted.kinds is not None:
        where.append(f"type IN ({', '.join('?' * len(wanted.kinds))})")
        values += wanted.kinds  # type: ignore[arg-type]
    query = (
        "SELECT seq, at, by, type, v, data, hash FROM chain JOIN events USING (seq)"  # noqa: S608 only marks are put in
        f" WHERE {' AND '.join(where)} ORDER BY seq"
    )
    for seq, at, by, kind, version, data, digest in connection.execute(query, tuple(values)):
        yield AuditLine(seq, at, by, kind, version, msgspec.Raw(bytes(data)), digest.hex())


def write_lines(events: Iterator[AuditLine], out: TextIO) -> int:
    """JSON Lines; how many there were."""
    count = 0
    for event in events:
        out.write(msgspec.json.encode(event).decode() + "\n")
        count += 1
    return count


def write_csv(events: Iterator[AuditLine], out: TextIO) -> int:
    """A table for people and spreadsheets; what could be taken for a formula is quoted as text."""
    writer = csv.writer(out)
    writer.writerow(_COLUMNS)
    count = 0
    for event in events:
        data = bytes(event.data).decode()
        writer.writerow(
            [event.seq, format_iso(event.at), _escape_formula(event.by), event.type, _escape_formula(data), event.hash]
        )
        count += 1
    return count


def _escape_formula(text: str) -> str:
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def verify_lines(lines: Iterator[str]) -> tuple[int, str, str | None]:
    """Follow the chain in a file of JSON Lines; the end as far as it holds, and what breaks it."""
    previous, seq = GENESIS, 0
    for number, text in enumerate(lines, 1):
        try:
            one = msgspec.json.decode(text, type=AuditLine)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            return seq, previous.hex(), f"Line {number} is no event of an audit: {error}."
        found = hash_link(previous, (one.seq, one.at, one.by, one.type, one.version, bytes(one.data)))
        if found.hex() != one.hash:
            words = f"Line {number} (event {one.seq}) was changed, or one before it is missing: the chain breaks here."
            return seq, previous.hex(), words
        previous, seq = found, one.seq
    return seq, previous.hex(), None
