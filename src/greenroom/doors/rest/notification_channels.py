"""Notification channels over REST, and answers that come from a notification."""

import asyncio
import base64
import os
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from greenroom.buckets import Bucket
from greenroom.doors.http.credentials import read_peer_address
from greenroom.doors.http.routes import PUBLIC, Endpoint
from greenroom.doors.rest.verbs import build_verb_endpoints
from greenroom.doors.rest.wire import build_bad_request, build_json_response, get_idempotency_key, read_body
from greenroom.errors import Refused
from greenroom.ids import new_id
from greenroom.link.ask_kinds import AnswerVerdict
from greenroom.log.copied_fields import copy_fields
from greenroom.rules.access.epochs import get_epoch
from greenroom.rules.access.model import CREDENTIALS, Principal
from greenroom.rules.access.queries import build_principal, is_live, need_right
from greenroom.rules.asks.commands import AnswerAsk
from greenroom.rules.asks.model import Ask
from greenroom.rules.channels.decide import may_see_channel, need_channel
from greenroom.rules.channels.model import CHANNELS, AddChannel, Channel, ChannelKind, Rules, SetRules
from greenroom.rules.channels.verbs import CHANNEL_VERBS
from greenroom.sentences import Sentence, Words
from greenroom.services.hub import Hub
from greenroom.services.notify.outbound import NotSent, need_address
from greenroom.services.notify.sender import Notifier, parse_host
from greenroom.validation import Sent

_GUESSES = 20
_MAX_PEERS = 10_000


class PushKeys(msgspec.Struct, frozen=True):
    p256dh: str
    auth: str


class BrowserSubscription(msgspec.Struct, frozen=True):
    """What a browser's PushManager gives."""

    endpoint: str
    keys: PushKeys


