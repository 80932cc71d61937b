"""Sends notifications to channels. Each channel has its own reactor, so that a broken one delays no other."""

import asyncio
import hashlib
import hmac
import json
import logging
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from greenroom.errors import Refused, Unavailable
from greenroom.log.model import Commit, Recorded
from greenroom.log.reactors import EventReactor, run_reactor
from greenroom.rules.access.model import CREDENTIALS, HUB
from greenroom.rules.access.queries import is_live
from greenroom.rules.asks.events import AskDelegated, AskRaised, AskSnoozed, AskWarned
from greenroom.rules.asks.model import ASKS, Ask
from greenroom.rules.channels.model import CHANNELS, Channel, NoteDelivery, RemoveChannel
from greenroom.rules.workflows.triggers import webhook_signature
from greenroom.sentences import Sentence, Words, build_sentence
from greenroom.services.hub import Hub
from greenroom.services.notify.keys import NotifyKeys, Ticket
from greenroom.services.notify.notification import (
    build_chat_message,
    build_ntfy_message,
    build_payload,
    has_actions,
    is_wanted,
)
from greenroom.services.notify.outbound import NotSent, post

logger = logging.getLogger(__name__)
_TRIES_S = (0.0, 2.0, 8.0)
_GONE = (404, 410)
_AT_ONCE = 20
_PER_MS = 3_000
_EVENTS = (AskRaised, AskWarned, AskSnoozed, AskDelegated)


