"""The coordinator: finds threads in which everybody waits, and asks the person who should continue."""

from greenroom.ids import new_id
from greenroom.log.log import Log
from greenroom.rules.access.model import HUB
from greenroom.rules.threads.commands import RaiseDecision
from greenroom.rules.threads.model import OPEN_STATES, THREADS, Thread
from greenroom.rules.threads.queries import find_members
from greenroom.services.presence import Presence
from greenroom.services.waiters import Waiters


class Coordinator:
    """Raises a decision for a silent thread. What it raised is in the log, so a restart raises nothing twice."""

    def __init__(self, log: Log, presence: Presence, waiters: Waiters) -> None:
        self._log = log
        self._presence = presence
        self._waiters = waiters

    async def check_threads(self) -> None:
        """Look at every thread in which somebody waits; to be done every few seconds."""
        for thread_id in self._waiters.find_thread_ids():
            thread = self._log.rows.get(THREADS, thread_id)
            if thread is not None and thread.status in OPEN_STATES and thread.settings.auto_administrator_enabled:
                await self._check_thread(thread)

    async def _check_thread(self, thread: Thread) -> None:
        since = {w.agent_id: w.since for w in self._waiters.find_waiters(thread.id) if w.agent_id is not None}
        members = [m.member_id for m in find_members(self._log.rows, thread.id)]
        online = [m for m in members if self._presence.is_online(m)]
        if not online or thread.mailbox_of is not None or any(agent not in since for agent in online):
            return
        several = len(online) > 1
        patience = thread.settings.switch_timeout_seconds if several else thread.settings.timeout_seconds
        silent_since = max(*(since[agent] for agent in online), thread.last_at)
        if self._log.clock.now() - silent_since < patience * 1000:
            return
        others = [agent for agent in online if agent != thread.admin_id] or online
        await self._log.do(
            RaiseDecision(
                by=HUB,
                thread_id=thread.id,
                message_id=new_id("msg"),
                instruction_id=new_id("msg"),
                kind="switch" if several else "takeover",
                candidate_id=min(others, key=lambda agent: since[agent]),
                about_seq=thread.current_seq,
            )
        )