class NewChannel(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A further way to be reached: a browser's subscription, or the address of a topic, a room or a webhook."""

    kind: ChannelKind
    name: str
    subscription: BrowserSubscription | None = None
    url: str | None = None
    token: str | None = None
    """What ntfy wants to be shown, if anything."""
    rules: Rules = Rules()


class AddedChannel(msgspec.Struct):
    channel: Channel
    key: str | None
    """What a webhook's bodies are signed with; shown this once."""


class NotificationSetup(msgspec.Struct):
    vapid_key: str
    """What a browser subscribes with."""
    channels: list[Channel]


class ChannelTestResult(msgspec.Struct):
    ok: bool
    error: Words
    sentences: dict[str, Sentence] = {}


class TicketAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An answer from a notification; the ticket says to what, and for whom."""

    ticket: str
    verdict: Sent[AnswerVerdict]


class ChannelEndpoints:
    """What people do with channels and with what came by them."""

    def __init__(self, notifier: Notifier) -> None:
        self._notifier = notifier
        self._guesses: dict[str, Bucket] = {}

    async def list_channels(self, hub: Hub, by: Principal, request: Request) -> Response:
        found = [channel for channel in hub.rows.find(CHANNELS, order="_key") if may_see_channel(by, channel)]
        return build_json_response(NotificationSetup(self._notifier.keys.public_key, found))

    async def add_channel(self, hub: Hub, by: Principal, request: Request) -> Response:
        body = await read_body(request, NewChannel)
        need_zone(body.rules)
        secret, key = build_secret(body)
        url = secret.get("endpoint") or secret["url"]
        need_address(url, hub.settings.notify_hosts)
        if body.kind != "push":
            need_right(by, "operate")
        channel_id = new_id("chn")
        self._notifier.keys.keep_secret(channel_id, secret)
        host = parse_host(url)
        command = copy_fields(body, AddChannel, by=by, channel_id=channel_id, host=host)
        try:
            await hub.log.do(command)
        except BaseException:
            self._notifier.keys.forget(channel_id)
            raise
        return build_json_response(AddedChannel(need_channel(hub.rows, by, channel_id), key), 201)

    async def set_rules(self, hub: Hub, by: Principal, request: Request) -> Response:
        rules = await read_body(request, Rules)
        need_zone(rules)
        channel_id = request.path_params["channel_id"]
        await hub.log.do(SetRules(by=by, key=get_idempotency_key(request), channel_id=channel_id, rules=rules))
        return build_json_response(need_channel(hub.rows, by, channel_id))

    async def send_test(self, hub: Hub, by: Principal, request: Request) -> Response:
        channel = need_channel(hub.rows, by, request.path_params["channel_id"])
        said = {"type": "test", "ask_id": "", "kind": "question", "risk": "low", "url": self._notifier.url}
        said |= {"title": "Greenroom reaches you here", "body": "This is a test."}
        try:
            await asyncio.to_thread(self._notifier.send, channel, said, new_id("msg"))
        except (NotSent, Refused) as no:
            return build_json_response(ChannelTestResult(False, no.said))
        return build_json_response(ChannelTestResult(True, ""))

    async def answer_by_ticket(self, hub: Hub, by: Principal, request: Request) -> Response:
        body = await read_body(request, TicketAnswer)
        try:
            ticket = self._notifier.keys.need_ticket(body.ticket, "act", _read_epoch(hub))
        except Refused:
            self._count_guess(read_peer_address(request.scope))
            raise
        who = need_owner(hub, ticket.channel)
        command = AnswerAsk(by=who, ask_id=ticket.ask, verdict=body.verdict, digest=ticket.digest, way="ticket")
        return build_json_response(await hub.asks.answer(command))

    def _count_guess(self, peer: str) -> None:
        """Who guesses is slowed down; a right ticket is never held up by the wrong ones of others."""
        if len(self._guesses) > _MAX_PEERS:
            self._guesses.clear()
        if not self._guesses.setdefault(peer, Bucket(_GUESSES, 1)).take():
            raise Refused("too_many_failures.tickets", "limited")

    async def open_ask(self, hub: Hub, by: Principal, request: Request) -> Response:
        try:
            ticket = self._notifier.keys.need_ticket(request.path_params["ticket"], "open", _read_epoch(hub))
        except Refused:
            return RedirectResponse("/inbox", status_code=303)
        return RedirectResponse(f"/inbox/{ticket.ask}", status_code=303)


def _read_epoch(hub: Hub) -> int:
    """Tickets from before a restore may have been used already: that ask may be open again."""
    epoch = get_epoch(hub.rows)
    return 0 if epoch is None else epoch.begun_at


def endpoints(notifier: Notifier) -> list[Endpoint]:
    reach = ChannelEndpoints(notifier)
    many = "/api/notify/channels"
    one = f"{many}/{{channel_id}}"
    words = "Answer an ask with the ticket of a notification"
    return [
        Endpoint(
            "GET", "/api/notify", "answer", reach.list_channels, "Your notification channels", answer=NotificationSetup
        ),
        Endpoint(
            "POST",
            many,
            "answer",
            reach.add_channel,
            "Add a channel",
            body=NewChannel,
            answer=AddedChannel,
            status=201,
        ),
        Endpoint(
            "PUT", one, "answer", reach.set_rules, "Change what a channel is used for", body=Rules, answer=Channel
        ),
        *build_verb_endpoints(CHANNEL_VERBS),
        Endpoint(
            "POST", f"{one}/test", "answer", reach.send_test, "Send a test to a channel", answer=ChannelTestResult
        ),
        Endpoint(
            "POST",
            "/api/notify/act",
            PUBLIC,
            reach.answer_by_ticket,
            words,
            body=TicketAnswer,
            answer=Ask,
            max_bytes=4096,
        ),
        Endpoint("GET", "/n/{ticket}", PUBLIC, reach.open_ask, "The ask of a notification", status=303),
    ]


def need_zone(rules: Rules) -> None:
    try:
        ZoneInfo(rules.zone)
    except (KeyError, ValueError, OSError):
        raise Refused("bad_rules.zone", zone=rules.zone[:40]) from None


def build_secret(body: NewChannel) -> tuple[dict[str, Any], str | None]:
    """The secrets of a channel, kept outside the log; and the key of a webhook."""
    if body.kind == "push":
        if body.subscription is None or body.url is not None:
            raise build_bad_request("bad_request.push_channel")
        built: dict[str, Any] = msgspec.to_builtins(body.subscription)
        return built, None
    if body.url is None or body.subscription is not None:
        raise build_bad_request("bad_request.url_channel")
    if body.kind in ("ntfy", "chat"):
        return {"url": body.url, "token": body.token}, None
    key = "whsec_" + base64.b64encode(os.urandom(32)).decode()
    return {"url": body.url, "key": key}, key


def need_owner(hub: Hub, channel_id: str) -> Principal:
    """Whom a channel notified, if their credential is still valid."""
    channel = hub.rows.get(CHANNELS, channel_id)
    owner = channel and hub.rows.get(CREDENTIALS, channel.owner)
    if not owner or not is_live(owner, hub.log.clock.now()):
        raise Refused("bad_ticket.not_waited_for", "forbidden")
    return build_principal(owner)
