"""The verbs for notification channels, for every door."""

from greenroom.rules.channels.model import RemoveChannel
from greenroom.rules.verb import CliVerb, Verb
from greenroom.sentences import build_sentence

CHANNEL_VERBS = (
    Verb(
        RemoveChannel,
        "DELETE",
        "/api/notify/channels/{channel_id}",
        "answer",
        "Remove a channel",
        sets={"reason": build_sentence("revoked.by_owner")},
        status=204,
        cli=CliVerb("notify remove", "{id} is removed.", "chn_01m7...", kind="chn", gone=None),
    ),
)
