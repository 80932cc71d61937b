"""The front page, who you are to the hub, and the hub's health."""

import os
import pwd
from typing import Literal

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from greenroom import __version__
from greenroom.doors.http.routes import PUBLIC, Endpoint
from greenroom.doors.http.server import is_exposed
from greenroom.doors.login import enter_room
from greenroom.doors.page import show_front_page
from greenroom.doors.rest.wire import build_json_response, get_idempotency_key, read_body
from greenroom.log.copied_fields import copy_fields
from greenroom.rules.access.model import OWNER_ID, Principal, PrincipalKind
from greenroom.rules.access.queries import get_person_name
from greenroom.rules.agents.person_names import NamePerson
from greenroom.services.hub import Hub


class HubHealth(msgspec.Struct):
    status: Literal["ok"] = "ok"
    service: str = "Greenroom"


async def show_health(hub: Hub, by: Principal, request: Request) -> Response:
    """JSON for clients that accept it or accept anything; a plain OK for older clients that name no format.

    A hub that cannot reach its shared database answers 503, so that a load balancer sends clients elsewhere.
    """
    if hub.store.is_shared:
        hub.store.head()
    accept = request.headers.get("accept")
    if accept is None or accept.startswith("text/plain"):
        return Response("OK", media_type="text/plain")
    return build_json_response(HubHealth())


async def show_front(hub: Hub, by: Principal, request: Request) -> Response:
    return enter_room(request) or show_front_page(hub, request.scope)


class Me(msgspec.Struct):
    """Who calls, what it may do, and which hub this is."""

    id: str
    kind: PrincipalKind
    name: str
    rights: list[str]
    version: str
    now: int
    """The hub's clock, in milliseconds."""
    room: str | None
    """The room whose people the caller is one of."""
    insecure: bool
    """The hub may be called over a network in the clear: everybody there can read what goes by, credentials too."""
    person: str
    """The name that the person set; empty if there is none, such as before the owner was asked."""
    handle: str
    """The author_id of what this person posts in threads."""
    owner: str
    """The name of the hub's owner, whom threads call `human`; empty while they have none."""
    suggested_name: str
    """What to offer an owner without a name: the name that they have on the machine of the hub."""


async def show_me(hub: Hub, by: Principal, request: Request) -> Response:
    return build_json_response(_build_me(hub, by))


def _build_me(hub: Hub, by: Principal) -> Me:
    return copy_fields(
        by,
        Me,
        rights=sorted(by.rights),
        version=__version__,
        now=hub.log.clock.now(),
        insecure=is_exposed(hub.settings),
        owner=get_person_name(hub.rows, OWNER_ID),
        suggested_name=_read_system_user_name() if by.person_id == OWNER_ID and not by.person else "",
    )


def _read_system_user_name() -> str:
    """The name of whoever runs the hub, as their system knows it; empty for root, which is nobody's name."""
    try:
        account = pwd.getpwuid(os.getuid())
    except KeyError:
        return ""
    whole = account.pw_gecos.split(",")[0].strip()
    return "" if account.pw_uid == 0 else (whole or account.pw_name)[:64]


class NewName(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str


async def set_my_name(hub: Hub, by: Principal, request: Request) -> Response:
    body = await read_body(request, NewName)
    await hub.log.do(NamePerson(by=by, key=get_idempotency_key(request), name=body.name))
    return build_json_response(
        _build_me(hub, msgspec.structs.replace(by, name=body.name.strip(), person=body.name.strip()))
    )


ENDPOINTS = [
    Endpoint("GET", "/", PUBLIC, show_front, "The page, or a redirect to the login", answer="text/html"),
    Endpoint("GET", "/api/me", "enter", show_me, "Who you are to this hub", answer=Me),
    Endpoint(
        "PUT",
        "/api/me/name",
        "operate",
        set_my_name,
        "Change the name that others see",
        body=NewName,
        answer=Me,
        keyed=True,
    ),
    Endpoint("GET", "/health", PUBLIC, show_health, "Health of the hub", answer=HubHealth),
]
