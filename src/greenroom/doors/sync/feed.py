"""Subscriptions to views, and how a commit reaches them: each row is encoded once, each frame is built once."""

from typing import Any

from greenroom.doors.http.websocket_sender import WebSocketSender
from greenroom.doors.sync import frames
from greenroom.doors.sync.frames import Subscribe, SyncFrame, encode_frame_row
from greenroom.doors.sync.view_reader import EncodedRows, ReadCache, build_cache_key, read_all, read_since
from greenroom.doors.sync.views import ALL, VIEWS, View, encode_change
from greenroom.errors import Refused
from greenroom.log.model import Change, Commit, Row, Rows
from greenroom.log.signals import SignalKind
from greenroom.log.store import Snapshot
from greenroom.rules.access.model import Principal
from greenroom.rules.access.queries import need_right
from greenroom.rules.agents.queries import get_agent
from greenroom.rules.threads.visible_agents import may_see_agent
from greenroom.services.hub import Hub

OUTBOX_BYTES = 4 << 20
FRAME_BYTES = 1 << 18
"""A larger commit becomes several frames: each socket has a frame in transit, and queued frames are shared."""
MOST_SUBSCRIPTIONS = 256
_TRIES = 5


class SyncClient:
    """One socket: its principal, its queue, and its subscriptions by its own numbers."""

    __slots__ = ("by", "outbox", "subscriptions")

    def __init__(self, by: Principal) -> None:
        self.by = by
        self.outbox: WebSocketSender[str] = WebSocketSender(OUTBOX_BYTES, "too slow: subscribe again with after")
        self.subscriptions: dict[int, ViewSubscription] = {}


class ViewSubscription:
    """One view, under one key, for one client; `seq` is what the client was given when it subscribed."""

    __slots__ = ("client", "key", "number", "seq", "view")

    def __init__(self, client: SyncClient, number: int, view: View, key: str, seq: int) -> None:
        self.client = client
        self.number = number
        self.view = view
        self.key = key
        self.seq = seq


