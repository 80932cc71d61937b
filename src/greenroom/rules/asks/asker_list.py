"""Which agents of a thread wait for a person and for what kind of answer, for every reader of the thread.

It contains no text of an ask.
"""

import msgspec

from greenroom.link.ask_kinds import ASK_KINDS, AskKind
from greenroom.log.copied_fields import copy_fields
from greenroom.log.model import Rows
from greenroom.rules.asks.model import ASKS, Ask

_MOST = 20


class WaitingAsker(msgspec.Struct, frozen=True, kw_only=True):
    """An agent that waits for a person."""

    agent_id: str | None
    name: str
    kind: AskKind
    since: int


def build_waiting_asker(ask: Ask) -> WaitingAsker:
    return copy_fields(ask, WaitingAsker, name=ask.asker.name, since=ask.asked_at)


def find_waiting_askers(rows: Rows, thread_id: str) -> list[WaitingAsker]:
    """Who of a thread waits for a person at the moment, longest first."""
    return [
        build_waiting_asker(ask)
        for ask in rows.find(ASKS, {"thread_id": thread_id, "state": "open"}, order="_key", limit=_MOST)
        if ASK_KINDS[ask.kind].is_awaited  # an agent that sent a report may have continued
    ]
