"""How an ask comes to be: its digest, and how long it may wait."""

from typing import Any

from greenroom.log.model import Context
from greenroom.nouns.asks.digest import digest_of, wish_of
from greenroom.nouns.asks.events import AskRaised
from greenroom.nouns.asks.model import Asker
from greenroom.nouns.asks.queries import deadline_s


def raised(
    context: Context,
    ask_id: str,
    kind: str,
    asker: Asker,
    title: str,
    *,
    wish: str | None = None,
    risk: str = "low",
    timeout_s: int | None = None,
    **fields: Any,
) -> AskRaised:
    """The event that raises an ask; the rules have looked at it already."""
    wait_s = timeout_s if timeout_s is not None else deadline_s(context.settings, kind, risk)
    deadline = context.now + wait_s * 1000 if wait_s else 0
    warn_ms = min(context.settings.ask_warn_s * 1000, wait_s * 500)
    subject = fields.get("subject")
    if subject is not None:
        digest = digest_of(subject)
    else:
        digest = wish_of(kind, title, fields.get("text", ""), fields.get("questions", []), fields.get("form"))
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
