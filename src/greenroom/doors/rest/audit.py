"""The audit over REST: privileged events of the log, for operators."""

from collections.abc import Callable
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from greenroom.clock import format_iso, parse_iso
from greenroom.doors.http.routes import Endpoint
from greenroom.doors.rest.audit_actor import find_actor
from greenroom.doors.rest.wire import Number, build_bad_request, encode, read_json_response, read_query
from greenroom.log.model import Recorded, Rows
from greenroom.log.store import Snapshot
from greenroom.rules.access.model import Principal
from greenroom.rules.access.refused_calls import CallRefused
from greenroom.sentences import Sentence
from greenroom.sentences.english import find_sentences, render_english
from greenroom.services.hub import Hub

_SCANNED = 5000
"""So many events are looked at for one page, however few of them are wanted."""
_MOST_BYTES = 1 << 22
"""A page ends with the event that makes it larger."""


class AuditQuery(msgspec.Struct, frozen=True):
    after_seq: Number = 0
    limit: Annotated[int, Meta(ge=1, le=1000)] = 100
    type: str | None = None
    """The name of a kind of event, or several with commas between them."""
    by: str | None = None
    """The id or the name of a person, an agent or a node."""
    since: str | None = None
    """An ISO time, from which on."""
    until: str | None = None


class AuditEvent(msgspec.Struct, omit_defaults=True):
    seq: int
    at: str
    by: str
    """The credential or the node that the event was recorded from."""
    type: str
    data: dict[str, Any]
    name: str
    """Who did it: a person, an agent, a node, `hub`, or `policy` for what a rule has answered."""
    agent_id: str | None
    """The agent, if it was one."""
    node: str | None
    """The node that the agent works on, where the event came from there."""
    sentences: dict[str, Sentence] = {}
    """The sentences that `data` has in English, by field: `reason`, `verdict.why`."""


class Audit(msgspec.Struct):
    """Privileged events, oldest first; the next page is after next_after_seq, until that is null.

    A page with a filter may hold few events, or none, and still have a next one.
    """

    events: list[AuditEvent]
    next_after_seq: int | None


async def list_events(hub: Hub, by: Principal, request: Request) -> Response:
    page = read_query(request, AuditQuery)
    return await read_json_response(hub, lambda view: _read_page(view, page))


def _read_page(view: Snapshot, page: AuditQuery) -> Audit:
    wanted = _build_filter(view, page)
    shown: list[AuditEvent] = []
    seq, size = page.after_seq, 0
    for number, record in enumerate(view.privileged_events(page.after_seq)):
        if number == _SCANNED or len(shown) == page.limit or size > _MOST_BYTES:
            return Audit(shown, seq)
        seq = record.seq
        if wanted(record):
            shown.append(_build_event(view, record))
            size += len(encode(shown[-1]))
    return Audit(shown, None)


def _build_filter(rows: Rows, page: AuditQuery) -> Callable[[Recorded], bool]:
    kinds = None if page.type is None else {kind.strip() for kind in page.type.split(",")}
    since, until = _parse_time("since", page.since), _parse_time("until", page.until)

    def is_wanted(record: Recorded) -> bool:
        if kinds is not None and type(record.event).__name__ not in kinds:
            return False
        if page.by is not None and page.by != record.by:
            actor = find_actor(rows, record)
            if page.by not in (actor.name, actor.agent_id, actor.node, _get_refused_principal(record)):
                return False
        return (since is None or record.at >= since) and (until is None or record.at < until)

    return is_wanted


def _get_refused_principal(record: Recorded) -> str | None:
    return record.event.refused.by if isinstance(record.event, CallRefused) else None


def _parse_time(name: str, text: str | None) -> int | None:
    try:
        return None if text is None else parse_iso(text)
    except ValueError:
        raise build_bad_request("bad_request.time", name=name) from None


def _build_event(rows: Rows, record: Recorded) -> AuditEvent:
    data: dict[str, Any] = msgspec.to_builtins(render_english(record.event))
    for digest in ("digest", "key_digest"):  # useful only to somebody who would try tokens against it
        data.pop(digest, None)
    actor = find_actor(rows, record)
    said = find_sentences(record.event)
    return AuditEvent(record.seq, format_iso(record.at), record.by, type(record.event).__name__, data, *actor, said)


ENDPOINTS = [Endpoint("GET", "/api/audit", "operate", list_events, "Privileged events", query=AuditQuery, answer=Audit)]
