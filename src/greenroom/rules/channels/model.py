"""Rows, commands and events of channels. The address of a channel is a secret and is not stored here."""

from typing import ClassVar, Literal, get_args

import msgspec

from greenroom.link.ask_kinds import AskKind
from greenroom.link.policy_facts.call_request import Risk
from greenroom.log.model import Command, Event, Row, Table
from greenroom.sentences import Words
from greenroom.validation import Sent

ChannelKind = Literal["push", "ntfy", "chat", "webhook"]
KINDS: tuple[ChannelKind, ...] = get_args(ChannelKind)


class Rules(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a channel is used for."""

    kinds: list[Sent[AskKind]] = []
    """Kinds of asks; none names all."""
    risks: list[Sent[Risk]] = []
    """Risks; none names all."""
    quiet: str = ""
    """Hours in which it keeps silent, as 22:00-07:00."""
    zone: str = "UTC"
    """The time zone of those hours, as Europe/Berlin."""
    loud: list[Sent[Risk]] = msgspec.field(default_factory=lambda: ["high"])
    """Risks for which the channel is loud in quiet hours too."""


class ChannelFields(msgspec.Struct, frozen=True, kw_only=True):
    """What a channel is from its beginning on, in its event and its row."""

    kind: ChannelKind
    name: str
    host: str
    """Where it leads, as far as that may be shown."""
    owner: str
    """The credential of who made it; with that it ends."""
    room: str | None = None
    rules: Rules = Rules()


class Channel(ChannelFields, Row, frozen=True, kw_only=True):
    """One way to reach a person."""

    id: str
    created_at: int
    since: int
    """The seq from which on it notifies."""
    failed: Words = ""
    """Why it could not be reached the last time it was tried; empty when it was."""
    failed_at: int = 0


CHANNELS = Table("channel", Channel, ("id",), (("owner",),))


class AddChannel(Command, frozen=True, kw_only=True):
    """Add a channel."""

    channel_id: str
    kind: ChannelKind
    name: str
    host: str
    rules: Rules = Rules()


class SetRules(Command, frozen=True, kw_only=True):
    """Change what a channel is used for."""

    channel_id: str
    rules: Rules


class RemoveChannel(Command, frozen=True, kw_only=True):
    """Remove a channel."""

    channel_id: str
    reason: Words = ""


class NoteDelivery(Command, frozen=True, kw_only=True):
    """The hub has tried a channel: it failed for a reason, or worked again."""

    channel_id: str
    failed: Words


class ChannelAdded(ChannelFields, Event, frozen=True, kw_only=True):
    """Somebody added a channel."""

    privileged: ClassVar[bool] = True
    channel_id: str


class RulesSet(Event, frozen=True, kw_only=True):
    """A channel is used for something else."""

    channel_id: str
    rules: Rules


class ChannelRemoved(Event, frozen=True, kw_only=True):
    """A way to reach somebody is gone."""

    privileged: ClassVar[bool] = True
    channel_id: str
    reason: Words = ""


class DeliveryNoted(Event, frozen=True, kw_only=True):
    """A channel failed, or worked again."""

    channel_id: str
    failed: Words
