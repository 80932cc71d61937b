"""Maps paths to endpoints, checks the right, and runs the endpoint."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from greenroom.doors.http.errors import build_error_response, build_refusal_response
from greenroom.rules.access.model import NOBODY, Principal, Right
from greenroom.rules.access.queries import need_right
from greenroom.sentences import build_sentence
from greenroom.services.hub import Hub

PUBLIC: Final = "public"
PRINCIPAL = "greenroom.principal"
PLACE = "greenroom.place"
TOKEN = "greenroom.token"  # noqa: S105 the name of a place, not a secret
_ANY = "{}"
Handler = Callable[[Hub, Principal, Request], Awaitable[Response]]


@dataclass(frozen=True)
class Endpoint:
    """One method on one path. `needs` is the right a principal must have, or PUBLIC.

    `path` uses `{name}` for one segment. A new endpoint without a row in the matrix of rights fails the tests.
    """

    method: str
    path: str
    needs: Right | Literal["public"]
    run: Handler
    summary: str
    body: Any = None
    """The msgspec type of the body, for the description of the API; or how OpenAPI describes it."""
    answer: Any = None
    """The msgspec type of the answer; or the name of its media type."""
    max_bytes: int | None = None
    """A larger or smaller limit of the body than the setting max_body_bytes."""
    query: Any = None
    """The msgspec type of the query string."""
    status: int = 200
    """The status of success."""
    keyed: bool = False
    """Whether an Idempotency-Key makes a repeat return the first answer."""


class RouteNode:
    """One segment of a path: what may follow it, and what ends here."""

    __slots__ = ("ends", "next")

    def __init__(self) -> None:
        self.next: dict[str, RouteNode] = {}
        self.ends: dict[str, tuple[Endpoint, tuple[str, ...]]] = {}


class RouteMatch(NamedTuple):
    """A path at which there is something: the endpoint of each method, and the values of the path's own segments."""

    ends: dict[str, tuple[Endpoint, tuple[str, ...]]]
    values: list[str]

    def get_endpoint(self, method: str) -> tuple[Endpoint, dict[str, str]] | None:
        """What a method does here, and the values by name; HEAD does what GET does."""
        end = self.ends.get("GET" if method == "HEAD" else method)
        return None if end is None else (end[0], dict(zip(end[1], self.values, strict=True)))


class RouteTable:
    """All paths of some endpoints. A segment that is named goes before one that can be anything."""

    def __init__(self, endpoints: Iterable[Endpoint]) -> None:
        self._root = RouteNode()
        for endpoint in endpoints:
            self._add(endpoint)

    def _add(self, endpoint: Endpoint) -> None:
        node, names = self._root, []
        for segment in endpoint.path.split("/")[1:]:
            if segment.startswith("{"):
                names.append(segment[1:-1])
                segment = _ANY
            node = node.next.setdefault(segment, RouteNode())
        if endpoint.method in node.ends:
            raise ValueError(f"two endpoints at {endpoint.method} {endpoint.path}")
        node.ends[endpoint.method] = (endpoint, tuple(names))

    def get(self, path: str) -> RouteMatch | None:
        node, values = self._root, []
        for segment in path.split("/")[1:]:
            known = node.next.get(segment) if segment != _ANY else None
            if known is None:
                known = node.next.get(_ANY)
                if known is None or not segment:
                    return None
                values.append(segment)
            node = known
        return RouteMatch(node.ends, values) if node.ends else None


class Dispatcher:
    """Runs the endpoint at a path, closed to whoever lacks the right; every other path belongs to `beyond`.

    Errors become answers here.
    """

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
            answer = build_refusal_response(405, "method_not_allowed", build_sentence("method_not_allowed"))
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