class Feed:
    """All subscriptions of the hub."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._by_view: dict[str, dict[str, dict[ViewSubscription, None]]] = {name: {} for name in VIEWS}
        self._reads = ReadCache()
        hub.log.subscribe(self._on_commit)
        hub.signals.listen(self._on_signal)

    async def subscribe(self, client: SyncClient, wish: Subscribe) -> None:
        """Answer with rows, and send what changes from then on, nothing lost or doubled in between; raises Refused."""
        view = VIEWS.get(wish.view)
        if view is None:
            raise Refused("unknown_view", view=wish.view, views=VIEWS)
        need_right(client.by, view.needs)
        if view.keyed != (wish.key is not None):
            raise Refused("bad_key.missing" if view.keyed else "bad_key.unwanted", view=view.name)
        key = wish.key or ALL
        _need_free_number(client, wish.id, view, key)
        seq = await self._answer(client, wish, view, key)
        if seq is None or client.outbox.ended:
            return
        if view.online:
            client.outbox.put(self._build_online_frame(client.by))
        subscription = ViewSubscription(client, wish.id, view, key, seq)
        client.subscriptions[wish.id] = subscription
        self._by_view[view.name].setdefault(key, {})[subscription] = None

    async def _answer(self, client: SyncClient, wish: Subscribe, view: View, key: str) -> int | None:
        """Queue what the client lacks; returns the seq that it then has, or None when it must start over.

        It is read in a thread, because it may be much. What is committed meanwhile is read here, and nothing is
        awaited after that.
        """
        if wish.after is not None and wish.after > self._hub.store.head():
            client.outbox.put(frames.build_resync(wish.id))
            return None
        limit = wish.limit or view.limit
        for _ in range(_TRIES):
            seq, frame = await self._read_answer(client, wish, view, key)
            with self._hub.store.snapshot() as now:
                if view.keyed:
                    _need_head(now, client.by, view, key)
                rows = read_since(view, key, client.by, limit, seq, now) if now.seq > seq else []
            if rows is not None:
                client.outbox.put(frame)
                if rows:
                    client.outbox.put(frames.build_changes(view.name, key, now.seq, rows))
                return now.seq
        with self._hub.store.snapshot() as now:  # it changes too fast to be read elsewhere
            _, read, seq = _read_rows(view, key, client.by, limit, None, now)
        client.outbox.put(frames.build_snapshot(wish.id, seq, read.rows, read.more))
        return seq

    async def _read_answer(self, client: SyncClient, wish: Subscribe, view: View, key: str) -> tuple[int, SyncFrame]:
        """The frame that answers a request, and its seq."""
        by, limit = client.by, wish.limit or view.limit
        wanted, seq = build_cache_key(view, key, by, limit), self._hub.store.head()
        shared = self._reads.get(wanted, seq) if wish.after is None else None
        if shared is None:
            rows, read, seq = await self._hub.store.read(lambda now: _read_rows(view, key, by, limit, wish.after, now))
            if rows is not None:
                return seq, frames.build_changes(view.name, key, seq, rows, wish.id)
            self._reads.put(wanted, seq, read)
            shared = read
        return seq, frames.build_snapshot(wish.id, seq, shared.rows, shared.more)

    def _build_online_frame(self, by: Principal) -> SyncFrame:
        rows = self._hub.rows
        there = [agent for one in self._hub.presence.find_online() if (agent := get_agent(rows, one)) is not None]
        seen = sorted(agent.id for agent in there if agent.state == "registered" and may_see_agent(rows, by, agent))
        return frames.build_signal("agents.online", {"agent_ids": seen})

    def unsubscribe(self, client: SyncClient, number: int) -> None:
        """Send a client no more of a view; raises Refused."""
        subscription = client.subscriptions.get(number)
        if subscription is None:
            raise Refused("not_subscribed", number=number)
        self._end(subscription)

    def leave(self, client: SyncClient) -> None:
        """The client has gone."""
        for subscription in tuple(client.subscriptions.values()):
            self._end(subscription)

    def _end(self, subscription: ViewSubscription) -> None:
        by_key = self._by_view[subscription.view.name]
        others = by_key[subscription.key]
        del others[subscription]
        if not others:
            del by_key[subscription.key]
        del subscription.client.subscriptions[subscription.number]

    def _on_commit(self, commit: Commit) -> None:
        for name, by_key in self._by_view.items():
            if by_key:
                self._announce(VIEWS[name], by_key, commit)

    def _announce(self, view: View, by_key: dict[str, dict[ViewSubscription, None]], commit: Commit) -> None:
        removed: dict[str, Row] = {}
        for record in commit.records:
            row_of_event = view.removed_by.get(type(record.event))
            if row_of_event is not None:
                row = row_of_event(record.event)
                removed[view.head.key_of(row)] = row
        touched: dict[str, list[Change]] = {}
        for change in commit.changes:
            part = view.part_of.get(change.table.name)
            key = None if part is None else part.place(change)
            if key is not None and key in by_key:
                touched.setdefault(key, []).append(change)
        for key, changes in touched.items():
            subscriptions = [s for s in by_key[key] if s.seq < commit.seq]
            if view.keyed and key in removed:
                self._announce_end(view, key, commit.seq, subscriptions)
            else:
                self._announce_changes(view, key, commit.seq, changes, removed, subscriptions)

    def _announce_changes(
        self,
        view: View,
        key: str,
        seq: int,
        changes: list[Change],
        removed: dict[str, Row],
        subscriptions: list[ViewSubscription],
    ) -> None:
        made: dict[tuple[tuple[int, ...], Principal | None], list[SyncFrame]] = {}
        every = tuple(range(len(changes)))
        for subscription in subscriptions:
            by = subscription.client.by
            sees_all = by.may_operate or (view.sees is None and not by.is_confined)
            told = every if sees_all else self._find_visible_changes(view, by, changes, removed)
            if told is None:
                self._announce_end(view, key, seq, [subscription])
            elif told:
                alike = (told, by if by.is_confined else None)
                ready = made.get(alike)
                if ready is None:
                    chosen = [changes[place] for place in told]
                    ready = made[alike] = _build_frames(view, key, seq, chosen, self._hub.rows, by)
                subscription.client.outbox.put(*ready)

    def _find_visible_changes(
        self, view: View, by: Principal, changes: list[Change], removed: dict[str, Row]
    ) -> tuple[int, ...] | None:
        """The indexes of the changes that a viewer with limited rights gets.

        None when the head of the key, and so everything under it, has become hidden.
        """
        told = []
        for place, change in enumerate(changes):
            if change.table is view.head and view.sees is not None:
                row = removed.get(change.key) if change.row is None else change.row
                if row is None or not view.sees(self._hub.rows, by, row):
                    if view.keyed:
                        return None
                    continue
            part = view.part_of[change.table.name]
            if change.row is None and part.in_thread is not None and by.is_confined:
                continue
            if change.row is not None and part.hides(self._hub.rows, by, change.row):
                continue
            told.append(place)
        return tuple(told)

    def _announce_end(self, view: View, key: str, seq: int, subscriptions: list[ViewSubscription]) -> None:
        """The head is gone, and with it everything under the key: clients get nothing more about it."""
        frame = frames.build_changes(view.name, key, seq, [encode_frame_row(view.head.name, key, b"null", seq)])
        for subscription in subscriptions:
            subscription.client.outbox.put(frame)
            self._end(subscription)

    def _on_signal(self, kind: SignalKind, payload: Any) -> None:
        frame: SyncFrame | None = None
        for name, by_key in self._by_view.items():
            place = VIEWS[name].signals.get(kind)
            if by_key and place is not None:
                for subscription in by_key.get(place(payload) or ALL, ()):
                    if self._may_hear_signal(subscription, payload):
                        frame = frame or frames.build_signal(kind, payload)
                        subscription.client.outbox.put_droppable(frame)

    def _may_hear_signal(self, subscription: ViewSubscription, payload: Any) -> bool:
        """Whether a signal is about a row that this client sees; a client that may see a key gets all its signals."""
        view, by = subscription.view, subscription.client.by
        if view.keyed or view.sees is None or by.may_operate:
            return True
        row = self._hub.rows.get(view.head, payload["agent_id"])
        return row is not None and view.sees(self._hub.rows, by, row)


def _read_rows(
    view: View, key: str, by: Principal, limit: int, after: int | None, now: Snapshot
) -> tuple[list[bytes] | None, EncodedRows, int]:
    """What has changed since a seq, if that is known; else all rows. And the seq at which it was read."""
    if view.keyed:
        _need_head(now, by, view, key)
    rows = None if after is None else read_since(view, key, by, limit, after, now)
    return rows, read_all(view, key, by, limit, now) if rows is None else EncodedRows([], False), now.seq


def _need_head(now: Rows, by: Principal, view: View, key: str) -> None:
    row = now.get(view.head, key)
    if row is None or (view.sees is not None and not view.sees(now, by, row)):
        raise Refused(view.missing, "not_found", key=key[:80])


def _need_free_number(client: SyncClient, number: int, view: View, key: str) -> None:
    if number in client.subscriptions:
        raise Refused("id_in_use", number=number)
    if any(held.view is view and held.key == key for held in client.subscriptions.values()):
        raise Refused("already_subscribed")
    if len(client.subscriptions) >= MOST_SUBSCRIPTIONS:
        raise Refused("too_many_subscriptions", "limited", limit=MOST_SUBSCRIPTIONS)


def _build_frames(view: View, key: str, seq: int, changes: list[Change], now: Rows, by: Principal) -> list[SyncFrame]:
    """The changes of a commit, the oldest first. A client may be cut off after any frame and continue from its seq."""
    made: list[SyncFrame] = []
    rows: list[bytes] = []
    size = 0
    for place, change in enumerate(changes, 1):
        rows.append(_encode_changed_row(view, change, now, by))
        size += len(rows[-1])
        if place == len(changes):
            made.append(frames.build_changes(view.name, key, seq, rows))
        elif size > FRAME_BYTES and changes[place].seq > change.seq:
            made.append(frames.build_changes(view.name, key, change.seq, rows))
            rows, size = [], 0
    return made


def _encode_changed_row(view: View, change: Change, now: Rows, by: Principal) -> bytes:
    holds = view.part_of[change.table.name].holds
    here = change.row is not None and (holds is None or holds(change.row))
    return encode_frame_row(
        change.table.name, change.key, encode_change(change, now, by) if here else b"null", change.seq
    )
