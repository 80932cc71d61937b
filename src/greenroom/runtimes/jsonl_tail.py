"""Reads each JSON line that a runtime appends to its files while it works, once."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from greenroom.json_types import JsonObject
from greenroom.runtimes.programs import read_regular

_PIECE = 4 << 20
_PIECES = 16


class JsonlTail:
    """Remembers how far each file was read."""

    def __init__(self) -> None:
        self._read: dict[Path, int] = {}

    def skip(self, path: Path) -> None:
        """Pass over what is in a file now."""
        self._read[path] = path.stat().st_size

    def read(self, path: Path, having: bytes) -> Iterator[JsonObject]:
        """The objects that were added since, of those lines that have this text in them."""
        for _ in range(_PIECES):
            begin = self._read.get(path, 0)
            piece = read_regular(path, begin, _PIECE)
            whole = piece.rfind(b"\n") + 1
            if not whole and len(piece) < _PIECE:
                return
            self._read[path] = begin + (whole or len(piece))  # a line that is longer than any of ours is left out
            for line in piece[:whole].splitlines():
                if having in line and isinstance(found := _parse(line), dict):
                    yield found


def _parse(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
