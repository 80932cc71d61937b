"""Who is online: an agent is while it waits, and for a while after its last call. In memory only."""

import time

import msgspec

from greenroom.clock import Clock
from greenroom.log.signals import Signals

_REMEMBERED = 10_000


class LastActivity(msgspec.Struct, frozen=True):
    at: int
    activity: str
    steady_s: float
    """When that was by a clock that nobody sets."""


class Presence:
    """Knows when each agent last called, and sends arrivals and departures as signals."""

    def __init__(self, clock: Clock, signals: Signals, online_s: int) -> None:
        self._clock = clock
        self._signals = signals
        self._online_s = online_s
        self._heard: dict[str, LastActivity] = {}
        self._waiting: dict[str, int] = {}
        self._online: set[str] = set()

    def note_activity(self, agent_id: str, activity: str) -> None:
        """The agent has made a call."""
        self._heard[agent_id] = LastActivity(self._clock.now(), activity, time.monotonic())
        if agent_id not in self._online:
            self._online.add(agent_id)
            self._signals.emit("agent.online", {"agent_id": agent_id})

    def start_waiting(self, agent_id: str) -> None:
        self._waiting[agent_id] = self._waiting.get(agent_id, 0) + 1
        self.note_activity(agent_id, "msg_wait")

    def stop_waiting(self, agent_id: str) -> None:
        left = self._waiting.get(agent_id, 0) - 1
        if left > 0:
            self._waiting[agent_id] = left
        else:
            self._waiting.pop(agent_id, None)
        self.note_activity(agent_id, "msg_wait")

    def leave(self, agent_id: str) -> None:
        """The agent said that it goes."""
        self._heard.pop(agent_id, None)
        if agent_id in self._online:
            self._online.discard(agent_id)
            self._signals.emit("agent.offline", {"agent_id": agent_id})

    def find_online(self) -> list[str]:
        """Who is online."""
        return [agent_id for agent_id in self._online if self.is_online(agent_id)]

    def is_online(self, agent_id: str) -> bool:
        if agent_id in self._waiting:
            return True
        heard = self._heard.get(agent_id)
        return heard is not None and time.monotonic() - heard.steady_s < self._online_s

    def is_waiting(self, agent_id: str) -> bool:
        return agent_id in self._waiting

    def get_last_activity(self, agent_id: str) -> LastActivity | None:
        return self._heard.get(agent_id)

    def sweep(self) -> None:
        """Announce agents that have gone silent, and forget them when there are too many; called every few seconds."""
        for agent_id in [a for a in self._online if not self.is_online(a)]:
            self._online.discard(agent_id)
            self._signals.emit("agent.offline", {"agent_id": agent_id})
        if len(self._heard) > _REMEMBERED:
            self._heard = {agent_id: heard for agent_id, heard in self._heard.items() if agent_id in self._online}
