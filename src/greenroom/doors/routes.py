"""Runs the endpoint at a path, closed to whoever lacks the right. Errors become answers here."""

from collections.abc import Iterable

from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Receive, Scope, Send

from greenroom.doors.endpoint import PLACE, PRINCIPAL, PUBLIC, Endpoint
from greenroom.doors.errors import answer_to, refusal
from greenroom.doors.paths import Paths, Place
from greenroom.hub import Hub
from greenroom.nouns.access.model import NOBODY
from greenroom.nouns.access.queries import need_right


class Routes:
    """Runs endpoints; every other path belongs to `beyond`."""

    def __init__(self, hub: Hub, endpoints: Iterable[Endpoint], beyond: ASGIApp) -> None:
        self._hub = hub
        self._beyond = beyond
        self._paths = Paths(endpoints)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        place = self._place(scope)
        if place is None:
            await self._beyond(scope, receive, send)
            return
        found = place.endpoint(scope["method"])
        if found is None:
            answer = refusal(405, "method_not_allowed", "Method Not Allowed")
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
            answer = answer_to(error)
        await answer(scope, receive, send)

    def _place(self, scope: Scope) -> Place | None:
        """Where the call leads; the guard has looked that up already."""
        if scope["type"] != "http":
            return None
        return scope[PLACE] if PLACE in scope else self._paths.get(scope["path"])
