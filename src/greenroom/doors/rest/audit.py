"""What was done with power, for operators: the privileged events of the log."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from greenroom.doors.endpoint import Endpoint
from greenroom.doors.rest.messages import Seq
from greenroom.doors.rest.wire import json, query_of
from greenroom.hub import Hub
from greenroom.log.clock import iso
from greenroom.log.model import Recorded
from greenroom.nouns.access.model import Principal


class AuditPage(msgspec.Struct, frozen=True):
    after_seq: Seq = 0
    limit: Annotated[int, Meta(ge=1, le=1000)] = 100


class AuditEvent(msgspec.Struct):
    seq: int
    at: str
    by: str
    type: str
    data: dict[str, Any]


class Audit(msgspec.Struct):
    """Privileged events, oldest first; the next page is after next_after_seq, until that is null."""

    events: list[AuditEvent]
    next_after_seq: int | None


async def list_events(hub: Hub, by: Principal, request: Request) -> Response:
    page = query_of(request, AuditPage)
    found = hub.store.privileged_events(page.after_seq, page.limit + 1)
    shown = [_event(record) for record in found[: page.limit]]
    return json(Audit(shown, shown[-1].seq if len(found) > page.limit else None))


def _event(record: Recorded) -> AuditEvent:
    data: dict[str, Any] = msgspec.to_builtins(record.event)
    data.pop("digest", None)  # of use to nobody but who would try tokens against it
    return AuditEvent(record.seq, iso(record.at), record.by, type(record.event).__name__, data)


ENDPOINTS = [
    Endpoint("GET", "/api/audit", "operate", list_events, "What was done with power", query=AuditPage, answer=Audit)
]
