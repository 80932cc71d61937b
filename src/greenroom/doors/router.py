"""All doors as one application: which path leads where."""

import contextlib
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from greenroom.doors import login
from greenroom.doors.endpoint import Endpoint
from greenroom.doors.errors import answer_to
from greenroom.doors.login import LoginCodes
from greenroom.doors.rest import door as rest
from greenroom.doors.routes import Routes
from greenroom.doors.sync import door as sync
from greenroom.hub import Hub


@contextlib.asynccontextmanager
async def build(hub: Hub, codes: LoginCodes) -> AsyncIterator[tuple[ASGIApp, list[Endpoint]]]:
    """The application, and what each endpoint declares."""
    endpoints = login.endpoints(codes)
    endpoints += sync.endpoints(hub)
    endpoints += rest.endpoints(hub, endpoints)
    beyond = Starlette(routes=sync.routes(hub), exception_handlers={HTTPException: not_here})
    yield Routes(hub, endpoints, beyond), endpoints


async def not_here(request: Request, error: Exception) -> Response:
    """The answer where no door is."""
    return answer_to(error)
