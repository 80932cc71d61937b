"""Runs the endpoint at a path, closed to whoever lacks the right. Errors become answers here."""

from collections.abc import Iterable

from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Receive, Scope, Send

from greenroom.doors.http.endpoint import PLACE, PRINCIPAL, PUBLIC, Endpoint
from greenroom.doors.http.errors import build_error_response, build_refusal_response
from greenroom.doors.http.route_table import RouteMatch, RouteTable
from greenroom.rules.access.model import NOBODY
from greenroom.rules.access.queries import need_right
from greenroom.services.hub import Hub


class Dispatcher:
    """Runs endpoints; every other path belongs to `beyond`."""

    def __init__(self, hub: Hub, endpoints: Iterable[Endpoint], beyond: ASGIApp) -> None:
        self._hub = hub
        self._beyond = beyond
        self._paths = RouteTable(endpoints)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        place = self._get_match(scope)
        if place is None:
            await self._beyond(scope, receive, send)
            return
        found = place.get_endpoint(scope["method"])
        if found is None:
            answer = build_refusal_response(405, "method_not_allowed", "Method Not Allowed")
            answer.headers["allow"] = ", ".join(sorted(place.ends))
            await answer(scope, receive, send)
            return
        endpoint, scope["path_params"] = found
        by = scope.get(PRINCIPAL, NOBODY)
        try:
            if endpoint.needs != PUBLIC:
                need_right(by, endpoint.needs)
            answer = await endpoint.run(self._hub, by, Request(scope, receive, send))
        except ClientDisconnect:
            return
        except Exception as error:
            answer = build_error_response(error)
        await answer(scope, receive, send)

    def _get_match(self, scope: Scope) -> RouteMatch | None:
        """Where the call leads; the guard has looked that up already."""
        if scope["type"] != "http":
            return None
        return scope[PLACE] if PLACE in scope else self._paths.get(scope["path"])
