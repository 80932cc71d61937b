"""The content of a notification, and whether a channel wants it now. Nothing secret except the title leaves the hub."""

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from greenroom.link.ask_kinds import ASK_KINDS
from greenroom.rules.asks.call_text import is_fully_titled
from greenroom.rules.asks.model import Ask
from greenroom.rules.asks.queries import find_rooms
from greenroom.rules.channels.model import Channel, Rules

_TITLE = 150
_SEEN = 80
"""Characters of a title that devices show without cutting it off."""
_DISCORD = ("discord.com", "discordapp.com")
_PRIORITY = {"low": 3, "medium": 4, "high": 5}


def is_wanted(channel: Channel, owner: str, ask: Ask, now_ms: int) -> bool:
    """Whether a channel's rules allow a notification about an ask at this time."""
    rules, named = channel.rules, (ask.delegated_to, *ask.asked_of)
    if channel.room is not None and channel.room not in find_rooms(ask) and owner not in named:
        return False
    if (rules.kinds and ask.kind not in rules.kinds) or (rules.risks and ask.risk not in rules.risks):
        return False
    return ask.risk in rules.loud or not is_quiet(rules, now_ms)


def is_quiet(rules: Rules, now_ms: int) -> bool:
    """Whether it is one of the quiet hours; those over midnight end on the next day."""
    if not rules.quiet:
        return False
    here = datetime.fromtimestamp(now_ms / 1000, UTC).astimezone(ZoneInfo(rules.zone)).strftime("%H:%M")
    begin, end = rules.quiet.split("-")
    return begin <= here < end if begin <= end else here >= begin or here < end


def has_actions(ask: Ask) -> bool:
    """Whether it can be answered from the notification: by one word, by whoever has it, at no high risk, and only where
    the notification shows all that an approval would allow."""
    is_short = "approve" in ASK_KINDS[ask.kind].verdicts and not ask.asked_of and is_fully_titled(ask, _SEEN)
    return is_short and ask.risk != "high"


def build_payload(ask: Ask, warned: bool, link: str, ticket: str | None) -> dict[str, Any]:
    """The same for every channel: what waits, how it is opened, and by what it may be answered."""
    words = ASK_KINDS[ask.kind].notice or f"A {ask.kind} waits for you"
    said: dict[str, Any] = {
        "type": "ask.warned" if warned else "ask.raised",
        "ask_id": ask.id,
        "kind": ask.kind,
        "risk": ask.risk,
        "title": str(ask.title)[:_TITLE],
        "body": "Soon refused by silence" if warned else words,
        "url": link,
    }
    if ticket is not None:
        actions = [{"action": "approve", "title": "Approve"}, {"action": "deny", "title": "Deny"}]
        said |= {"actions": actions, "ticket": ticket}
    return said


def build_chat_message(said: dict[str, Any], host: str) -> dict[str, Any]:
    """As rooms of chat programs take it. What an agent has written calls nobody there, and is no link."""
    title = " ".join(str(said["title"]).replace("`", "'").split())
    if host in _DISCORD:
        return {"content": f"{said['body']}: `{title}`\n{said['url']}", "allowed_mentions": {"parse": []}}
    title = title.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return {"text": f"{said['body']}: `{title}`\n{said['url']}"}


def build_ntfy_message(said: dict[str, Any], topic: str) -> dict[str, Any]:
    return {
        "topic": topic,
        "title": said["title"],
        "message": said["body"],
        "click": said["url"],
        "priority": _PRIORITY[said["risk"]],
        "tags": [said["kind"]],
    }
