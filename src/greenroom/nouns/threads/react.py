"""What follows from what happens to threads: files go with the messages that named them."""

from greenroom.log.blobs import Blobs
from greenroom.log.model import Recorded, Rows
from greenroom.log.reactors import Reactor
from greenroom.nouns.threads.events import ThreadDeleted
from greenroom.nouns.threads.model import PAYLOADS, UPLOADS


def drop_files(rows: Rows, blobs: Blobs) -> Reactor:
    """Remove the files of deleted threads, except those that are named elsewhere."""

    async def react(record: Recorded) -> None:
        deleted: ThreadDeleted = record.event
        for name in deleted.files:
            if not rows.find(PAYLOADS, {"blob": name}, limit=1) and not rows.find(UPLOADS, {"blob": name}, limit=1):
                blobs.drop(name)

    return Reactor("drop_files", (ThreadDeleted,), react)
