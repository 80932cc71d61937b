"""Refuses to create a new hub where a hub's log is missing: a disk is not mounted, or a database was lost."""

import logging
import os
from pathlib import Path

from greenroom.log.data_directory import FILES, HUB_ID, MCP_TOKEN, OPERATOR_TOKEN, StoreUnusable, write_private

logger = logging.getLogger(__name__)
_REMAINS = (OPERATOR_TOKEN, MCP_TOKEN, HUB_ID, FILES)
_MOST = 1000


class PastHubs:
    """The data directories in which this user has started hubs, one in a line. It is kept outside of all of them."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __contains__(self, data: Path) -> bool:
        return str(data.resolve()) in self._read()

    def add(self, data: Path) -> None:
        """Note that there is a hub here. Without the note a hub works as well: a failure is only logged."""
        noted = self._read()
        if data in self:
            return
        kept = [line for line in noted if Path(line).parent.is_dir()][-_MOST:]
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_private(self._path, "".join(f"{line}\n" for line in [*kept, str(data.resolve())]))
        except OSError as error:
            logger.warning(
                "this hub is not noted in %s (%s): an empty disk in its place would not be noticed", self._path, error
            )

    def _read(self) -> list[str]:
        try:
            return self._path.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
        except OSError:
            return []


def need_no_lost_hub(data: Path, past: PastHubs) -> None:
    """Refuse to begin a log where there are remains of a hub, or where there was one. Asked when the log is empty."""
    found = [name for name in _REMAINS if _holds_something(data / name)]
    if found:
        raise StoreUnusable(
            f"{data} has {' and '.join(found)} of a hub, but its log is empty: the database is lost, or another one"
            f" is meant. Restore a backup with `greenroom restore`; or, to begin a new hub here, start with --new."
        )
    if data in past:
        raise StoreUnusable(
            f"There was a hub in {data}, and now it is empty: see that its disk is mounted. If you have removed the hub"
            f" yourself, start with --new to begin a new one."
        )


def _holds_something(path: Path) -> bool:
    return any(os.scandir(path)) if path.is_dir() else path.exists()
