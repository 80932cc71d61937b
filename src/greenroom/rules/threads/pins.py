"""Pinned threads: they stay at the top of every list, above newer ones."""

import msgspec

from greenroom.log.model import Command, Context, Decide, Event, Project, Recorded, Rows, Tx
from greenroom.log.pages import put_on_top
from greenroom.rules.access.decide import need_principal
from greenroom.rules.access.queries import need_right
from greenroom.rules.threads.decide import need_admin
from greenroom.rules.threads.model import THREADS, Thread
from greenroom.rules.threads.queries import need_thread


class PinThread(Command, frozen=True, kw_only=True):
    """Keep a thread at the top of the lists."""

    thread_id: str


class UnpinThread(Command, frozen=True, kw_only=True):
    """Return a thread to its previous place in the lists."""

    thread_id: str


class ThreadPinned(Event, frozen=True, kw_only=True):
    """A thread was pinned."""

    thread_id: str


class ThreadUnpinned(Event, frozen=True, kw_only=True):
    """A thread was unpinned."""

    thread_id: str


def pin_thread(rows: Rows, command: PinThread, context: Context) -> list[Event]:
    thread = _need_own_thread(rows, command)
    return [] if thread.pinned else [ThreadPinned(thread_id=thread.id)]


def unpin_thread(rows: Rows, command: UnpinThread, context: Context) -> list[Event]:
    thread = _need_own_thread(rows, command)
    return [ThreadUnpinned(thread_id=thread.id)] if thread.pinned else []


def _need_own_thread(rows: Rows, command: PinThread | UnpinThread) -> Thread:
    by = need_principal(command)
    need_right(by, "chat")
    thread = need_thread(rows, by, command.thread_id)
    need_admin(by, thread)
    return thread


def move_thread(tx: Tx, event: ThreadPinned | ThreadUnpinned, record: Recorded) -> None:
    thread = tx.get(THREADS, event.thread_id)
    if thread is not None:
        is_pinned = isinstance(event, ThreadPinned)
        tx.put(THREADS, msgspec.structs.replace(put_on_top(thread, is_pinned), pinned=is_pinned))


DECIDE: dict[type[Command], Decide] = {PinThread: pin_thread, UnpinThread: unpin_thread}
PROJECT: dict[type[Event], Project] = {ThreadPinned: move_thread, ThreadUnpinned: move_thread}
