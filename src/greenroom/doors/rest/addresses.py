"""The addresses at which other devices reach the hub, for pairing a device."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from greenroom.doors.http.origins import find_addresses
from greenroom.doors.http.routes import Endpoint
from greenroom.doors.rest.wire import build_json_response
from greenroom.rules.access.model import Principal
from greenroom.services.hub import Hub


class Addresses(msgspec.Struct):
    """Where the hub listens, and by which addresses another device can reach it, best first."""

    host: str
    port: int
    addresses: list[str]


async def list_addresses(hub: Hub, by: Principal, request: Request) -> Response:
    settings = hub.settings
    return build_json_response(Addresses(settings.host, settings.port, find_addresses(settings, settings.port)))


ENDPOINTS = [
    Endpoint(
        "GET",
        "/api/addresses",
        "operate",
        list_addresses,
        "The addresses by which other devices reach the hub",
        answer=Addresses,
    )
]
