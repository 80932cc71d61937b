"""People at agents' terminals: many can watch, one types, and a slow viewer gets fewer, complete updates.

The hub keeps the screen of each agent that somebody looks at. A viewer has at most one screen waiting for it, into
which every change is merged; so a viewer costs the same however slow it is, and the next frame it takes is the newest.
"""

import asyncio
from typing import Any

import msgspec

from greenroom.clock import steady_ms
from greenroom.ids import new_id
from greenroom.link import frames
from greenroom.link.frames import LiveKind
from greenroom.rules.access.model import Principal
from greenroom.services.node_links import NodeLinks

MOST_VIEWERS = 100
MOST_KEYS = 65_536
_NOTES = 64
_ENCODE = msgspec.json.Encoder().encode
Frame = dict[str, Any]


def merge_screens(into: Frame | None, new: Frame) -> Frame | None:
    """A screen with a change applied; None while the whole of it is not known."""
    if new.get("whole"):
        return {**new, "lines": dict(new["lines"])}
    if into is None:
        return None
    kept = {"whole": into["whole"], "above": into.get("above", [])}
    return {**new, **kept, "lines": {**into["lines"], **new["lines"]}}


class Viewer:
    """A viewer of an agent's terminal."""

    def __init__(self, by: Principal, name: str, may_type: bool) -> None:
        self.id = new_id("view")
        self.by = by
        self.name = name
        self.may_type = may_type
        self._opened_ms = steady_ms()
        self._notes: list[Frame] = []
        self._screen: Frame | None = None
        self._something = asyncio.Event()

    def note(self, frame: Frame) -> None:
        """Send it something beside the screen; only the newest are kept."""
        self._notes = [*self._notes[-_NOTES + 1 :], frame]
        self._something.set()

    def note_state(self, frame: Frame) -> None:
        """Send it the new state. A waiting screen is sent first: after the state it would say that all is well."""
        if self._screen is not None:
            self.note({"op": "screen", **self._screen})
            self._screen = None
        self.note(frame)

    @property
    def age_ms(self) -> int:
        """How long it has been here. It sends this back with its keys, which shows how old they are at most."""
        return steady_ms() - self._opened_ms

    def is_late(self, age_ms: int | None) -> bool:
        """Whether keys with this age were in transit for too long; None from a viewer that does not report it."""
        return age_ms is not None and self.age_ms - age_ms > frames.KEYS_S * 1000

    def show(self, frame: Frame) -> None:
        """Show it a change, or the whole screen."""
        if self._screen is None:
            self._screen = frame
        else:
            self._screen = merge_screens(self._screen, frame)
        self._something.set()

    async def take(self) -> str:
        """What it is to be sent next."""
        while not self._notes and self._screen is None:
            self._something.clear()
            await self._something.wait()
        if self._notes:
            return _ENCODE(self._notes.pop(0)).decode()
        screen, self._screen = self._screen, None
        return _ENCODE({"op": "screen", **(screen or {})}).decode()


class WatchedTerminal:
    """One agent that somebody watches: its screen as far as it is known, its viewers, and who types."""

    def __init__(self, links: NodeLinks, agent_id: str) -> None:
        self._links = links
        self._agent_id = agent_id
        self._screen: Frame | None = None
        self._state: Frame | None = None
        self.viewers: list[Viewer] = []
        self.writer: Viewer | None = None
        self._end_listening = links.listen(agent_id, self._on_live)

    def join(self, viewer: Viewer, earlier_id: str) -> None:
        """Let somebody look. `earlier_id` names their earlier connection, which may be cut without the hub knowing."""
        known = [one for one in self.viewers if one.id == earlier_id and one.by.credential == viewer.by.credential]
        earlier = known[0] if known else None
        self.viewers.append(viewer)
        if earlier is not None:
            self.viewers.remove(earlier)
        if viewer.may_type and self.writer in (None, earlier):
            self.writer = viewer
        self._tell_writer()
        if self._screen is not None:
            viewer.show(self._screen)
        if self._state is not None:
            viewer.note_state(self._state)
        if not self._links.is_reachable(self._agent_id):
            viewer.note_state({"op": "away"})

    def leave(self, viewer: Viewer) -> bool:
        """Returns whether anybody is left."""
        if viewer in self.viewers:
            self.viewers.remove(viewer)
        if self.writer is viewer:
            self.writer = None
            self._tell_writer()
        if not self.viewers:
            self._end_listening()
        return bool(self.viewers)

    def take_over(self, viewer: Viewer) -> None:
        """The viewer writes from now on, if it may; whoever wrote only looks."""
        if viewer.may_type:
            self.writer = viewer
        self._tell_writer()

    def type(self, viewer: Viewer, data: str) -> None:
        if viewer is self.writer:
            self._send(viewer, frames.TerminalInput(agent=self._agent_id, data=data[:MOST_KEYS]))

    def resize(self, viewer: Viewer, rows: int, columns: int) -> None:
        if viewer is self.writer and rows > 0 and columns > 0:
            self._send(viewer, frames.TerminalInput(agent=self._agent_id, rows=rows, columns=columns))

    def _send(self, viewer: Viewer, frame: frames.TerminalInput) -> None:
        if not self._links.tell_agent(self._agent_id, frame):
            viewer.note_state({"op": "away"})

    def _tell_writer(self) -> None:
        name = self.writer.name if self.writer else None
        for viewer in self.viewers:
            told = {"op": "writer", "writer": name, "you": viewer is self.writer, "may_type": viewer.may_type}
            viewer.note({**told, "viewers": len(self.viewers), "viewer": viewer.id, "at": viewer.age_ms})

    def _on_live(self, agent_id: str, kind: LiveKind, data: Any) -> None:
        if kind == "screen" and isinstance(data, dict):
            self._state = None
            self._screen = merge_screens(self._screen, data)
            if self._screen is not None:
                for viewer in self.viewers:
                    viewer.show(data)
        elif kind == "absent" and self._links.is_starting(agent_id):
            return  # it comes, and is shown then
        elif kind in ("none", "absent", "ended"):
            kind = "none" if kind == "absent" else kind
            self._state = {"op": kind, **(data if isinstance(data, dict) else {})}
            for viewer in self.viewers:
                viewer.note_state(self._state)
        elif kind == "away":
            for viewer in self.viewers:
                viewer.note_state({"op": "away"})
        elif kind in ("said", "thought"):
            for viewer in self.viewers:
                viewer.note({"op": kind, "text": str(data)})


class WatchedTerminals:
    """All agents that somebody looks at."""

    def __init__(self, links: NodeLinks) -> None:
        self._links = links
        self._sights: dict[str, WatchedTerminal] = {}

    def join(self, agent_id: str, viewer: Viewer, earlier_id: str = "") -> WatchedTerminal | None:
        """Begin to look; None when too many do."""
        sight = self._sights.get(agent_id)
        if sight is None:
            sight = self._sights[agent_id] = WatchedTerminal(self._links, agent_id)
        if len(sight.viewers) >= MOST_VIEWERS:
            return None
        sight.join(viewer, earlier_id)
        return sight

    def leave(self, agent_id: str, viewer: Viewer) -> None:
        sight = self._sights.get(agent_id)
        if sight is not None and not sight.leave(viewer):
            del self._sights[agent_id]