class Notifier:
    """Sends notifications for as long as the hub has doors."""

    def __init__(self, hub: Hub, url: str) -> None:
        self._hub = hub
        self.url = url
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._paid: dict[str, int] = {}

    @cached_property
    def keys(self) -> NotifyKeys:
        """The hub's keys; a hub without channels needs none."""
        return NotifyKeys(self._hub.data)

    async def run(self) -> None:
        """Follow every channel until cancelled."""
        for channel in self._hub.rows.find(CHANNELS):
            if channel.id not in self._tasks:
                self._begin(channel)
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            for task in self._tasks.values():
                task.cancel()
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)
            self._tasks.clear()

    def on_commit(self, commit: Commit) -> None:
        """Follow new channels, and let go of those that are removed."""
        for change in commit.changes:
            if change.row is not None and change.key not in self._tasks:
                self._begin(change.row)
            elif change.row is None and (task := self._tasks.pop(change.key, None)) is not None:
                task.cancel()
                self.keys.forget(change.key)

    def _begin(self, channel: Channel) -> None:
        if self._hub.store.is_shared and self.keys.get_secret(channel.id) is None:
            return  # it was added at another hub, which knows where it leads

        async def react(record: Recorded) -> None:
            await self._react(channel.id, record)

        reactor = EventReactor(f"notify {channel.id}", _EVENTS, react)
        work = self._follow(channel, reactor)
        self._tasks[channel.id] = asyncio.create_task(work, name=reactor.name)

    async def _follow(self, channel: Channel, reactor: EventReactor) -> None:
        if self._hub.store.cursor(reactor.name) < channel.since:
            await self._hub.store.move_cursor(reactor.name, channel.since)
        await run_reactor(self._hub.log, reactor, self._hub.reactor_errors)

    async def _react(self, channel_id: str, record: Recorded) -> None:
        channel, ask = self._hub.rows.get(CHANNELS, channel_id), self._hub.rows.get(ASKS, record.event.ask_id)
        if channel is None or ask is None or ask.state != "open" or ask.snoozed_until:
            return
        now = self._hub.log.clock.now()
        owner = self._hub.rows.get(CREDENTIALS, channel.owner)
        if owner is not None and not is_live(owner, now):
            await self._remove(channel, build_sentence("channel_error.credential_ended"))
        elif is_wanted(channel, owner.name if owner else "", ask, now) and self._may_tell(channel.id, now):
            told = self.build_notification(channel, ask, isinstance(record.event, AskWarned))
            await self._tell(channel, told, f"msg_{channel.id}_{record.seq}")

    def _may_tell(self, channel_id: str, now: int) -> bool:
        """A flood of asks is reported by its first ones; the rest is in the inbox."""
        paid = max(self._paid.get(channel_id, 0), now - _AT_ONCE * _PER_MS) + _PER_MS
        if paid > now:
            return False
        self._paid[channel_id] = paid
        return True

    def build_notification(self, channel: Channel, ask: Ask, warned: bool = False) -> dict[str, Any]:
        """What a channel gets of an ask."""
        ticket = None
        if channel.kind == "push" and has_actions(ask):
            ticket = self.keys.sign(Ticket(ask.id, ask.digest, channel.id, "act"))
        link = self.keys.sign(Ticket(ask.id, ask.digest, channel.id, "open"))
        return build_payload(ask, warned, f"{self.url}/n/{link}", ticket)

    async def _tell(self, channel: Channel, said: dict[str, Any], message_id: str) -> None:
        """Send, a few times if need be. What cannot be sent is noted and given up: the inbox has it anyway."""
        failed: Words = ""
        for pause_s in _TRIES_S:
            await asyncio.sleep(pause_s)
            try:
                await asyncio.to_thread(self.send, channel, said, message_id)
                failed = ""
                break
            except (NotSent, Refused) as no:
                failed = no.said
                if isinstance(no, NotSent) and no.status in _GONE and channel.kind == "push":
                    await self._remove(channel, build_sentence("channel_error.browser_gone"))
                    return
        try:
            await self._hub.log.do(NoteDelivery(by=HUB, channel_id=channel.id, failed=failed))
        except Unavailable as no:
            logger.warning("what became of channel %s cannot be noted: %s", channel.id, no)

    async def _remove(self, channel: Channel, why: Sentence) -> None:
        await self._hub.log.do(RemoveChannel(by=HUB, channel_id=channel.id, reason=why))

    def send(self, channel: Channel, said: dict[str, Any], message_id: str) -> None:
        """Send once; raises NotSent or Refused. It blocks. A message that is sent again has the same id."""
        secret = self.keys.get_secret(channel.id)
        if secret is None:
            raise NotSent("channel_error.forgotten")
        listed = self._hub.settings.notify_hosts
        match channel.kind:
            case "push":
                self._push(secret, said, listed)
            case "ntfy":
                base, _, topic = secret["url"].rstrip("/").rpartition("/")
                headers = {"content-type": "application/json"}
                if secret.get("token"):
                    headers["authorization"] = f"Bearer {secret['token']}"
                post(base, json.dumps(build_ntfy_message(said, topic)).encode(), headers, listed)
            case "chat":
                room = json.dumps(build_chat_message(said, parse_host(secret["url"]))).encode()
                post(secret["url"], room, {"content-type": "application/json"}, listed)
            case _:
                body = json.dumps(said).encode()
                headers = _build_webhook_headers(secret["key"], message_id, self._hub.log.clock.now() // 1000, body)
                post(secret["url"], body, headers, listed)

    def _push(self, subscription: dict[str, Any], said: dict[str, Any], listed: list[str]) -> None:
        from pywebpush import WebPusher, WebPushException  # type: ignore[import-untyped]

        try:
            sealed = WebPusher(subscription).encode(json.dumps(said).encode())
        except (WebPushException, ValueError, KeyError) as error:
            raise NotSent("channel_error.browser_keys", 410, error=error) from error
        headers = {
            **self.keys.push_headers(subscription["endpoint"], self._hub.settings.push_contact),
            "content-encoding": "aes128gcm",
            "content-type": "application/octet-stream",
            "ttl": "3600",
            "urgency": "high" if said["risk"] == "high" else "normal",
        }
        post(subscription["endpoint"], sealed["body"], headers, listed)


def _build_webhook_headers(key: str, message_id: str, seconds: int, body: bytes) -> dict[str, str]:
    """The headers of a webhook: as Standard Webhooks has them, and the signature of the older form beside them."""
    secret = key if key.startswith("whsec_") else key.encode()  # a channel that was added before there were such keys
    signature = hmac.new(key.encode(), body, hashlib.sha256).hexdigest()
    return {
        "content-type": "application/json",
        webhook_signature.ID: message_id,
        webhook_signature.TIME: str(seconds),
        webhook_signature.SIGNATURES: webhook_signature.sign(secret, message_id, seconds, body),
        "x-greenroom-signature": f"sha256={signature}",
    }


def parse_host(url: str) -> str:
    return urlsplit(url).hostname or ""
