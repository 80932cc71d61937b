"""How the log's file is opened."""

import contextlib
from pathlib import Path

from greenroom.log.sqlite_file import connect


def test_every_setting_for_durability_and_safety_holds(tmp_path: Path) -> None:
    names = ("journal_mode", "synchronous", "journal_size_limit", "wal_autocheckpoint", "trusted_schema")
    with contextlib.closing(connect(tmp_path / "a.db", write=True)) as connection:
        assert [connection.pragma(name) for name in names] == ["wal", 2, 64 << 20, 2000, 0]
        connection.execute("CREATE TABLE t (a)")
        with contextlib.closing(connect(tmp_path / "a.db")) as reader:
            assert [reader.pragma(name) for name in ("trusted_schema", "cell_size_check")] == [0, 1]
