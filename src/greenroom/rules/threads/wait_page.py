"""The result of a wait: which messages the waiting agent gets, and how far its cursor moves."""

from collections.abc import Callable
from typing import NamedTuple

from greenroom.log.model import Rows
from greenroom.rules.access.model import Principal
from greenroom.rules.agents.model import Agent
from greenroom.rules.threads.model import THREADS, Message
from greenroom.rules.threads.queries import find_messages, is_for_people, may_have_more


class WaitPage(NamedTuple):
    """Messages to hand over, and the seq up to which nothing that is wanted has been left out."""

    messages: list[Message]
    upto: int


def read_page(rows: Rows, thread_id: str, after_seq: int, limit: int, wanted: Callable[[Message], bool]) -> WaitPage:
    """What is there now. The thread is read before its messages, so every message that it counts is among them."""
    thread = rows.get(THREADS, thread_id)
    upto = thread.current_seq if thread else 0
    while True:
        found = find_messages(rows, thread_id, after_seq=after_seq, limit=limit)
        messages = [message for message in found if wanted(message)]
        if not may_have_more(found, limit):
            return WaitPage(messages, max(upto, found[-1].seq) if found else upto)
        if messages:
            return WaitPage(messages, found[-1].seq)
        after_seq = found[-1].seq


def build_message_filter(
    by: Principal, agent: Agent | None, for_agent: str | None, own: bool
) -> Callable[[Message], bool]:
    """Which messages an agent gets: not those that are for people only."""
    to_people = agent is None and not by.is_program

    def is_wanted(message: Message) -> bool:
        if not to_people and is_for_people(message):
            return False
        if agent is not None and message.author_id == agent.id and not own:
            return False
        return for_agent is None or message.handoff_target == for_agent

    return is_wanted
