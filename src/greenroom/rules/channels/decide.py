"""The rules for channels: people manage their own channels and see nobody else's."""

import re

from greenroom.errors import Refused
from greenroom.link.ask_kinds import ASK_KINDS, RISKS
from greenroom.log.copied_fields import copy_fields
from greenroom.log.model import Command, Context, Decide, Event, Rows
from greenroom.rules.access.decide import need_principal
from greenroom.rules.access.model import Principal
from greenroom.rules.access.queries import need_right
from greenroom.rules.channels.model import (
    CHANNELS,
    KINDS,
    AddChannel,
    Channel,
    ChannelAdded,
    ChannelRemoved,
    DeliveryNoted,
    NoteDelivery,
    RemoveChannel,
    Rules,
    RulesSet,
    SetRules,
)
from greenroom.sentences import Words

_HOURS = re.compile(r"([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d")
_MOST = 50
_WORDS = 300


def add_channel(rows: Rows, command: AddChannel, context: Context) -> list[Event]:
    by = need_principal(command)
    need_right(by, "answer")
    if command.kind not in KINDS:
        raise Refused("bad_channel.kind", kinds=KINDS)
    if command.kind != "push":
        need_right(by, "operate")
    if not command.name.strip() or len(command.name) > 100:
        raise Refused("bad_channel.name")
    need_rules(command.rules)
    owner = by.credential or by.id
    if rows.count(CHANNELS, {"owner": owner}) >= _MOST:
        raise Refused("too_many_channels", "limited", limit=_MOST)
    return [copy_fields(command, ChannelAdded, name=command.name.strip(), owner=owner, room=by.room)]


def need_rules(rules: Rules) -> None:
    if wrong := [kind for kind in rules.kinds if kind not in ASK_KINDS]:
        raise Refused("bad_rules.kind", kind=wrong[0][:40], kinds=ASK_KINDS)
    if strange := [risk for risk in [*rules.risks, *rules.loud] if risk not in RISKS]:
        raise Refused("bad_rules.risk", risk=strange[0][:40], risks=RISKS)
    if rules.quiet and not _HOURS.fullmatch(rules.quiet):
        raise Refused("bad_rules.quiet_hours")


def may_see_channel(by: Principal, channel: Channel) -> bool:
    """An operator sees all, others their own."""
    return by.may_operate or channel.owner == (by.credential or by.id)


def need_channel(rows: Rows, by: Principal, channel_id: str) -> Channel:
    channel = rows.get(CHANNELS, channel_id)
    if channel is None or not may_see_channel(by, channel):
        raise Refused("channel_not_found", "not_found")
    return channel


def set_rules(rows: Rows, command: SetRules, context: Context) -> list[Event]:
    channel = need_channel(rows, need_principal(command), command.channel_id)
    need_rules(command.rules)
    return [] if channel.rules == command.rules else [RulesSet(channel_id=channel.id, rules=command.rules)]


def remove_channel(rows: Rows, command: RemoveChannel, context: Context) -> list[Event]:
    channel = need_channel(rows, need_principal(command), command.channel_id)
    return [ChannelRemoved(channel_id=channel.id, reason=_shorten(command.reason))]


def note_delivery(rows: Rows, command: NoteDelivery, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    channel = rows.get(CHANNELS, command.channel_id)
    if channel is None or channel.failed == _shorten(command.failed):
        return []
    return [DeliveryNoted(channel_id=channel.id, failed=_shorten(command.failed))]


def _shorten(words: Words) -> Words:
    return words[:_WORDS] if isinstance(words, str) else words


DECIDE: dict[type[Command], Decide] = {
    AddChannel: add_channel,
    SetRules: set_rules,
    RemoveChannel: remove_channel,
    NoteDelivery: note_delivery,
}
