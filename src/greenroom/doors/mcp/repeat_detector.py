"""Detects agents that repeat a call to the hub and get the same answer: their run is paused like any other loop.

Only the hub knows what it answered: not every runtime reports it, and the times and tokens in an answer always
differ. The counts are in memory, because they are about the last minutes.
"""

import hashlib
import time
from collections import OrderedDict, deque
from typing import TYPE_CHECKING, Any

import msgspec

from greenroom.ids import new_id
from greenroom.rules.access.model import HUB
from greenroom.rules.agents.model import AGENTS
from greenroom.rules.policy.rule_set import get_state
from greenroom.rules.runs.commands import PauseLoop

if TYPE_CHECKING:
    from greenroom.rules.access.model import Principal
    from greenroom.services.hub import Hub

_AGENTS = 10_000
_CALLS = 1_000
_REAL_WAIT_S = 5.0
"""A wait that lasts at least so long is none of a loop."""
_ALWAYS_NEW = ("token", "time", "heartbeat", "activity", "last_seen")
"""Parts of names of fields that differ in every answer, beside those that end in `_at`."""
Asked = tuple[str, str]
"""Digests of a call and of its answer."""


class RepeatDetector:
    """The recent calls of each active agent."""

    def __init__(self, hub: "Hub") -> None:
        self._hub = hub
        self._asked: OrderedDict[str, deque[tuple[float, Asked]]] = OrderedDict()
        """By run, oldest first."""

    async def record_call(
        self, by: "Principal", tool: str, arguments: bytes, answer: list[Any], waited_s: float
    ) -> None:
        """A call was answered. A run that has made it too often is paused."""
        agent = self._hub.rows.get(AGENTS, by.agent_id) if by.agent_id else None
        if agent is None or agent.run_id is None or waited_s >= _REAL_WAIT_S:
            return
        options = get_state(self._hub.rows).options
        if options.loop_times <= 0:
            return
        now = time.monotonic()
        asked = self._asked.setdefault(agent.run_id, deque(maxlen=_CALLS))
        self._asked.move_to_end(agent.run_id)
        while len(self._asked) > _AGENTS:
            self._asked.popitem(last=False)
        given = _parse_json_or_text(arguments)
        this = _digest([tool, given]), _digest([_strip_volatile_fields(_decode_block(block)) for block in answer])
        asked.append((now, this))
        times = sum(1 for at, one in asked if one == this and at > now - options.loop_window_s)
        if times >= options.loop_times:
            del self._asked[agent.run_id]
            pause = PauseLoop(
                by=HUB, run_id=agent.run_id, order_id=new_id("ord"), tool=tool, arguments=given, times=times
            )
            await self._hub.log.do(pause)


def _parse_json_or_text(text: str | bytes) -> Any:
    """A text as the JSON that it is, else as it is."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text


def _decode_block(block: Any) -> Any:
    """A block of an answer as values."""
    found = msgspec.to_builtins(block)
    text = found.get("text") if isinstance(found, dict) else None
    return _parse_json_or_text(text) if isinstance(text, str) else found


def _strip_volatile_fields(answer: Any) -> Any:
    """An answer without what differs each time even if nothing has happened."""
    match answer:
        case dict():
            return {key: _strip_volatile_fields(value) for key, value in answer.items() if not _is_volatile(str(key))}
        case list():
            return [_strip_volatile_fields(one) for one in answer]
        case _:
            return answer


def _is_volatile(name: str) -> bool:
    return name.endswith("_at") or any(word in name for word in _ALWAYS_NEW)


def _digest(value: Any) -> str:
    return hashlib.sha256(msgspec.json.encode(value, order="sorted")).hexdigest()
