"""Builds an ask: its digest and its deadline."""

from typing import Any

import msgspec

from greenroom.link.ask_kinds import AskKind
from greenroom.link.call_digest import Subject, hash_call, hash_wish
from greenroom.link.policy_facts.call_request import Risk
from greenroom.log.model import Context, Event, Rows
from greenroom.rules.access.secrets import mask_secrets
from greenroom.rules.asks.call_text import build_call_title
from greenroom.rules.asks.events import AnswerLapsed, AskRaised
from greenroom.rules.asks.model import Asker
from greenroom.rules.asks.queries import get_by_wish, get_deadline_s, is_lapsed
from greenroom.sentences import Words, build_sentence

NOT_TAKEN = "it was approved, but nobody took the approval in time"


def build_lapse_events(rows: Rows, wish: str, now: int) -> list[Event]:
    """That an earlier approval of the same call lapsed, when the call is asked again before a timer has noticed."""
    ask = get_by_wish(rows, wish)
    return [AnswerLapsed(ask_id=ask.id, reason=NOT_TAKEN)] if ask is not None and is_lapsed(ask, now) else []


def _mask_call(title: Words, subject: Subject, fields: dict[str, Any]) -> tuple[Words, dict[str, Any]]:
    """The stored and shown form of a call: without its secrets, which the digest covers and the asker has."""
    arguments = mask_secrets(subject.arguments)
    if arguments == subject.arguments:
        return title, fields
    told = {name: mask_secrets(fields[name]) for name in ("why", "text", "labels", "like") if fields.get(name)}
    why = build_sentence("ask_why.masked_also", why=told["why"]) if "why" in told else build_sentence("ask_why.masked")
    shown = {**told, "why": why, "subject": msgspec.structs.replace(subject, arguments=arguments), "edits": False}
    return build_call_title(subject.tool, arguments), {**fields, **shown}


def build_ask_raised(
    context: Context,
    ask_id: str,
    kind: AskKind,
    asker: Asker,
    title: Words,
    *,
    wish: str | None = None,
    risk: Risk = "low",
    timeout_s: int | None = None,
    **fields: Any,
) -> AskRaised:
    """The event that raises an ask; the rules have looked at it already."""
    wait_s = timeout_s if timeout_s is not None else get_deadline_s(context.settings, kind, risk)
    deadline = context.now + wait_s * 1000 if wait_s else 0
    warn_ms = min(context.settings.ask_warn_s * 1000, wait_s * 500)
    subject = fields.get("subject")
    if subject is not None:
        digest = hash_call(subject)
        title, fields = _mask_call(title, subject, fields)
    else:
        words = str(title), str(fields.get("text", ""))
        digest = hash_wish(kind, *words, fields.get("questions", []), fields.get("form"))
    return AskRaised(
        ask_id=ask_id,
        kind=kind,
        asker=asker,
        title=title,
        wish=wish or ask_id,
        risk=risk,
        digest=digest,
        deadline=deadline,
        warn_at=deadline - warn_ms if warn_ms else 0,
        **fields,
    )
