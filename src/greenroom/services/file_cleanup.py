"""Deletes files together with the messages that named them."""

import asyncio

from greenroom.log.blobs import Blobs
from greenroom.log.model import Recorded, Rows
from greenroom.log.reactors import EventReactor
from greenroom.rules.threads.events import ThreadDeleted
from greenroom.rules.threads.queries import is_file_in_use


def build_file_cleanup(rows: Rows, blobs: Blobs) -> EventReactor:
    """Remove the files of deleted threads, except those that are named elsewhere."""

    async def react(record: Recorded) -> None:
        deleted: ThreadDeleted = record.event
        for name in deleted.files:
            if not is_file_in_use(rows, name):
                blobs.drop(name)
            await asyncio.sleep(0)  # there may be thousands, and others are answered meanwhile

    return EventReactor("drop_files", (ThreadDeleted,), react)
