"""All doors as one application: which path leads where."""

import contextlib
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from greenroom.doors import login
from greenroom.doors.endpoint import PRINCIPAL, PUBLIC, Endpoint
from greenroom.doors.login import LoginCodes
from greenroom.hub import Hub
from greenroom.nouns.access.model import NOBODY
from greenroom.nouns.access.queries import need_right


@contextlib.asynccontextmanager
async def build(hub: Hub, codes: LoginCodes) -> AsyncIterator[tuple[ASGIApp, list[Endpoint]]]:
    """The application, and what each endpoint declares."""
    endpoints = login.endpoints(codes)
    app = Starlette(routes=[route_of(hub, endpoint) for endpoint in endpoints])
    yield app, endpoints


def route_of(hub: Hub, endpoint: Endpoint) -> Route:
    """The route of an endpoint, closed to whoever lacks the right."""

    async def run(request: Request) -> Response:
        by = request.scope.get(PRINCIPAL, NOBODY)
        if endpoint.needs != PUBLIC:
            need_right(by, endpoint.needs)
        return await endpoint.run(hub, by, request)

    return Route(endpoint.path, run, methods=[endpoint.method])
