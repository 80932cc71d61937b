"""Rows of channels."""

import msgspec

from greenroom.log.copied_fields import copy_fields
from greenroom.log.model import Event, Noun, Project, Recorded, Tx
from greenroom.rules.channels.decide import DECIDE
from greenroom.rules.channels.model import (
    CHANNELS,
    Channel,
    ChannelAdded,
    ChannelRemoved,
    DeliveryNoted,
    RulesSet,
)

replace = msgspec.structs.replace


def channel_added(tx: Tx, event: ChannelAdded, record: Recorded) -> None:
    tx.put(
        CHANNELS,
        copy_fields(event, Channel, id=event.channel_id, created_at=record.at, since=record.seq),
    )


def rules_set(tx: Tx, event: RulesSet, record: Recorded) -> None:
    found = tx.get(CHANNELS, event.channel_id)
    if found is not None:
        tx.put(CHANNELS, replace(found, rules=event.rules))


def channel_removed(tx: Tx, event: ChannelRemoved, record: Recorded) -> None:
    tx.drop(CHANNELS, event.channel_id)


def delivery_noted(tx: Tx, event: DeliveryNoted, record: Recorded) -> None:
    found = tx.get(CHANNELS, event.channel_id)
    if found is not None:
        tx.put(CHANNELS, replace(found, failed=event.failed, failed_at=record.at if event.failed else 0))


PROJECT: dict[type[Event], Project] = {
    ChannelAdded: channel_added,
    RulesSet: rules_set,
    ChannelRemoved: channel_removed,
    DeliveryNoted: delivery_noted,
}

NOTIFY_NOUN = Noun(
    name="notify",
    tables=(CHANNELS,),
    events=tuple(PROJECT),
    decide=DECIDE,
    project=PROJECT,
    sources=("greenroom.rules.channels.model", "greenroom.rules.channels.project"),
)
