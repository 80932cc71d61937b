"""What a node must not lose, and how it is kept."""

from pathlib import Path

import apsw

from greenroom.link.reports import WordsReport
from greenroom.node.outbox import NodeOutbox

_NORMAL = 1


def test_an_item_waits_for_no_disk_and_nothing_is_left_of_it_when_the_hub_has_it(tmp_path: Path) -> None:
    outbox = NodeOutbox(tmp_path)
    assert outbox.pragmas() == {"journal_mode": "wal", "synchronous": _NORMAL, "secure_delete": 1}
    outbox.add("run_1", 1, WordsReport("a word that is a secret"))
    outbox.take_ack(1)
    outbox.close()
    with apsw.Connection(str(tmp_path / "outbox.db")) as kept:
        assert kept.execute("SELECT count(*) FROM items").get == 0
    assert not [path for path in tmp_path.iterdir() if b"a secret" in path.read_bytes()]
